"""The options that say what a prompt is for and how large it may be."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from aggregate.cli import lazy
from aggregate.cli.commands import is_sentence
from aggregate.cli.path_arguments import from_here
from aggregate.cli.sections import section
from aggregate.cli.stdin import read_input
from aggregate.compose.asking import parse_place
from aggregate.compose.project import open_project
from aggregate.config.load import Project, unconfigured
from aggregate.disk.reading import read_text
from aggregate.disk.roots import real_path
from aggregate.errors import ConfigError
from aggregate.models.amounts import AUTO, Amount, parse_amount
from aggregate.models.task import Place, Task

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

KEEP = (
    "no manual_slop.toml here: all files below this folder that git would take are candidates; "
    "to keep or narrow this choice: aggregate init --budget 32k"
)
"""What is said where a folder without a configuration is taken."""
_FILE = "@"
_STDIN = "-"
_SHOWN = 100
"""Characters of a mistaken value that an error shows."""
_USUAL_BUDGETS = (AUTO, "8k", "16k", "32k", "60k", "120k")
_option = section("Task and budget")


def budget_option(
    text: str, *, option: Callable[..., Callable[..., Any]] = click.option
) -> Callable[..., Any]:
    """Return the option ``--budget``: a number of tokens as people write it, or ``auto``.

    Args:
        text: What its help says.
        option: What makes it, such as one below a heading.
    """
    return option(
        "--budget",
        metavar="N|auto",
        callback=_amount,
        shell_complete=_usual_budgets,
        help=text,
    )


def _amount(context: click.Context, parameter: click.Parameter, value: str | None) -> Amount | None:
    if value is None:
        return None
    try:
        return parse_amount(value)
    except ValueError as error:
        raise click.BadParameter(
            f"it {error}, not {value[:_SHOWN]!r}", ctx=context, param=parameter
        ) from None


def _usual_budgets(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    return [lazy.CompletionItem(usual) for usual in _USUAL_BUDGETS if usual.startswith(incomplete)]


_PLACE = click.Path()
"""A path, so that a shell completes it; it may name lines besides."""

task_option = _option(
    "--task",
    metavar="TEXT",
    help="Compose for this task: in your words, or @FILE that holds it, or - for standard input.",
)


_POINTS_AT = "Show this file, or what is around these lines, whatever it costs, and rank from there"


def _seed_options(
    option: Callable[..., Callable[..., Any]], *, focus: str = f"{_POINTS_AT}."
) -> tuple[Callable[..., Any], ...]:
    """Return the options that say where ranking starts: ``focus``, ``symbol`` and ``since``."""
    return (
        option(
            "--focus",
            metavar="PATH[:LINE[-LINE]]",
            multiple=True,
            type=_PLACE,
            help=f"{focus} Repeatable.",
        ),
        option(
            "--symbol",
            metavar="NAME",
            multiple=True,
            help="Rank from the definitions of this name, or of Class.name. Repeatable.",
        ),
        option(
            "--since",
            metavar="REV",
            default="",
            help="Rank from what has changed since this git revision, such as HEAD for what is not committed.",
        ),
    )


def seed_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``focus``, ``symbol`` and ``since`` to a command whose message is the task."""
    for option in reversed(_seed_options(click.option)):
        command = option(command)
    return command


def task_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``sentence``, ``task``, ``budget``, ``focus``, ``symbol``, ``since`` and ``explain``."""
    options = (
        task_option,
        budget_option(
            f"Show what matters most in at most so many tokens, such as 32000, 32k or {AUTO}.",
            option=_option,
        ),
        *_seed_options(
            _option,
            focus=f"{_POINTS_AT}; with neither task nor budget, and with --tier 3: show this file in full in a Tier 3 "
            "context.",
        ),
        _option(
            "--explain",
            is_flag=True,
            help="Print what would be shown of each file and why, and write no prompt.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return click.argument("sentence", metavar="[TASK]", required=False)(command)


def read_task(argument: str | None, *, symbols: Sequence[str] = (), since: str = "") -> Task | None:
    """Return the task that the options name, ``None`` where they name none; places alone make none.

    Args:
        argument: The text, ``@FILE`` or ``-``; ``None`` for none.
        symbols: Names of definitions.
        since: A git revision.

    Raises:
        UsageError: The text cannot be read, or a symbol has no name.
    """
    if argument is None and not symbols and not since:
        return None
    if any(not symbol.strip() for symbol in symbols):
        raise click.UsageError("--symbol names nothing: give it the name of a definition")
    text = "" if argument is None else _read_text(argument)
    return Task(text, symbols=tuple(symbols), since=since)


def task_argument(sentence: str | None, task: str | None) -> str | None:
    """Return the task's text as it was named: by ``--task``, or by a sentence alone.

    Raises:
        UsageError: Both name one, or the sentence is a single word, which may be meant for something else.
    """
    if sentence is None:
        return task
    if task is not None:
        raise click.UsageError(
            f"the task is named twice: leave out --task or {sentence[:_SHOWN]!r}"
        )
    if not is_sentence(sentence):
        raise click.UsageError(
            f"got unexpected extra argument {sentence[:_SHOWN]!r}: to make it the task, write --task before it"
        )
    return sentence


def _read_text(argument: str) -> str:
    if argument == _STDIN:
        return read_input()
    text = _read_file(argument.removeprefix(_FILE)) if argument.startswith(_FILE) else argument
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the task is not UTF-8: check the terminal's encoding")
    return text


def _read_file(name: str) -> str:
    """Return the text of the task's file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        return read_text(Path(name))
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 (byte {error.start}): save it as UTF-8"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}; begin a task that itself begins with @ with a space"
    except ValueError as error:  # a null character in the path
        reason = f"cannot be read: {error}"
    raise click.UsageError(f"the task's file {name} {reason}")


def typed_places(typed: Sequence[str], base_dir: Path) -> tuple[Place, ...]:
    """Return places that a person types, which begin in the current folder, as a configuration writes them."""
    places = []
    for text in typed:
        place = parse_place(text, Path.cwd())
        if place.first and os.path.lexists(base_dir / text):
            place = Place(text)
        (path,) = from_here([place.path], base_dir)
        places.append(Place(path, place.first, place.last))
    return tuple(places)


def seeds_of(
    project: Project, focus: Sequence[str], symbols: Sequence[str], since: str
) -> Task | None:
    """Return what the user points at, as a task whose text the message will be; ``None`` for nothing.

    Raises:
        UsageError: A symbol has no name.
    """
    named = read_task(None, symbols=symbols, since=since)
    places = typed_places(focus, project.folder / project.config.files.base_dir)
    return replace(named or Task(), focus=places) if places else named


def open_project_here(config: Path) -> Project:
    """Return the project, or the folder without a configuration that prompts were written in (rule T-6).

    Raises:
        ConfigError: The configuration cannot be used, or there is none and no prompt either.
    """
    bare = unconfigured(config)
    has_prompts = (bare.folder / bare.config.output.output_dir).is_dir()
    if config.exists() or is_named("config"):
        return open_project(config)
    if not has_prompts:
        raise ConfigError(
            "there is neither a manual_slop.toml nor a prompt here; to make one: "
            'aggregate "what you are about to do" --budget 32k',
            path=str(config),
        )
    return open_project(bare)


def open_asked_project(
    config: Path, *, is_asked: bool, allow_outside: bool | None, allow_secrets: bool | None
) -> tuple[Project, bool]:
    """Return the project, and whether it is a folder without a configuration, which a task or a budget may do without.

    Args:
        config: The configuration that was named, or the one that is meant.
        is_asked: Whether a task or a budget was named.
        allow_outside: What the user says for this run.
        allow_secrets: The same.

    Raises:
        ConfigError: The configuration is missing or cannot be used.
    """
    bare = is_asked and not config.exists() and not is_named("config")
    if bare:
        _check_is_a_project(config.parent)
    project = open_project(
        unconfigured(config) if bare else config,
        allow_outside=allow_outside,
        allow_secrets=allow_secrets,
    )
    return project, bare


def _check_is_a_project(folder: Path) -> None:
    """Make sure that a folder without a configuration is none that holds all that somebody has.

    Raises:
        ConfigError: It is the home folder or the top of a disk, and no repository.
    """
    here = folder.absolute()
    is_everything = here.parent == here or real_path(here) == real_path(os.path.expanduser("~"))  # noqa: PTH111 - no error without a home
    if is_everything and not os.path.lexists(here / ".git"):
        raise ConfigError(
            "this folder holds all that you have, and no manual_slop.toml: go to a project, or write one with "
            '"aggregate init"',
            path=str(here),
        )


def is_named(parameter: str) -> bool:
    """Tell whether the user has named a parameter of the command."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)
