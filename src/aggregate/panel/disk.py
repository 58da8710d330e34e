"""What is known of changes on the disk between two prompts."""

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from aggregate.base.disk import is_inside, real_path
from aggregate.base.values import Scope
from aggregate.panel.composing import ComposedDraft
from aggregate.project.files import SourceFile, display_path, read_file
from aggregate.prompt import ResolvedFile, files_of_sections, own_output_filter

# Names of files that decide on others, so that the listing may be another one.
_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
# What a file is called while it is written, by this program.
HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")


class DiskState:
    """Collects what was changed until the next prompt; for one thread at a time.

    Attributes:
        number: Of the state that is known: as long as it is the same, no file was changed.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def look_anew(self, *, must_list: bool = True) -> None:
        """Let the next prompt look at all files that are listed, and list them anew where there may be others."""
        self.number += 1
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Collection[str], listed: Collection[str], base_dir: Path) -> None:
        """Note that files were changed, made or deleted."""
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
        """Return the files that were changed, ``None`` where that is not known, and whether there may be other files.

        What comes then is for the next prompt.
        """
        if not self.is_watched:  # whatever is on the disk may have been changed
            self.look_anew(must_list=False)
        taken = self._changed, self._must_list
        self._changed, self._must_list = set(), False
        return taken


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Tell whether all of these absolute paths are what we have written ourselves: prompts, records, states.

    Not whatever lies beside them: the folder of the prompts may be one of sources too.
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
