"""What is known of changes on the disk between two prompts."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk import is_inside, real_path
from aggregate.base.values import Scope
from aggregate.panel.composing import ComposedDraft
from aggregate.project.files import SourceFile, read_file
from aggregate.prompt import ResolvedFile, display_path, files_of_sections, own_output_filter

_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
"""Names of files that decide on others, so that the listing may be another one."""


class DiskChanges(NamedTuple):
    """What the next prompt has to look at.

    Attributes:
        disk: The number of the disk's state: as long as it is the same, no file was changed.
        changed: The files that were changed, ``None`` where that is not known.
        must_list: Whether there may be other files.
    """

    disk: int
    changed: set[str] | None
    must_list: bool


class DiskState:
    """Collects what was changed until the next prompt; for one thread at a time.

    Attributes:
        number: Of the state that is known.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def look_anew(self) -> None:
        """Let the next prompt look at everything."""
        self.number += 1
        self._changed, self._must_list = None, True

    def forget_changes(self, *, must_list: bool) -> None:
        """Let the next prompt look at all files that are listed: what came of the last changes is not known.

        Args:
            must_list: Whether the files could not be listed, though there may be others.
        """
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Iterable[str], listed: Collection[str], *, gone: Collection[str]) -> None:
        """Note that files were changed, made or deleted.

        Args:
            paths: These, as the prompt shows them.
            listed: All files that are known.
            gone: Those of the paths at which there is nothing any more.
        """
        changed = [*paths]
        self.number += 1
        if self._changed is not None:
            self._changed.update(changed)
        self._must_list |= any(
            path not in listed or path.rpartition("/")[2] in _DECIDING or path in gone
            for path in changed
        )

    def take(self) -> DiskChanges:
        """Return what was changed, for a prompt that looks at it; what comes then is for the next one."""
        if not self.is_watched:  # whatever is on the disk may have been changed
            self.number += 1
            self._changed = None
        changes = DiskChanges(self.number, self._changed, self._must_list)
        self._changed, self._must_list = set(), False
        return changes


_HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")
"""What a file is called while it is written, by this program."""


def whole_files(paths: Iterable[str]) -> list[str]:
    """Return the paths without those of files that this program has not written to their end."""
    return [path for path in paths if not _HALF_WRITTEN.search(path)]


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Tell whether all of these are what we have written ourselves: prompts, records, states.

    Not whatever lies beside them: the folder of the prompts may be one of sources too.

    Args:
        paths: Absolute ones.
        composed: What was composed last, which says where prompts are written.
        base_dir: Where its files lie, links resolved.
    """
    if composed is None:
        return False
    request = composed.request
    output, folder = (Path(real_path(path)) for path in (request.output_dir, request.shown_from))
    is_ours = own_output_filter(base_dir, output, request.namespace, folder)
    # A folder comes with what was written into it.
    folders = (str(output), str(folder / "state"))
    return all(path in folders or is_ours(display_path(path, base_dir)) for path in paths)


def read_listed(file: ResolvedFile, scope: Scope) -> SourceFile:
    """Return a file that was listed, as it is now; a link out of the project that has come since is not followed."""
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="is a link out of the project: not read")
    return read_file(file.file, hashed=True)


def single_files(composed: ComposedDraft) -> list[str]:
    """Return the absolute paths of files to be watched one by one, wherever they lie and whatever ignores them.

    These are the files that an entry names or that lie outside of the base directory, the discussion, and beads.
    """
    request, project = composed.request, composed.project
    paths = [
        file.file
        for file in composed.selected.values()
        if file.file and (not file.by_glob or file.path.startswith("../"))
    ]
    config = project.path or project.folder / "manual_slop.toml"
    return [*map(os.path.abspath, paths), *files_of_sections(config, request)]
