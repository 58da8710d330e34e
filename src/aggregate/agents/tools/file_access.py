"""Which files of a project a model may see: below the roots, not ignored, no secrets, through no link out of them."""

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.project.files import FolderListing, read_file
from aggregate.project.paths import is_secret

MOST_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The files below some folders; names are looked for in the first, then in the others."""

    roots: tuple[Path, ...]

    def find(self, name: str) -> tuple[Path, str]:
        """Return a file's real path, and its name relative to its root.

        Raises:
            ToolError: There is none that may be shown; the message does not say whether something is there.
        """
        for root, relative in self._candidates(name):
            path = _allowed(root, relative, _listed(root))
            if path is not None:
                return path, relative
        raise ToolError(
            f'"{_quoted(name)}" is no file of the project that may be read: list_directory shows those'
        )

    def read(self, name: str) -> tuple[str, str]:
        """Return a file's name relative to its root, and its text.

        Raises:
            ToolError: It may not be shown, is too large, or is no text.
        """
        path, relative = self.find(name)
        return relative, read_project_text(path, relative)

    def below(self, folder: str) -> list[tuple[str, Path]]:
        """Return the name and the real path of each file that may be read below ``folder``, sorted, root by root.

        A file stands for itself.

        Raises:
            ToolError: ``folder`` leads out of the roots, or there is no such file.
        """
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
                f'"{_quoted(folder)}" is no folder of the project with files that may be read'
            )
        return readable

    def entries(self, folder: str) -> list[str]:
        """Return what stands directly in ``folder``, sorted; folders end with a slash.

        Raises:
            ToolError: ``folder`` leads out of the roots, or holds nothing that may be read.
        """
        entries: set[str] = set()
        names = [name for name, _ in self.below(folder)]
        for _, relative in self._candidates(folder):
            prefix = "" if relative == "." else f"{relative}/"
            for name in names:
                if name.startswith(prefix):
                    entry, slash, _ = name.removeprefix(prefix).partition("/")
                    entries.add(entry + slash)
        if not entries:
            raise ToolError(f'"{_quoted(folder)}" is a file: read_file shows it')
        return sorted(entries)

    def _candidates(self, name: str) -> list[tuple[Path, str]]:
        """Return each root with ``name`` relative to it, by text alone; an absolute one belongs to its root."""
        if not name.strip() or "\0" in name or len(name) > 4096:
            raise ToolError("a path has 1 to 4,096 characters and no NUL")
        plain = name.replace("\\", "/") if os.sep == "\\" else name
        if ".." in PurePosixPath(plain).parts:
            raise ToolError(f'"{_quoted(name)}" holds "..": paths begin at the project\'s root')
        path = PurePosixPath(posixpath.normpath(plain))
        if not path.is_absolute():
            return [(root, path.as_posix()) for root in self.roots]
        inside = [root for root in self.roots if path.is_relative_to(_absolute(root))]
        if not inside:
            raise ToolError(
                f'"{_quoted(name)}" lies outside of the project: paths begin at its root'
            )
        return [(root, path.relative_to(_absolute(root)).as_posix()) for root in inside]


def read_project_text(path: Path, name: str) -> str:
    """Return the text of the file at ``path``, which is called ``name``.

    Raises:
        ToolError: It is too large, or no text.
    """
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ToolError(f"{name}: too large: {size:,} bytes, the most is {MOST_BYTES:,}")
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
    """Return the files that are not ignored, asked anew each time: a goal may make files while it runs."""
    return frozenset(FolderListing().files(str(root)))


def _absolute(root: Path) -> str:
    return Path(os.path.abspath(root)).as_posix()


def _quoted(name: str) -> str:
    return ascii(name[:100])[1:-1]
