"""``preset``: list, show, save, apply and delete context presets."""

from pathlib import Path

import click

from aggregate.base.files import FileItem
from aggregate.base.request import Amount
from aggregate.cli.asking import budget_option, from_here
from aggregate.cli.options import config_option
from aggregate.cli.output import counted, say, warn_all, write_result, write_rows
from aggregate.cli.program import Described
from aggregate.project.configuration import global_config_path, load_config
from aggregate.project.presets import ContextPreset, ContextPresetManager, preset_toml
from aggregate.prompt import open_project, request_for


@click.group(cls=Described)
def preset() -> None:
    """List, show, save, apply and delete named compositions of files and screenshots."""


@preset.command("list")
@config_option
def list_(config: Path) -> None:
    """List the presets with their scope, number of files and description."""
    manager = _manager(config)
    presets, warnings = manager.reload_context_presets()
    scopes = manager.scopes()
    for name, preset in presets.items():
        columns = (name, scopes[name], counted(len(preset.files), "file"), preset.description)
        write_rows("\t".join(columns).rstrip())
    warn_all(warnings)


@preset.command()
@click.argument("name")
@config_option
def show(name: str, config: Path) -> None:
    """Print a preset as TOML."""
    write_result(preset_toml(_manager(config).get(name)))


@preset.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
@config_option
@budget_option("Let prompts with this preset have at most this many tokens.")
@click.option("--description", default="", help="Describe it in one line, for lists.")
@click.option(
    "--global",
    "is_global",
    is_flag=True,
    help="Store it for all projects; by default in this project's configuration.",
)
def save(
    name: str,
    paths: tuple[str, ...],
    config: Path,
    budget: Amount | None,
    description: str,
    is_global: bool,
) -> None:
    """Save PATHS, or the project's present files and screenshots, under NAME."""
    screenshots: list[str] = []
    if paths:
        base_dir = config.parent
        if config.exists():
            base_dir /= load_config(config).config.files.base_dir
        files = [FileItem(from_here(path, base_dir)) for path in paths]
    else:
        request = request_for(open_project(config), with_history=False)
        files = [entry.item for entry in request.entries]
        screenshots = list(request.screenshots)
    preset = ContextPreset(name, files, screenshots, description, budget)
    manager = _manager(config)
    manager.save_preset(preset, scope="global" if is_global else "project")
    say(f'saved "{name}": {counted(len(preset.files), "file")}')
    warnings = manager.reload_context_presets()[1]
    warn_all([warning for warning in warnings if warning.startswith(f'preset "{name}": ')])


@preset.command()
@click.argument("name")
@config_option
def apply(name: str, config: Path) -> None:
    """Make NAME the active composition of the project."""
    preset = _manager(config).apply_preset(name)
    say(f'"{name}" is active: {counted(len(preset.files), "file")}')


@preset.command()
@click.argument("name")
@config_option
def delete(name: str, config: Path) -> None:
    """Delete NAME."""
    _manager(config).delete_preset(name)
    say(f'deleted "{name}"')


def _manager(config: Path) -> ContextPresetManager:
    return ContextPresetManager(config, global_config_path())
