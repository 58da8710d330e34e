"""``preset``: list, show, save, apply and delete context presets."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.cli.commands import Described
from aggregate.cli.options import config_option
from aggregate.cli.output import say, warn_all, write_result, write_rows

if TYPE_CHECKING:
    from aggregate.models.preset import ContextPreset
    from aggregate.presets.store import ContextPresetManager


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
    for name, one in presets.items():
        write_rows("\t".join([name, scopes[name], _files(one), one.description]).rstrip())
    warn_all(warnings)


@preset.command()
@click.argument("name")
@config_option
def show(name: str, config: Path) -> None:
    """Print a preset as TOML."""
    from aggregate.presets.store import preset_toml

    write_result(preset_toml(_manager(config).get(name)))


@preset.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
@config_option
@click.option("--description", default="", help="Describe it in one line, for lists.")
@click.option("--global", "is_global", is_flag=True, help="Store it for all projects.")
def save(name: str, paths: tuple[str, ...], config: Path, description: str, is_global: bool) -> None:
    """Save PATHS, or the project's present files and screenshots, under NAME."""
    from aggregate.cli.path_arguments import from_here
    from aggregate.compose.project import open_project, request_for
    from aggregate.config.load import load_config
    from aggregate.models.file_item import FileItem
    from aggregate.models.preset import ContextPreset

    if paths:
        base_dir = config.parent
        if config.exists():
            base_dir /= load_config(config).config.files.base_dir
        files = [FileItem(path) for path in from_here(paths, base_dir)]
        made = ContextPreset(name, files, description=description)
    else:
        request = request_for(open_project(config), with_history=False)
        files = [entry.item for entry in request.entries]
        made = ContextPreset(name, files, list(request.screenshots), description)
    manager = _manager(config)
    manager.save_preset(made, scope="global" if is_global else "project")
    say(f'saved "{name}": {_files(made)}')
    warnings = manager.reload_context_presets()[1]
    warn_all([warning for warning in warnings if warning.startswith(f'preset "{name}": ')])


@preset.command()
@click.argument("name")
@config_option
def apply(name: str, config: Path) -> None:
    """Make NAME the active composition of the project."""
    made = _manager(config).apply_preset(name)
    say(f'"{name}" is active: {_files(made)}')


@preset.command()
@click.argument("name")
@config_option
def delete(name: str, config: Path) -> None:
    """Delete NAME."""
    _manager(config).delete_preset(name)
    say(f'deleted "{name}"')


def _manager(config: Path) -> "ContextPresetManager":
    from aggregate.config.user import global_config_path
    from aggregate.presets.store import ContextPresetManager

    return ContextPresetManager(config, global_config_path())


def _files(preset: "ContextPreset") -> str:
    return "1 file" if len(preset.files) == 1 else f"{len(preset.files):,} files"
