"""Opening the project that a command is about, and paths as a person types them in it."""

import os
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource

from aggregate.base.disk import real_path
from aggregate.base.errors import ConfigError
from aggregate.base.text import heading_text, nearest_path
from aggregate.base.values import FileRow
from aggregate.cli.output import say
from aggregate.project.configuration import Project, unconfigured
from aggregate.project.paths import is_glob, split_root
from aggregate.prompt import display_path, open_project

_KEEP = (
    "no manual_slop.toml here: all files below this folder that git would take are candidates; "
    "to keep or narrow this choice: aggregate init --budget 32k"
)


def open_project_here(config: Path) -> Project:
    """Return the project, or the folder without a configuration that prompts were written in (rule T-6)."""
    if config.exists() or is_named("config"):
        return open_project(config)
    bare = unconfigured(config)
    if not (bare.folder / bare.config.output.output_dir).is_dir():
        raise ConfigError(
            "there is neither a manual_slop.toml nor a prompt here; to make one: "
            'aggregate "what you are about to do" --budget 32k',
            path=str(config),
        )
    return open_project(bare)


def open_asked_project(
    config: Path,
    *,
    is_asked: bool,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    tells: bool = False,
) -> Project:
    """Return the project, where a task or budget ``is_asked`` also a folder without a configuration.

    That it is one is told once a command, if at all.
    """
    if not is_asked or config.exists() or is_named("config"):
        return open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    here = config.parent.absolute()
    is_everything = here.parent == here or real_path(here) == real_path(os.path.expanduser("~"))  # noqa: PTH111 - no error without a home
    if is_everything and not os.path.lexists(here / ".git"):
        raise ConfigError(
            "this folder holds all that you have, and no manual_slop.toml: go to a project, or write one with "
            '"aggregate init"',
            path=str(here),
        )
    bare = unconfigured(config)
    project = open_project(bare, allow_outside=allow_outside, allow_secrets=allow_secrets)
    if tells and not click.get_current_context().meta.setdefault(_KEEP, False):
        click.get_current_context().meta[_KEEP] = True
        say(_KEEP)
    return project


def is_named(parameter: str) -> bool:
    """Tell whether the user has named a parameter of the command."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def from_here(path: str, base_dir: Path) -> str:
    """Return a path or glob of the current folder as a configuration writes it: relative to ``base_dir``.

    What is neither a file here nor a glob stays as it is: it may be written as the configuration writes it, or be a
    part of a path that a focus file is known by.
    """
    here, base = Path.cwd(), Path(os.path.abspath(base_dir))
    full = os.path.abspath(here / path)
    is_inside = full != str(base) and Path(full).is_relative_to(base)
    is_meant = os.path.lexists(full) or (is_glob(path) and here.is_relative_to(base))
    if Path(path).is_absolute() or not is_inside or not is_meant:
        return path
    return display_path(full, base)


def existing_meant(path: str, folder: Path) -> str:
    """Return ``: did you mean "..."?`` for a path, or a glob's folder, that is not there, ``""`` where none is near.

    It is mended folder by folder, by the names that there are.
    """
    asked, meant = Path(split_root(path)[0] if is_glob(path) else path), ""
    for part in asked.parts:
        place = folder / meant
        name = part if os.path.lexists(place / part) else nearest_path(part, _names(place))
        if not name:
            return ""
        meant = os.path.join(meant, name)
    return "" if Path(meant) == asked else f': did you mean "{meant}"?'


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def with_meant(warnings: Iterable[str], rows: Iterable[FileRow], folder: Path) -> list[str]:
    """Return warnings of a prompt; those that end with a path that is not there say which one is meant."""
    meant = {heading_text(row.path): existing_meant(row.path, folder) for row in rows if row.error}
    return [one + meant.get(one.rpartition(": ")[2], "") for one in warnings]
