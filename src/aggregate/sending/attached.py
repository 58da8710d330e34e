"""What a session shows beside what the configuration names, and what it leaves out; nothing of it is kept."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import is_file, read_text
from aggregate.base.errors import ConfigError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task import Place, Task
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.paths import is_glob
from aggregate.prompt import ALL_FILES, Request, find_screenshots, read_images, scope_of
from aggregate.sending.known_models import LARGEST_IMAGE

_MOST_COUNTED: Final = 300_000  # bytes of a file whose tokens are counted while one types
_MOST_FOUND: Final = 12  # files that are offered for a word
_MENTION: Final = re.compile(r"(?<!\S)@(\S+)")


@dataclass(frozen=True, slots=True)
class Attached:
    """Paths and globs as a configuration writes them; they hold beside its files or those of a preset."""

    files: tuple[str, ...] = ()  # shown in full, with a budget whatever they cost; globs as usual
    left_out: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # relative to the folder of screenshots, or absolute

    def with_files(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Add files, globs or folders; a ``ConfigError`` says which is not there or may not be read."""
        new = tuple(_entry(project, path) for path in paths)
        left_out = tuple(path for path in self.left_out if path not in new)
        return replace(self, files=(*_but(self.files, new), *new), left_out=left_out)

    def without(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Leave out files, globs or folders, whoever named them, and images that were attached."""
        paths = tuple(paths)
        old = tuple(_entry(project, path) for path in paths if path not in self.images)
        left_out = (*_but(self.left_out, old), *old)
        return Attached(_but(self.files, old), left_out, _but(self.images, paths))

    def with_images(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Add images; a ``ConfigError`` says which is none, is too large, or may not be read."""
        paths = tuple(paths)
        folder = project.folder / project.config.screenshots.base_dir
        listing = FolderListing(scope_of(project))
        found = find_screenshots(folder, paths, shown_from=project.folder, listing=listing)
        refused = (f"{each.path} may not be read: {each.refused}" for each in found if each.refused)
        missing = (f"there is no image {each.path}" for each in found if not each.exists)
        for problem in (*refused, *missing, *read_images(found, limit=LARGEST_IMAGE)[1]):
            raise ConfigError(problem)
        return replace(self, images=(*_but(self.images, paths), *paths))

    def of(self, request: Request) -> Request:
        """Return the request with what is attached, and without what is left out."""
        stay = (entry for entry in request.entries if entry.item.path not in self.left_out)
        # With wildcards they are shown as those of the configuration.
        added = (Entry(FileItem(path, force_full=not is_glob(path))) for path in self.files)
        task = request.task
        places = [Place(path) for path in self.files if not is_glob(path)]
        if request.budget is not None and places:
            task = replace(task or Task(), focus=(*(task or Task()).focus, *places))
        return replace(
            request,
            entries=(*stay, *added),
            exclude=(*request.exclude, *(f"/{path}" for path in self.left_out)),
            screenshots=(*request.screenshots, *_but(self.images, request.screenshots)),
            task=task,
        )


def _but(paths: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in others)


def _entry(project: Project, path: str) -> str:
    """Return what stands for a path in a configuration: for a folder all its files."""
    base = project.folder / project.config.files.base_dir
    if (base / path).is_dir():
        path = f"{path.rstrip('/')}/{ALL_FILES}"
    resolved = FolderListing(scope_of(project)).resolve(base, path)
    if resolved.refused:
        raise ConfigError(f"{path} may not be read: {resolved.refused}")
    if not any(is_file(os.path.join(resolved.folder, name)) for name in resolved.names):
        raise ConfigError(f"there is no file {path}: name one of the project")
    return path


def find_files(project: Project, word: str) -> list[tuple[str, int | None]]:
    """Return files with ``word`` in their paths and their tokens; those whose names begin with it come first."""
    base, word = project.folder / project.config.files.base_dir, word.lower()
    names = FolderListing(scope_of(project)).resolve(base, ALL_FILES).names
    found = [name for name in names if word in name.lower()]
    found.sort(key=lambda name: (f"/{word}" not in f"/{name.lower()}", len(name), name))
    return [(name, file_tokens(base / name)) for name in found[:_MOST_FOUND]]


def mentioned_paths(message: str) -> list[str]:
    """Return what a message names as ``@path``."""
    return [match[1].rstrip(".,;:!?)") for match in _MENTION.finditer(message)]


def file_tokens(file: Path) -> int | None:
    """Return the o200k tokens of a text, ``None`` for what is none, or is too long to be counted while one waits."""
    try:
        return _counted(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1_000)
def _counted(file: Path, _modified: int) -> int:
    return count(read_text(file, limit=_MOST_COUNTED))
