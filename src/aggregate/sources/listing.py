"""From the user's entries to files: plain paths, absolute paths and globs."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from aggregate.disk.reading import is_file
from aggregate.paths.globs import compile_glob, is_glob, split_root
from aggregate.sources.git import list_files
from aggregate.sources.walk import walk_files


@dataclass(frozen=True, slots=True)
class Resolved:
    """What one entry stands for.

    Attributes:
        folder: Where the names below begin.
        names: The files, relative to ``folder``; for a plain entry the one path, whether it exists or not.
        skipped: Matches that were left out, each with the reason.
        is_glob: Whether the entry has wildcards.
    """

    folder: str
    names: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    is_glob: bool = False


@dataclass(slots=True)
class Listing:
    """The files below folders, each folder listed once: by git in a repository, by its ignore files elsewhere."""

    _files: dict[str, list[str]] = field(default_factory=dict)

    def files(self, folder: str) -> list[str]:
        """Return the files below ``folder`` that are not ignored, relative to it, sorted."""
        if folder not in self._files:
            listed = list_files(folder)
            self._files[folder] = walk_files(folder) if listed is None else listed
        return self._files[folder]

    def resolve(self, base_dir: str | Path, entry: str) -> Resolved:
        """Return the files that ``entry`` stands for (rule M-2).

        A plain or absolute path stands for itself, also where it is ignored or missing. A glob stands for the files
        that match and are not ignored, sorted; a link that leaves the folder is skipped. The discussion's own files
        (``history.toml``, ``*_history.toml``) never count.
        """
        base = str(base_dir)
        entry = entry.replace("\\", "/") if os.sep == "\\" else entry
        if not is_glob(entry) or is_file(os.path.join(base, entry)):  # a name may hold brackets
            return Resolved(base, () if is_history(entry) else (entry,))
        root, pattern = split_root(entry)
        folder = os.path.normpath(os.path.join(base, root))
        matches = compile_glob(pattern).match
        names: list[str] = []
        skipped: list[tuple[str, str]] = []
        for name in self.files(folder):
            if not matches(name) or is_history(name):
                continue
            reason = _why_not(f"{folder}/{name}", folder)
            if reason is None:
                names.append(name)
            elif reason:
                skipped.append((name, reason))
        return Resolved(folder, tuple(names), tuple(skipped), is_glob=True)


def resolve_paths(base_dir: Path, entry: str) -> list[Path]:
    """Return the files that ``entry`` stands for, relative to ``base_dir``; see ``Listing.resolve`` (rule M-2)."""
    found = Listing().resolve(base_dir, entry)
    return [Path(found.folder, name) for name in found.names]


def is_history(name: str) -> bool:
    """Tell whether a file holds discussion history, which is never aggregated as a file."""
    if name[-12:].lower() != "history.toml":
        return False
    last = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return last == "history.toml" or last.endswith("_history.toml")


def _why_not(path: str, folder: str) -> str | None:
    """Return ``None`` for a file to take, ``""`` for what is no file, or the reason for leaving it out."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""  # tracked by git, deleted on disk
    if stat.S_ISREG(mode):
        return None
    if not stat.S_ISLNK(mode):
        return ""
    target = Path(os.path.realpath(path))  # unlike Path.resolve it takes links that go round in circles
    if not target.is_relative_to(os.path.realpath(folder)):
        return "a link that leaves the folder; name it without a wildcard to take it"
    return None if target.is_file() else ""
