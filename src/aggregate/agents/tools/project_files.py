"""The project files that tools may read: not ignored ones, secrets, or links to the outside."""

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.project.files import FolderListing, read_file
from aggregate.project.paths import is_secret

MOST_BYTES: Final = 5_000_000  # of a readable file


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The readable files in some root folders; if several have a name, the first root wins."""

    roots: tuple[Path, ...]

    def read(self, name: str) -> tuple[str, str]:
        """Return a file's root-relative name and its text."""
        relative, path = self.find(name)
        return relative, text_of(path, relative)

    def find(self, name: str) -> tuple[str, Path]:
        """Return a file's root-relative name and its path."""
        for root, relative in self._candidates(name):
            path = _allowed(root, relative, _listed(root))
            if path is not None:
                return relative, path
        raise ToolError(
            f'"{quoted(name)}" is not a readable file of the project: list_directory shows those'
        )

    def place(self, name: str) -> tuple[str, Path]:
        """Return the name and path for a new file; raise ``ToolError`` for links and secrets."""
        root, relative = self._candidates(name)[0]
        parts = PurePosixPath(relative).parts
        folders = [root.joinpath(*parts[:i]) for i in range(1, len(parts) + 1)]
        if is_secret(relative) or ".git" in parts or any(path.is_symlink() for path in folders):
            raise ToolError(f'"{quoted(name)}" cannot be written')
        if folders[-1].exists():
            raise ToolError(f'"{quoted(name)}" exists: change it with replace_text')
        return relative, folders[-1]

    def takes(self, root: Path, name: str) -> bool:
        return name in _listed(root)

    def below(self, folder: str) -> list[tuple[str, Path]]:
        """Return names and real paths of readable files below ``folder``."""
        readable: list[tuple[str, Path]] = []
        for root, relative in self._candidates(folder):
            listed = _listed(root)
            for name in sorted(listed):
                if relative not in (".", name) and not name.startswith(f"{relative}/"):
                    continue
                path = _allowed(root, name, listed)
                if path is not None:
                    readable.append((name, path))
        if not readable:
            raise ToolError(
                f'"{quoted(folder)}" is not a folder of the project with readable files'
            )
        return readable

    def entries(self, folder: str) -> list[str]:
        entries: set[str] = set()
        names = [name for name, _ in self.below(folder)]
        for _, relative in self._candidates(folder):
            prefix = "" if relative == "." else f"{relative}/"
            for name in names:
                if name.startswith(prefix):
                    entry, slash, _ = name.removeprefix(prefix).partition("/")
                    entries.add(entry + slash)
        if not entries:
            raise ToolError(f'"{quoted(folder)}" is a file: read_file shows it')
        return sorted(entries)

    def _candidates(self, name: str) -> list[tuple[Path, str]]:
        """Return possible roots of ``name``, each with its relative name."""
        if not name.strip() or "\0" in name or len(name) > 4096:
            raise ToolError("a path has 1 to 4,096 characters and no NUL")
        plain = name.replace("\\", "/") if os.sep == "\\" else name
        if ".." in PurePosixPath(plain).parts:
            raise ToolError(f'"{quoted(name)}" contains "..": paths begin at the project\'s root')
        path = PurePosixPath(posixpath.normpath(plain))
        if not path.is_absolute():
            return [(root, path.as_posix()) for root in self.roots]
        bases = [(root, Path(os.path.abspath(root)).as_posix()) for root in self.roots]
        inside = [
            (root, path.relative_to(base).as_posix())
            for root, base in bases
            if path.is_relative_to(base)
        ]
        if not inside:
            raise ToolError(f'"{quoted(name)}" is outside of the project: paths begin at its root')
        return inside


def text_of(path: Path, name: str) -> str:
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ToolError(f"{name}: too large: {size:,} bytes, the limit is {MOST_BYTES:,}")
    source = read_file(path)
    if source.error:
        raise ToolError(f"{name}: {source.error}")
    return source.text


def _allowed(root: Path, name: str, listed: frozenset[str]) -> Path | None:
    if name not in listed or is_secret(name):
        return None
    try:
        base = root.resolve()
        real = (base / name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if not real.is_relative_to(base) or not real.is_file():
        return None
    target = real.relative_to(base).as_posix()
    return None if target not in listed or is_secret(target) else real


def _listed(root: Path) -> frozenset[str]:
    """Return all files below a root that git does not ignore, listed anew each time."""
    return frozenset(FolderListing().files(str(root)))


def quoted(name: str) -> str:
    return ascii(name[:100])[1:-1]
