"""The files that a prompt depends on, and that nobody tells of who watches the folders of its sources alone."""

import os

from aggregate.panel.composing import ComposedDraft
from aggregate.prompt import files_of_sections


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
