"""From entries to the list of files to read, each once."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aggregate.errors import ConfigError
from aggregate.models.entry import Entry
from aggregate.models.scope import ALLOW_SECRETS
from aggregate.paths.ignore_rules import IgnoreRules, TooManyRulesError
from aggregate.sources.path_resolution import FolderListing
from aggregate.text.fences import heading_text

MOST_NAMED = 3
"""Files that a note names before it counts the rest."""
_TAKE_SECRETS = f", to take one name it and add {ALLOW_SECRETS}"


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    """A file to read, or an entry that stands for none.

    Attributes:
        path: As the prompt shows it: relative to the base directory with ``/``.
        file: Where it is, ``""`` for what is not read.
        entry: How it is shown; ``entry.item.path`` is still the caller's path or glob.
        named: The entry as the caller wrote it.
        by_glob: Whether a glob has found it.
        problem: Why it is not read, or not whole, ``""`` for a file to read.
        refused: Whether it is not read because the scope does not allow it.
        is_note: Whether the problem is a remark about a glob that has found other files.
    """

    path: str
    file: str
    entry: Entry
    named: str
    by_glob: bool = False
    problem: str = ""
    refused: bool = False
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a prompt in order, and what was left out with the reason."""

    files: tuple[ResolvedFile, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def resolve_entries(
    base_dir: Path,
    entries: Iterable[Entry],
    *,
    left_out: Callable[[str], bool] = lambda _: False,
    listing: FolderListing | None = None,
) -> Selection:
    """Resolve ``entries`` below ``base_dir``.

    A file stands once, where it is first named. An entry without wildcards decides how it is shown, before any glob;
    of two entries of one kind the later one decides. ``left_out`` is asked for files that a glob found. An entry that
    may not be read, and a glob that stands for nothing or meets secrets, stands there with the reason.
    """
    listing = listing or FolderListing()
    places: dict[str, ResolvedFile] = {}
    skipped: dict[str, str] = {}
    for entry in entries:
        named = entry.item.path
        found = listing.resolve(base_dir, named)
        if not found.is_glob:
            for name in found.names:
                path = display_path(os.path.join(base_dir, name), base_dir)
                file = "" if found.refused else found.real or os.path.join(base_dir, name)
                places[path] = ResolvedFile(
                    path, file, entry, named, problem=found.refused, refused=bool(found.refused)
                )
            continue
        prefix = display_prefix(found.folder, base_dir)
        skipped |= {prefix + name: reason for name, reason in found.skipped}
        taken = [(prefix + name, name) for name in found.names if not left_out(prefix + name)]
        for path, name in taken:
            if path not in places or places[path].by_glob:
                places[path] = ResolvedFile(path, os.path.join(found.folder, name), entry, named, by_glob=True)
        secrets = [prefix + name for name in found.secrets if not left_out(prefix + name)]
        if secrets:
            places[named] = omission_note(entry, "secret-looking", secrets, hint=_TAKE_SECRETS)
        elif problem := found.refused or ("" if taken else _nothing(listing, base_dir, named)):
            places[named] = ResolvedFile(named, "", entry, named, problem=problem, refused=bool(found.refused))
    problems = {display_prefix(folder, base_dir).rstrip("/") or ".": why for folder, why in listing.problems()}
    left = {path: reason for path, reason in (skipped | problems).items() if path not in places}
    return Selection(tuple(places.values()), tuple(left.items()))


def _nothing(listing: FolderListing, base_dir: Path, glob: str) -> str:
    """Return why a glob stands for no file."""
    ignored = listing.ignored(base_dir, glob)
    if ignored:
        return f"all files that match this pattern are ignored or excluded, such as {ignored[0]}; name one to take it"
    return "no file matches this pattern"


def omission_note(entry: Entry, what: str, paths: Sequence[str], *, hint: str = "") -> ResolvedFile:
    """Return the remark that files which a glob matches are not shown: how many, the names of the first, what to do."""
    more = len(paths) - MOST_NAMED
    names = ", ".join(map(heading_text, paths[:MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")
    problem = f"{len(paths):,} matching file{'s' if len(paths) > 1 else ''} left out as {what} ({names}){hint}"
    return ResolvedFile(entry.item.path, "", entry, entry.item.path, problem=problem, is_note=True)


def display_path(file: str | Path, base_dir: str | Path) -> str:
    """Return ``file`` relative to ``base_dir`` with ``/``, also where it lies outside: ``../other/c.py``."""
    folder, name = os.path.split(os.path.abspath(file))
    return display_prefix(folder, base_dir) + name


def display_prefix(folder: str | Path, base_dir: str | Path) -> str:
    """Return what stands before a name in ``folder``: ``""`` for ``base_dir`` itself, else a path ending with ``/``."""
    root, absolute = (f"{os.path.abspath(one).rstrip(os.sep)}{os.sep}" for one in (base_dir, folder))
    if not absolute.startswith(root):
        try:
            return os.path.relpath(absolute, root).replace(os.sep, "/") + "/"
        except ValueError:  # on another drive of Windows
            return absolute.replace(os.sep, "/")
    return absolute.removeprefix(root).replace(os.sep, "/")


def own_output_filter(base_dir: Path, output_dir: Path, namespace: str, folder: Path) -> Callable[[str], bool]:
    """Return a test for what this program has written, which no glob may feed back into the next prompt.

    Below the output folder: numbered prompts with their records and replies, also those of another namespace if their
    record lies there, and the folders of a track's runs. Below the configuration's ``folder``: states and caches in
    ``state/``. Anywhere: what a killed run has left half written.
    """
    output = display_prefix(output_dir, base_dir)
    stem = re.escape(namespace)
    number = r"_[0-9]+(?:\.[a-z]+)?\.md"
    ours = re.compile(
        rf"{re.escape(output)}(?:{stem}{number}|\.[^/]+_[0-9]+\.[a-z]+\.json|[^/]+_[0-9]{{3,}}/(?:report|[0-9]{{3,}}_[^/]+)\.md)"
        rf"|{re.escape(display_prefix(folder / 'state', base_dir))}"
        r"(?:data_cache/.*|(?:conductor\.sqlite|state\.db)(?:-wal|-shm|-journal)?)"
        r"|(?:.*/)?\.[^/]+-[0-9a-f]{16}\.tmp",
        re.DOTALL,
    )
    numbered = re.compile(rf"{re.escape(output)}([^/]+_[0-9]+)(?:\.[a-z]+)?\.md")

    def is_ours(path: str) -> bool:
        if ours.fullmatch(path):
            return True
        match = numbered.fullmatch(path)
        return match is not None and os.path.lexists(output_dir / f".{match[1]}.chain.json")

    return is_ours


def exclude_filter(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for paths that match one of the user's exclude patterns, written as in ``.gitignore``.

    Raises:
        ConfigError: There are too many.
    """
    try:
        rules = IgnoreRules().below("", patterns)
    except TooManyRulesError as error:
        raise ConfigError(f"files.exclude {error}: shorten it", key="files.exclude") from None
    hides_folder = cache(rules.hides_folder)
    return lambda path: rules.ignores(path, is_folder=False) or hides_folder(path.rpartition("/")[0])
