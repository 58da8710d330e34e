"""From entries to the list of files to read, each once."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregate.models.entry import Entry
from aggregate.paths.ignore import IgnoreRules
from aggregate.sources.listing import Listing


@dataclass(frozen=True, slots=True)
class Selected:
    """A file to read, or an entry that stands for none.

    Attributes:
        path: As the prompt shows it: relative to the base directory with ``/``, absolute where it lies outside.
        file: Where it is, ``""`` for an entry that matched nothing.
        entry: How it is shown; ``entry.item.path`` is still the caller's path or glob.
        named: The entry as the caller wrote it.
    """

    path: str
    file: str
    entry: Entry
    named: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of a prompt in order, and what was left out with the reason."""

    files: tuple[Selected, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def select(
    base_dir: Path,
    entries: Iterable[Entry],
    *,
    left_out: Callable[[str], bool] = lambda _: False,
    listing: Listing | None = None,
) -> Selection:
    """Resolve ``entries`` below ``base_dir``.

    A file stands once, where it is first named. An entry without wildcards decides how it is shown, before any glob;
    of two entries of one kind the later one decides. ``left_out`` is asked for files that a glob found.
    """
    listing = listing or Listing()
    places: dict[str, Selected] = {}
    by_glob: dict[str, bool] = {}
    skipped: list[tuple[str, str]] = []
    for entry in entries:
        named = entry.item.path
        found = listing.resolve(base_dir, named)
        skipped += found.skipped
        prefix = display_prefix(found.folder, base_dir)
        taken = 0
        for name in found.names:
            path = prefix + name if found.is_glob else display_path(os.path.join(found.folder, name), base_dir)
            if found.is_glob and left_out(path):
                continue
            taken += 1
            if found.is_glob and not by_glob.get(path, True):
                continue
            places[path] = Selected(path, os.path.join(found.folder, name), entry, named)
            by_glob[path] = found.is_glob
        if found.is_glob and not taken:
            places[named] = Selected(named, "", entry, named)
    return Selection(tuple(places.values()), tuple(skipped))


def display_path(file: str | Path, base_dir: str | Path) -> str:
    """Return ``file`` relative to ``base_dir`` with ``/``, or absolute where it lies outside."""
    folder, name = os.path.split(os.path.abspath(file))
    return display_prefix(folder, base_dir) + name


def display_prefix(folder: str | Path, base_dir: str | Path) -> str:
    """Return what stands before a name in ``folder``: ``""`` for ``base_dir`` itself, else a path ending with ``/``."""
    root, absolute = (f"{os.path.abspath(one).rstrip(os.sep)}{os.sep}" for one in (base_dir, folder))
    return absolute.removeprefix(root).replace(os.sep, "/")


def own_output(base_dir: Path, output_dir: Path, namespace: str) -> Callable[[str], bool]:
    """Return a test for the prompts and records of earlier runs, which no glob may feed back into the next one."""
    folder, stem = re.escape(display_prefix(output_dir, base_dir)), re.escape(namespace)
    name = re.compile(rf"{folder}(?:{stem}_[0-9]+\.md|\.{stem}_[0-9]+\.chain\.json)")
    return lambda path: name.fullmatch(path) is not None


def excluded(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for paths that match one of the user's exclude patterns, written as in ``.gitignore``."""
    return IgnoreRules().below("", patterns).hides
