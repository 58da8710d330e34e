"""Read a command's project, paths, task and input from its arguments and options (rule T-13)."""

import glob
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from aggregate.base.disk.reading import SETTINGS_BYTES, is_file, read_text, real_path
from aggregate.base.disk.witnesses import doubt
from aggregate.base.disk.writing import PRIVATE_FOLDER, cache_folder, create_private
from aggregate.base.errors import ConfigError
from aggregate.base.nearest_names import nearest_path
from aggregate.base.task_budget import Given, Place, Task
from aggregate.cli.options import SHOWN, AskedProject
from aggregate.cli.output import say, warn, warn_all
from aggregate.cli.program import BriefCommand
from aggregate.project.configuration import CONFIG_NAME, Project, unconfigured
from aggregate.project.files import FolderListing, display_path
from aggregate.project.git import find_commit, unquoted
from aggregate.project.paths import is_glob, split_root
from aggregate.prompt import parse_place
from aggregate.prompt.asking import ALL_FILES, open_project

if TYPE_CHECKING:
    pass

KEEP = (
    "no manual_slop.toml here: files are chosen from all that git does not ignore; "
    "to choose from fewer, write one: aggregate init --budget 32k"
)
OVERVIEW = (
    "no manual_slop.toml here: this is an overview of all files that git does not ignore; "
    'for a task: aggregate "what you are about to do", for everything: aggregate --budget all'
)
_LITERAL: Final = "aggregate.words"  # key of the words behind ``--`` in a context's ``meta``
_DIFF: Final = "--diff"
_BEHIND_DIFF: Final = "aggregate.behind_diff"  # key of the argument after a --diff without a value
UNCOMMITTED: Final = "HEAD"  # revision of --diff without a value
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def open_project_here(config: Path, *, prompt: str = "") -> Project:
    """Open the project, or a folder with prompts (rule T-6).

    Such a folder needs no configuration. ``prompt`` is the path of an existing prompt in any folder.
    """
    if config.exists() or is_named("config"):
        return open_project(config)
    bare = unconfigured(config)
    has_prompt = bool(Path(prompt).name) and is_file(Path(prompt))
    if not has_prompt and not bare.prompts.is_dir():
        raise ConfigError(
            "there is neither a manual_slop.toml nor a prompt here; to make a prompt: "
            'aggregate "what you are about to do" --budget 32k',
            path=str(config),
        )
    return open_project(bare)


def open_asked_project(asked: AskedProject, *, hint: str = "", is_verbose: bool = False) -> Project:
    """Open the project, or a folder without configuration after printing the ``hint`` (rule T-6)."""
    config, meta = asked.config, click.get_current_context().meta
    # Remembered: a configuration removed meanwhile by a checkout is an error.
    is_configured = meta.setdefault(CONFIG_NAME, config.exists()) or is_named("config")
    folder = config.parent.absolute()
    home = os.path.expanduser("~")  # noqa: PTH111 - no error without a home
    is_everything = folder.parent == folder or real_path(folder) == real_path(home)
    if not is_configured and is_everything and not os.path.lexists(folder / ".git"):
        raise ConfigError(
            'this folder holds all your files and no manual_slop.toml: go to a project, or use "aggregate init"',
            path=str(folder),
        )
    project = open_project(
        config if is_configured else unconfigured(config),
        allow_outside=asked.allow_outside,
        allow_secrets=asked.allow_secrets,
    )
    if hint and not is_configured and KEEP not in meta:
        meta[KEEP] = True
        say_once(hint, project, is_verbose=is_verbose)
    return project


def open_remote(address: str, *, allow_secrets: bool | None, quiet: bool) -> Project:
    """Fetch a repository into the cache; return it, untrusted and without configuration (rule T-6)."""
    from aggregate.project.git import Remote  # seldom needed

    remote = Remote.parse(address)
    doubt("a remote repository was fetched")  # it may have changed there
    if not quiet:
        say(f"fetching {remote.url}")
    bare = unconfigured(remote.fetch() / CONFIG_NAME)
    table = replace(bare.config.project, name=remote.name)
    project = replace(bare, config=replace(bare.config, project=table))
    return open_project(project, allow_outside=False, allow_secrets=allow_secrets)


def say_once(hint: str, project: Project, *, is_verbose: bool) -> None:
    """Print a hint once per project; always if ``is_verbose``."""
    if is_verbose:
        say(hint)
        return
    cache = cache_folder()
    key = sha256(f"{real_path(project.folder)}\0{hint}".encode("utf-8", "surrogateescape"))
    mark = cache and cache / "hints" / key.hexdigest()[:32]
    if mark and os.path.lexists(mark):
        return
    say(hint, is_repeated=False)
    if mark:
        with suppress(OSError):
            mark.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            os.close(create_private(mark))


def is_named(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def from_here(path: str, base_dir: Path) -> str:
    """Make an existing path or glob relative to ``base_dir``."""
    folder, base = Path.cwd(), Path(os.path.abspath(base_dir))
    full = os.path.abspath(folder / path)
    is_inside = full != str(base) and Path(full).is_relative_to(base)
    matches = os.path.lexists(full) or (is_glob(path) and folder.is_relative_to(base))
    if Path(path).is_absolute() or not is_inside or not matches:
        return path
    return display_path(full, base)


def existing_meant(path: str, folder: Path) -> str:
    """Return a suggestion for a misspelt path, or ``""``."""
    plain, nearest = Path(split_root(path)[0] if is_glob(path) else path), ""
    for part in plain.parts:
        parent = folder / nearest
        try:
            names = sorted(os.listdir(parent))  # noqa: PTH208
        except OSError:
            names = []
        name = part if os.path.lexists(parent / part) else nearest_path(part, names)
        if not name:
            return ""
        nearest = os.path.join(nearest, name)
    return "" if Path(nearest) == plain else f': did you mean "{nearest}"?'


def read_attached(command: str, *, quiet: bool) -> Given:
    """Return the output of a command, or standard input for ``-``."""
    if command == "-":
        return Given("Standard input", read_input())
    from aggregate.cli.users_command import run_command  # seldom needed

    if not quiet:
        say(f"running {command}")
    output = run_command(command)
    return Given(f"Output of {command} (exit code {output.code})", output.text)


def read_task_argument(
    argument: str | None, *, symbols: Sequence[str] = (), since: str = ""
) -> Task | None:
    if argument is None and not symbols and not since:
        return None
    if any(not symbol.strip() for symbol in symbols):
        raise click.UsageError("--symbol is empty: give it the name of a definition")
    text = argument or ""
    if text == "-":
        text = read_input()
    elif text.startswith("@"):
        text = _read_file(text[1:])
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the task is not UTF-8: check the terminal's encoding")
    if since:
        doubt("a git revision was read")  # any reference may move
    return Task(text, symbols=tuple(symbols), since=since)


def _read_file(name: str) -> str:
    try:
        return read_text(Path(name))
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 (byte {error.start}): save it as UTF-8"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}; put a space before a task that begins with @"
    except ValueError as error:  # a null character in the path
        reason = f"cannot be read: {error}"
    raise click.UsageError(f"the task's file {name} {reason}")


def typed_places(typed: Sequence[str], base_dir: Path) -> tuple[Place, ...]:
    """Parse files and lines typed in the current folder; make their paths relative to ``base_dir``."""
    focus = []
    for text in typed:
        point = parse_place(text, Path.cwd())
        if point.first and os.path.lexists(base_dir / text):
            point = Place(text)
        focus.append(Place(from_here(point.path, base_dir), point.first, point.last))
    return tuple(focus)


def read_seeds(
    focus: Sequence[str], symbols: Sequence[str], since: str, base_dir: Path
) -> Task | None:
    """Return a task without words, for the seeds of a ranking; ``None`` without seeds."""
    task = read_task_argument(None, symbols=symbols, since=since)
    places = typed_places(focus, base_dir)
    return replace(task or Task(), focus=places, is_strict=True) if task or places else None


def read_input() -> str:
    doubt("standard input was read")
    if sys.stdin is None:
        raise click.UsageError("standard input is closed")
    data = sys.stdin.buffer.read(SETTINGS_BYTES + 1)
    return decoded(data, "standard input")


def decoded(data: bytes, name: str) -> str:
    """Decode input as UTF-8; reject too large or invalid input."""
    if len(data) > SETTINGS_BYTES:
        raise click.UsageError(f"{name} is too large: the limit is {SETTINGS_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name} is not UTF-8 (byte {error.start}): write it as UTF-8"
        raise click.UsageError(message) from None


def agree(question: str) -> None:
    """Ask a yes-or-no question at the terminal; exit unless confirmed."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("cannot ask without a terminal: add --yes")
    click.confirm(question, abort=True, err=True)


class RunCommand(BriefCommand):
    """A command that keeps the words after ``--`` apart; ``--diff`` takes a value only after ``=``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_LITERAL] = tuple(args[end + 1 :])
        followers = [args[index + 1] for index in range(end - 1) if args[index] == _DIFF]
        ctx.meta[_BEHIND_DIFF] = "".join(followers[-1:])
        options = [f"{_DIFF}={UNCOMMITTED}" if word == _DIFF else word for word in args[:end]]
        return super().parse_args(ctx, options)


def read_arguments(
    words: Sequence[str],
    task: str | None,
    *,
    paths_from: str | None,
    symbols: Sequence[str],
    since: str,
    quiet: bool,
) -> tuple[tuple[str, ...], Task | None]:
    """Return the typed or listed paths, and the task of the arguments or the option."""
    literal: tuple[str, ...] = click.get_current_context().meta.get(_LITERAL, ())
    paths = tuple(word for word in words if _is_path(word))
    task_words = [word for word in words if word not in paths]
    for word in task_words:
        if _is_missing(word, is_alone=len(task_words) == 1):
            raise click.UsageError(_missing(word))
    typed = " ".join((*task_words, *literal)) if task_words or literal else None
    if typed is not None and task is not None:
        raise click.UsageError(f"the task is stated twice: leave out --task or {typed[:SHOWN]!r}")
    if paths_from is not None:
        paths += _read_paths_from(paths_from, quiet=quiet)
    text = task if typed is None else typed
    return paths, read_task_argument(text, symbols=symbols, since=since)


def warn_of_revision(words: Sequence[str], folder: Path) -> None:
    """Warn if a revision after ``--diff`` was taken as the task."""
    word: str = click.get_current_context().meta.get(_BEHIND_DIFF, "")
    if word not in words or word.startswith("-") or re.search(r"\s", word) or _is_path(word):
        return
    with suppress(ConfigError):
        find_commit(str(folder), word)
        warn(
            f'"{word[:SHOWN]}" is taken as the task: write {_DIFF}={word[:SHOWN]} for the changes since this '
            f'revision, or --task "{word[:SHOWN]}"'
        )


def _is_path(word: str) -> bool:
    if not word or os.path.lexists(word):
        return bool(word)
    is_pattern = is_glob(word) and not re.search(r"\s", word)
    return is_pattern and bool(FolderListing().resolve(Path.cwd(), word).names)


def _is_missing(word: str, *, is_alone: bool) -> bool:
    if word.startswith("@") or re.search(r"\s", word) or _ADDRESS.match(word):
        return False
    folder = word.partition("/")[0]
    if "/" in word:
        return is_alone or os.path.lexists(folder)
    return "." in word and bool(existing_meant(word, Path()))


def _missing(word: str) -> str:
    reason = "No file matches" if is_glob(word) else "No such file:"
    return (
        f"{reason} {word[:SHOWN]}{existing_meant(word, Path()).removesuffix('?')}"
        f'; to make it the task, write --task "{word[:SHOWN]}"'
    )


def _read_paths_from(source: str, *, quiet: bool) -> tuple[str, ...]:
    """Read paths from a file or standard input (``-``); warn about missing ones."""
    try:
        text = read_input() if source == "-" else read_text(Path(source))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise click.UsageError(f"--paths-from {source[:SHOWN]} cannot be read: {reason}") from None
    names = text.split("\0") if "\0" in text else [_listed(line) for line in text.splitlines()]
    names = [*dict.fromkeys(name for name in names if name)]
    if not names:
        raise click.UsageError(f"--paths-from {source[:SHOWN]} contains no path")
    missing = [name for name in names if not os.path.lexists(name)]
    if len(missing) == len(names):
        reason = _missing(names[0])
        raise click.UsageError(f"--paths-from {source[:SHOWN]} contains no existing file: {reason}")
    if not quiet:
        warn_all([f"{name}: no such file, left out" for name in missing])
    return tuple(name for name in names if name not in missing)


def _listed(line: str) -> str:
    """Return the path in a line, without git's quoting."""
    is_quoted = len(line) > 1 and line[0] == line[-1] == '"' and not os.path.lexists(line)
    return unquoted(line[1:-1]) if is_quoted else line


def path_entries(paths: Sequence[str], base_dir: Path) -> tuple[str, ...]:
    """Convert paths to entries of a configuration; folders become globs."""
    entries = []
    for path in paths:
        if not os.path.lexists(path):
            entry = from_here(path, base_dir)
        elif os.path.isdir(path):  # noqa: PTH112 - a name of any form
            folder = os.path.relpath(path, base_dir).replace(os.sep, "/")
            entry = ALL_FILES if folder == "." else f"{glob.escape(folder)}/{ALL_FILES}"
        else:
            entry = display_path(path, base_dir)
        entries.append(entry)
    return tuple(entries)
