"""What a prompt is made of beside the project's files."""

import os
from pathlib import Path

from aggregate.project.beads import possible_beads_files
from aggregate.project.history import find_history_file
from aggregate.prompt.request import Request


def files_of_sections(config: Path, request: Request) -> list[str]:
    """Return the absolute paths of the discussion, if there is one, and of where beads may lie.

    Args:
        config: The project's configuration, whether there is one or not: a discussion lies beside it.
        request: Says which discussion, and whether beads are shown.
    """
    history = find_history_file(config, request.discussion)
    beads = possible_beads_files(request.base_dir, environ=os.environ) if request.beads else []
    return [os.path.abspath(path) for path in (*([history] if history else ()), *beads)]
