"""``init``: write the first configuration of a project."""

import sys
from pathlib import Path

import click

from aggregate.cli.options import new_config_option
from aggregate.cli.output import say, write_path
from aggregate.compose.api import compose_prompt
from aggregate.compose.file_rendering import select_files
from aggregate.compose.project import open_project, request_for
from aggregate.config.template import first_config
from aggregate.errors import ConfigError, OutputError
from aggregate.paths.ignore_rules import IgnoreRules
from aggregate.sources.dependency_folders import dependency_folders
from aggregate.sources.gitignore import append_folders, unignored
from aggregate.sources.path_resolution import FolderListing
from aggregate.syntax.languages import LANGUAGES, LanguageKind
from aggregate.tokens.count import count_prompt
from aggregate.views.dispatch import NOTEBOOK_SUFFIX

_COUNTED = 2000
"""Files up to which tokens are counted at once; more take as long as a run."""


@click.command()
@new_config_option
@click.option(
    "--gitignore/--no-gitignore",
    "ignore",
    default=None,
    help="Add the folders that runs write to .gitignore; by default you are asked on a terminal.",
)
def init(config: Path, ignore: bool | None) -> None:
    """Write a commented manual_slop.toml for the project in this folder."""
    folder = config.parent
    _write_new(config, _first_config(folder))
    write_path(config)
    say(f"it takes {_selection_size(config)}; next: aggregate run")
    _offer_gitignore(folder, ignore)


def _first_config(folder: Path) -> str:
    """Return a configuration that takes the folder's code, without what its tools have put there."""
    files = FolderListing().files(str(folder))
    exclude = dependency_folders(str(folder), files)
    is_excluded = IgnoreRules().below("", exclude).hides
    own_files = [file for file in files if not is_excluded(file)]
    code = [language for language in LANGUAGES if language.kind is not LanguageKind.DATA]
    suffixes = [suffix for language in code for suffix in language.suffixes]
    suffixes.append(NOTEBOOK_SUFFIX)
    return first_config(folder.resolve().name, own_files, suffixes, exclude)


def _write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet.

    Raises:
        ConfigError: It exists.
        OutputError: It cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError("exists already: edit it, or delete it first", path=str(path)) from None
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _selection_size(config: Path) -> str:
    """Return how many files the new configuration takes, and their tokens if that is quick."""
    request = request_for(open_project(config), with_history=False)
    number = sum(not file.problem for file in select_files(request).files)
    files = f"{number:,} file{'' if number == 1 else 's'}"
    if number > _COUNTED:
        return files
    return f"{files}, {count_prompt(compose_prompt(request).prompt).document:,} tokens (o200k)"


def _offer_gitignore(folder: Path, ignore: bool | None) -> None:
    """Add the folders of ours to ``.gitignore`` if the user says so."""
    names = [] if ignore is False else unignored(folder, ("md_gen", "state"))
    if not names:
        return
    folders = " and ".join(f"{name}/" for name in names)
    if ignore is None and not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"runs write to {folders}: better add that to .gitignore")
    elif ignore or click.confirm(
        f"Runs write to {folders}. Add them to .gitignore?", default=True, err=True
    ):
        append_folders(folder, names)
        say(f"added {folders} to {folder / '.gitignore'}")
