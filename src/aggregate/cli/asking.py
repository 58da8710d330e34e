"""The options that say what a prompt is for and how large it may be."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from aggregate.base.disk import SETTINGS_BYTES, read_text
from aggregate.base.values import AUTO, Amount, Place, Task, parse_amount
from aggregate.cli.commands import is_sentence
from aggregate.cli.opened_project import from_here
from aggregate.cli.options import section
from aggregate.project.configuration import Project
from aggregate.prompt import parse_place

_FILE = "@"
_STDIN = "-"
_SHOWN = 100
"""Characters of a mistaken value that an error shows."""
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


_PLACE = click.Path()
"""A path, so that a shell completes it; it may name lines besides."""

task_option = _option(
    "--task",
    metavar="TEXT",
    help="Find what matters for this task: your own words, @FILE to read it from a file, or - from standard input.",
)


_POINTS_AT = "Show this file, or what is around these lines, whatever it costs, and rank from there"


def _seed_options(
    option: Callable[..., Callable[..., Any]], *, focus: str = f"{_POINTS_AT}."
) -> tuple[Callable[..., Any], ...]:
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
            f"Show what matters most in at most this many tokens, such as 32000, 32k or {AUTO}.",
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
    return click.argument("sentence", metavar="[TASK]", nargs=-1, required=False)(command)


def read_task(argument: str | None, *, symbols: Sequence[str] = (), since: str = "") -> Task | None:
    """Return the task that the options name, ``None`` where they name none; places alone make none.

    Args:
        argument: The text, ``@FILE`` or ``-``; ``None`` for none.
        symbols: Names of definitions.
        since: A git revision.
    """
    if argument is None and not symbols and not since:
        return None
    if any(not symbol.strip() for symbol in symbols):
        raise click.UsageError("--symbol names nothing: give it the name of a definition")
    text = "" if argument is None else _read_text(argument)
    return Task(text, symbols=tuple(symbols), since=since)


def task_argument(words: tuple[str, ...], task: str | None) -> str | None:
    """Return the task's text as it was named: by ``--task``, or by a sentence alone."""
    if not words:
        return task
    sentence = " ".join(words)[:_SHOWN]
    if task is not None:
        raise click.UsageError(f"the task is named twice: leave out --task or {sentence!r}")
    if len(words) > 1 or not is_sentence(words[0]):
        raise click.UsageError(
            f'got unexpected extra argument {words[0][:_SHOWN]!r}: to make it the task, write --task "{sentence}"'
        )
    return words[0]


def _read_text(argument: str) -> str:
    if argument == _STDIN:
        return read_input()
    text = _read_file(argument.removeprefix(_FILE)) if argument.startswith(_FILE) else argument
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the task is not UTF-8: check the terminal's encoding")
    return text


def _read_file(name: str) -> str:
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
    """Return what the user points at, as a task whose text the message will be; ``None`` for nothing."""
    named = read_task(None, symbols=symbols, since=since)
    places = typed_places(focus, project.folder / project.config.files.base_dir)
    return replace(named or Task(), focus=places) if places else named


def read_input() -> str:
    """Return all of standard input, as UTF-8 whatever the locale says."""
    if sys.stdin is None:
        raise click.UsageError("there is no standard input to read: it is closed")
    data = sys.stdin.buffer.read(SETTINGS_BYTES + 1)
    if len(data) > SETTINGS_BYTES:
        raise click.UsageError(f"standard input is too large: the most is {SETTINGS_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"standard input is not UTF-8 (byte {error.start}): write it as UTF-8"
        ) from None
