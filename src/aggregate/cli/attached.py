"""Files and images that a chat adds to its prompts, or leaves out."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aggregate.base.disk.reading import is_file
from aggregate.base.errors import ConfigError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import Place, Task
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.paths import is_glob
from aggregate.prompt import find_screenshots, read_images
from aggregate.prompt.asking import ALL_FILES, Request, scope_of
from aggregate.sending import LARGEST_IMAGE


@dataclass(frozen=True, slots=True)
class Attached:
    """Attached images, attached files and excluded files of a session.

    All are paths and globs as in a configuration.
    """

    files: tuple[str, ...] = ()  # shown in full, also beyond a budget; globs as usual
    left_out: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # relative to the folder of screenshots, or absolute

    def with_files(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Return these attachments and more files, globs or folders; raise ``ConfigError`` for unreadable ones."""
        new = tuple(_entry(project, path) for path in paths)
        left_out = tuple(path for path in self.left_out if path not in new)
        return replace(self, files=(*_but(self.files, new), *new), left_out=left_out)

    def without(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Exclude paths from the attachments and from the prompts."""
        paths = tuple(paths)
        old = tuple(_entry(project, path) for path in paths if path not in self.images)
        left_out = (*_but(self.left_out, old), *old)
        return Attached(_but(self.files, old), left_out, _but(self.images, paths))

    def with_images(self, project: Project, paths: Iterable[str]) -> "Attached":
        """Return these attachments and more images; raise ``ConfigError`` for unusable ones."""
        paths = tuple(paths)
        folder = project.folder / project.config.screenshots.base_dir
        listing = FolderListing(scope_of(project))
        images = find_screenshots(folder, paths, shown_from=project.folder, listing=listing)
        for image in images:
            if image.refused:
                raise ConfigError(f"{image.path} may not be read: {image.refused}")
            if not image.exists:
                raise ConfigError(f"no such image: {image.path}")
        if problems := read_images(images, limit=LARGEST_IMAGE)[1]:
            raise ConfigError(problems[0])
        return replace(self, images=(*_but(self.images, paths), *paths))

    def of(self, request: Request) -> Request:
        """Return a request with the attached files and images, and without the excluded files."""
        remaining = (entry for entry in request.entries if entry.item.path not in self.left_out)
        added = (Entry(FileItem(path, force_full=not is_glob(path))) for path in self.files)
        task = request.task
        places = [Place(path) for path in self.files if not is_glob(path)]
        if request.budget is not None and places:
            task = replace(task or Task(), focus=(*(task or Task()).focus, *places))
        return replace(
            request,
            entries=(*remaining, *added),
            exclude=(*request.exclude, *(f"/{path}" for path in self.left_out)),
            screenshots=(*request.screenshots, *_but(self.images, request.screenshots)),
            task=task,
        )


def _but(paths: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in others)


def _entry(project: Project, path: str) -> str:
    """Return the configuration's entry for a path.

    The entry of a folder is a glob, the entry of a file is its path.
    """
    base = project.folder / project.config.files.base_dir
    if (base / path).is_dir():
        path = f"{path.rstrip('/')}/{ALL_FILES}"
    resolved = FolderListing(scope_of(project)).resolve(base, path)
    if resolved.refused:
        raise ConfigError(f"{path} may not be read: {resolved.refused}")
    if not any(is_file(os.path.join(resolved.folder, name)) for name in resolved.names):
        raise ConfigError(f"no such file in the project: {path}")
    return path
