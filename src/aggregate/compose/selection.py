"""From entries to the list of files to read, each once."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregate.models.entry import Entry
from aggregate.sources.listing import Listing


@dataclass(frozen=True, slots=True)
class Selected:
    """A file to read, or an entry that stands for none.

    Attributes:
        path: As the prompt shows it: relative to the base directory with ``/``, absolute where it lies outside.
        file: Where it is, ``None`` for an entry that matched nothing.
        entry: How it is shown.
        named: The entry as the caller wrote it.
    """

    path: str
    file: Path | None
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
    left_out: Callable[[Path], bool] = lambda _: False,
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
        resolved = listing.resolve(base_dir, named)
        skipped += resolved.skipped
        files = [file for file in resolved.paths if not (resolved.is_glob and left_out(file))]
        if resolved.is_glob and not files:
            places[named] = Selected(named, None, entry, named)
        for file in files:
            path = display_path(file, base_dir)
            if not by_glob.get(path, True) and resolved.is_glob:
                continue
            places[path] = Selected(path, file, entry.at(path), named)
            by_glob[path] = resolved.is_glob
    return Selection(tuple(places.values()), tuple(skipped))


def display_path(file: Path, base_dir: Path) -> str:
    """Return ``file`` relative to ``base_dir`` with ``/``, or absolute where it lies outside."""
    root = os.path.abspath(base_dir)
    absolute = os.path.normpath(os.path.join(root, file))
    inside = absolute.startswith(root.rstrip(os.sep) + os.sep)
    return (absolute[len(root.rstrip(os.sep)) + 1 :] if inside else absolute).replace(os.sep, "/")


def own_output(output_dir: Path, namespace: str) -> Callable[[Path], bool]:
    """Return a test for the prompts that earlier runs wrote, which no glob may feed back into the next one."""
    folder = os.path.abspath(output_dir)
    name = re.compile(rf"{re.escape(namespace)}_\d+\.md\Z")
    return lambda file: name.match(file.name) is not None and os.path.abspath(file.parent) == folder


def excluded(base_dir: Path, patterns: Sequence[str]) -> Callable[[Path], bool]:
    """Return a test for files that match one of the user's exclude patterns, written as in ``.gitignore``."""
    from pathspec import GitIgnoreSpec  # 30 ms, needed only where patterns are given

    spec = GitIgnoreSpec.from_lines(patterns)
    return lambda file: spec.match_file(display_path(file, base_dir))
