"""``preset``: list, show, save, apply and delete context presets."""

from dataclasses import replace
from pathlib import Path

import click

from aggregate.base.errors import PresetError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task import Amount
from aggregate.cli.arguments import path_entries
from aggregate.cli.asking import budget_option
from aggregate.cli.options import config_option
from aggregate.cli.output import counted, say, warn_all, write_result, write_rows
from aggregate.cli.program import Described
from aggregate.project.configuration import global_config_path, load_config, unconfigured
from aggregate.project.presets import ContextPreset, ContextPresetManager, preset_toml
from aggregate.prompt import open_project, request_for, select_files


@click.group(cls=Described)
def preset() -> None:
    """List, show, save, apply and delete context presets.

    A preset names a set of files and screenshots.
    """


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
@budget_option("Limit the tokens of prompts with this preset.")
@click.option("--description", default="", help="Describe the preset in one line.")
@click.option("--global", "is_global", is_flag=True, help="Store the preset for all projects.")
@click.option("--force", is_flag=True, help="Overwrite an existing preset of this name.")
def save(
    name: str,
    paths: tuple[str, ...],
    config: Path,
    budget: Amount | None,
    description: str,
    is_global: bool,
    force: bool,
) -> None:
    """Save PATHS, or the project's current files and screenshots, as NAME."""
    manager = _manager(config)
    scope = "global" if is_global else "project"
    if not force and name in manager.names(scope):
        raise PresetError(f'the preset "{name}" already exists: add --force to overwrite it')
    screenshots: list[str] = []
    if paths:
        base_dir = config.parent
        if config.exists():
            base_dir /= load_config(config).config.files.base_dir
        files = [FileItem(path) for path in path_entries(paths, base_dir)]
    else:
        request = request_for(open_project(config), with_history=False)
        files = [entry.item for entry in request.entries]
        screenshots = list(request.screenshots)
    preset = ContextPreset(name, files, screenshots, description, budget)
    manager.save_preset(preset, scope=scope)
    say(f'saved "{name}": {counted(_number_of_files(preset, config), "file")}')
    warnings = manager.reload_context_presets()[1]
    warn_all([warning for warning in warnings if warning.startswith(f'preset "{name}": ')])


@preset.command()
@click.argument("name")
@config_option
def apply(name: str, config: Path) -> None:
    """Make NAME the active preset of the project."""
    preset = _manager(config).apply_preset(name)
    say(f'"{name}" is active: {counted(len(preset.files), "file")}')


@preset.command()
@click.argument("name")
@config_option
def delete(name: str, config: Path) -> None:
    """Delete NAME."""
    _manager(config).delete_preset(name)
    say(f'deleted "{name}"')


def _number_of_files(preset: ContextPreset, config: Path) -> int:
    """Count the files that a preset's entries match at present."""
    project = config if config.exists() else unconfigured(config)
    request = request_for(open_project(project), with_history=False)
    request = replace(request, entries=tuple(map(Entry, preset.files)))
    return sum(not file.problem for file in select_files(request).files)


def _manager(config: Path) -> ContextPresetManager:
    return ContextPresetManager(config, global_config_path())
