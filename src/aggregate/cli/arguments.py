"""Split arguments of ``run`` into paths and task (rule T-13)."""

import glob
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import click

from aggregate.base.disk.reading import read_text
from aggregate.base.errors import ConfigError
from aggregate.cli.asking import existing_meant, from_here, read_input
from aggregate.cli.options import SHOWN
from aggregate.cli.output import warn, warn_all
from aggregate.cli.program import BriefCommand
from aggregate.project.files import FolderListing, display_path
from aggregate.project.git import find_commit, unquoted
from aggregate.project.paths import is_glob
from aggregate.prompt import ALL_FILES

_LITERAL: Final = "aggregate.words"  # key of the words behind ``--`` in a context's ``meta``
_DIFF: Final = "--diff"
_BEHIND_DIFF: Final = "aggregate.behind_diff"  # key of the argument after a --diff without a value
UNCOMMITTED: Final = "HEAD"  # revision of --diff without a value
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class RunCommand(BriefCommand):
    """A command that keeps the words after ``--`` apart; ``--diff`` takes a value only after ``=``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_LITERAL] = tuple(args[end + 1 :])
        followers = [args[index + 1] for index in range(end - 1) if args[index] == _DIFF]
        ctx.meta[_BEHIND_DIFF] = "".join(followers[-1:])
        options = [f"{_DIFF}={UNCOMMITTED}" if word == _DIFF else word for word in args[:end]]
        return super().parse_args(ctx, options)


class Arguments(NamedTuple):
    paths: tuple[str, ...]  # as they were typed
    task: str | None  # ``None`` without any word


def read_arguments(words: Sequence[str]) -> Arguments:
    """Split arguments into paths and task; reject a misspelt path."""
    literal: tuple[str, ...] = click.get_current_context().meta.get(_LITERAL, ())
    paths = tuple(word for word in words if _is_path(word))
    task_words = [word for word in words if word not in paths]
    for word in task_words:
        if _is_missing(word, is_alone=len(task_words) == 1):
            raise click.UsageError(_missing(word))
    task_words += literal
    return Arguments(paths, " ".join(task_words) if task_words else None)


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


def read_paths_from(source: str, *, tells: bool) -> tuple[str, ...]:
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
    if tells:
        warn_all([f"{name}: no such file, left out" for name in missing])
    return tuple(name for name in names if name not in missing)


def _listed(line: str) -> str:
    """Return the path in a line, without git's quoting."""
    is_quoted = len(line) > 1 and line[0] == line[-1] == '"' and not os.path.lexists(line)
    return unquoted(line[1:-1]) if is_quoted else line


def path_entries(paths: Sequence[str], base_dir: Path) -> tuple[str, ...]:
    """Convert paths to entries of a configuration; folders become globs."""
    return tuple(_entry(path, base_dir) for path in paths)


def _entry(path: str, base_dir: Path) -> str:
    if not os.path.lexists(path):
        return from_here(path, base_dir)
    name = display_path(path, base_dir)
    if not os.path.isdir(path):  # noqa: PTH112 - a name of any form
        return name
    folder = os.path.relpath(path, base_dir).replace(os.sep, "/")
    return ALL_FILES if folder == "." else f"{glob.escape(folder)}/{ALL_FILES}"
