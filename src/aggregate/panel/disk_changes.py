"""Changes on the disk since the last prompt, and the files to watch for them."""

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import is_inside, real_path
from aggregate.panel.composer import ComposedDraft
from aggregate.project.files import SourceFile, display_path, read_file
from aggregate.project.paths import Scope
from aggregate.prompt import File
from aggregate.prompt.asking import files_of_sections
from aggregate.prompt.files import own_output_filter

# A change of these files may change the list of files.
_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
# Temporary names of this program.
HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")


class DiskState:
    """The changes on the disk since the last prompt.

    It is not thread-safe.

    Attributes:
        number: Changes with each noted change on the disk.
        is_watched: Whether the disk is watched; else any file may have changed.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def check_all(self, *, must_list: bool = True) -> None:
        """Make the next composition check all files.

        With ``must_list`` the files are also listed again.
        """
        self.number += 1
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Collection[str], listed: Collection[str], base_dir: Path) -> None:
        """Note changed, new or deleted files; ``listed`` are the known ones."""
        self.number += 1
        if self._changed is not None:
            self._changed.update(paths)
        self._must_list |= any(
            path not in listed
            or path.rpartition("/")[2] in _DECIDING
            or not os.path.lexists(base_dir / path)
            for path in paths
        )

    def take(self) -> tuple[set[str] | None, bool]:
        """Return the files changed since the last call (None: unknown), and whether to list files again."""
        if not self.is_watched:  # any file may have changed
            self.check_all(must_list=False)
        changes = self._changed, self._must_list
        self._changed, self._must_list = set(), False
        return changes


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Return whether all paths are this program's own files.

    Own files are its prompts, records and states. Other files in the same folders do not count: prompts may be in a
    folder of sources.
    """
    if composed is None:
        return False
    request = composed.request
    output, folder = (Path(real_path(path)) for path in (request.output_dir, request.shown_from))
    is_ours = own_output_filter(base_dir, output, request.namespace, folder)
    # New folders are reported with our files in them.
    folders = (str(output), str(folder / "state"))
    return all(path in folders or is_ours(display_path(path, base_dir)) for path in paths)


def read_listed(file: File, scope: Scope) -> SourceFile:
    """Read a file of the panel's file table.

    Refuse a link that leads out of the project.
    """
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="a link out of the project, so not read")
    return read_file(file.file, hashed=True)


def single_files(composed: ComposedDraft) -> list[str]:
    """Return the absolute paths of individually watched files.

    These are named files (ignored or not), files outside the base directory, the discussion, and beads.
    """
    request, project = composed.request, composed.project
    paths = [
        file.file
        for file in composed.selected.values()
        if file.file and (not file.by_glob or file.path.startswith("../"))
    ]
    config = project.path or project.folder / "manual_slop.toml"
    return [*map(os.path.abspath, paths), *files_of_sections(config, request)]
