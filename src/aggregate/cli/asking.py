"""What a command is asked: about which project, for which task, from which places, within which budget."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from aggregate.base.disk.reading import SETTINGS_BYTES, is_file, read_text, real_path
from aggregate.base.disk.witnesses import doubt
from aggregate.base.disk.writing import PRIVATE_FOLDER, cache_folder, create_private
from aggregate.base.errors import ConfigError
from aggregate.base.files import FileRow
from aggregate.base.messages import nearest_path
from aggregate.base.request import Amount, Given, Place, Task, parse_amount, parse_number
from aggregate.base.text import heading_text
from aggregate.cli.output import say, warn_all
from aggregate.project.configuration import CONFIG_NAME, Project, unconfigured, user_config
from aggregate.project.files import display_path
from aggregate.project.index import Index
from aggregate.project.paths import is_glob, split_root
from aggregate.prompt import NO_BUDGET, Request, open_project, parse_place

KEEP = (
    "no manual_slop.toml here: all files that git does not ignore are candidates; "
    "to keep or narrow this choice: aggregate init --budget 32k"
)
OVERVIEW = (
    "no manual_slop.toml here: this is an overview of all files that git does not ignore; "
    'for a task: aggregate "what you are about to do", for everything: aggregate --budget all'
)
OTHER_BUDGETS = "--budget N sets another one, --budget all shows everything"


def open_project_here(config: Path, *, prompt: str = "") -> Project:
    """Return the project, or the folder without a configuration that prompts were written in (rule T-6).

    ``prompt`` is the path of a prompt that may lie anywhere.
    """
    if config.exists() or is_named("config"):
        return open_project(config)
    bare = unconfigured(config)
    is_there = bool(Path(prompt).name) and is_file(Path(prompt))
    if not is_there and not bare.prompts.is_dir():
        raise ConfigError(
            "there is neither a manual_slop.toml nor a prompt here; to make one: "
            'aggregate "what you are about to do" --budget 32k',
            path=str(config),
        )
    return open_project(bare)


def open_asked_project(
    config: Path,
    *,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    hint: str = "",
    is_verbose: bool = False,
) -> Project:
    """Return the project, or a folder without a configuration, for which there is a ``hint`` (rule T-6)."""
    told = click.get_current_context().meta
    # A configuration that is gone while a command runs, as within a checkout, is missing.
    if told.setdefault(CONFIG_NAME, config.exists()) or is_named("config"):
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
    if hint and not told.setdefault(KEEP, False):
        told[KEEP] = True
        say_once(hint, project, is_verbose=is_verbose)
    return project


def say_once(hint: str, project: Project, *, is_verbose: bool) -> None:
    """Say a sentence that is always the same, only the first time in a project unless the user is verbose."""
    if is_verbose:
        say(hint)
        return
    cache = cache_folder()
    key = sha256(f"{real_path(project.folder)}\0{hint}".encode("utf-8", "surrogateescape"))
    place = cache and cache / "hints" / key.hexdigest()[:32]
    if place and os.path.lexists(place):
        return
    say(hint, is_repeated=False)
    if place:
        with suppress(OSError):
            place.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            os.close(create_private(place))


def is_named(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def from_here(path: str, base_dir: Path) -> str:
    """Return a path or glob of the current folder relative to ``base_dir``; what is neither there nor a glob stays."""
    here, base = Path.cwd(), Path(os.path.abspath(base_dir))
    full = os.path.abspath(here / path)
    is_inside = full != str(base) and Path(full).is_relative_to(base)
    is_meant = os.path.lexists(full) or (is_glob(path) and here.is_relative_to(base))
    if Path(path).is_absolute() or not is_inside or not is_meant:
        return path
    return display_path(full, base)


def existing_meant(path: str, folder: Path) -> str:
    asked, meant = Path(split_root(path)[0] if is_glob(path) else path), ""
    for part in asked.parts:
        place = folder / meant
        try:
            names = sorted(os.listdir(place))  # noqa: PTH208
        except OSError:
            names = []
        name = part if os.path.lexists(place / part) else nearest_path(part, names)
        if not name:
            return ""
        meant = os.path.join(meant, name)
    return "" if Path(meant) == asked else f': did you mean "{meant}"?'


def with_meant(warnings: Iterable[str], rows: Iterable[FileRow], folder: Path) -> list[str]:
    meant = {heading_text(row.path): existing_meant(row.path, folder) for row in rows if row.error}
    return [one + meant.get(one.rpartition(": ")[2], "") for one in warnings]


SHOWN = 100  # characters of a mistaken value that an error shows
_POINTS_AT = "Show this file, or what is around these lines, whatever it costs, and rank from there"


def _amount(context: click.Context, parameter: click.Parameter, value: str | None) -> Amount | None:
    try:
        return None if value is None else parse_amount(value)
    except ValueError as error:
        raise click.BadParameter(
            f"it {error}, not {(value or '')[:SHOWN]!r}", ctx=context, param=parameter
        ) from None


def number_of_tokens(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    try:
        return None if value is None else parse_number(value)
    except ValueError as error:
        raise click.BadParameter(
            f"it {error}, not {(value or '')[:SHOWN]!r}", ctx=context, param=parameter
        ) from None


def _amount_or_all(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Amount | str | None:
    return value if value == NO_BUDGET else _amount(context, parameter, value)


def budget_option(text: str, *, may_be_all: bool = False) -> Callable[..., Callable[..., Any]]:
    metavar = "N|auto|all" if may_be_all else "N|auto"
    callback = _amount_or_all if may_be_all else _amount
    return click.option("--budget", metavar=metavar, callback=callback, help=text)


task_option = click.option(
    "--task",
    metavar="TEXT",
    help="Find what matters for this task: your own words, @FILE to read it from a file, or - from standard input.",
)


def seed_options(
    command: Callable[..., None], *, focus: str = "", has_since: bool = True
) -> Callable[..., None]:
    focus_option = click.option(
        "--focus",
        metavar="PATH[:LINE[-LINE]]",
        multiple=True,
        type=click.Path(),  # so that a shell completes it
        help=f"{_POINTS_AT}{focus}. Repeatable.",
    )
    symbol_option = click.option(
        "--symbol",
        metavar="NAME",
        multiple=True,
        help="Rank from the definitions of this name, or of Class.name. Repeatable.",
    )
    since_option = click.option(
        "--since",
        metavar="REV",
        default="",
        help="Rank from what has changed since this git revision, such as HEAD for what is not committed.",
    )
    return focus_option(symbol_option(since_option(command) if has_since else command))


def read_attached(command: str, *, tells: bool) -> Given:
    """Return what a command prints, or what standard input holds."""
    if command == "-":
        return Given("Standard input", read_input())
    from aggregate.cli.users_command import run_command  # seldom asked for

    if tells:
        say(f"running {command}")
    printed = run_command(command)
    return Given(f"Output of {command} (exit code {printed.code})", printed.text)


def read_task(argument: str | None, *, symbols: Sequence[str] = (), since: str = "") -> Task | None:
    if argument is None and not symbols and not since:
        return None
    if any(not symbol.strip() for symbol in symbols):
        raise click.UsageError("--symbol names nothing: give it the name of a definition")
    text = argument or ""
    if text == "-":
        text = read_input()
    elif text.startswith("@"):
        text = _read_file(text[1:])
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the task is not UTF-8: check the terminal's encoding")
    if since:
        doubt("a revision was asked for")  # any reference may be one
    return Task(text, symbols=tuple(symbols), since=since)


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
        places.append(Place(from_here(place.path, base_dir), place.first, place.last))
    return tuple(places)


def read_input() -> str:
    doubt("standard input was read")
    if sys.stdin is None:
        raise click.UsageError("there is no standard input to read: it is closed")
    data = sys.stdin.buffer.read(SETTINGS_BYTES + 1)
    if len(data) > SETTINGS_BYTES:
        raise click.UsageError(
            f"standard input is too large: the limit is {SETTINGS_BYTES:,} bytes"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"standard input is not UTF-8 (byte {error.start}): write it as UTF-8"
        ) from None


def agree(question: str) -> None:
    """Go on only if the person at the terminal says yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("nobody is here to be asked: add --yes")
    click.confirm(question, abort=True, err=True)


def looked_at(
    request: Request, asked: str, *, base_url: str = "", index: Index, quiet: bool
) -> Request:
    """Return the request with what a model picks of the likeliest files, where the user wants one ``asked`` (T-10)."""
    has_both = request.budget is not None and request.task is not None
    if asked and not has_both:
        raise click.UsageError("--pick says what a budget shows for a task: add both")
    name = asked or (has_both and user_config().task.pick)
    if not name:
        return request
    from aggregate.sending import look_again  # which most runs do without

    looked = look_again(request, name, base_url=base_url, index=index)
    if not quiet:
        say(*looked.told)
        warn_all(looked.warnings)
    return looked.request
