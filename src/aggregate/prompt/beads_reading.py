"""The beads of a project: read here, rendered by the section."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from aggregate.project.beads import read_board
from aggregate.prompt.sections.beads import beads_section


def build_beads_section(
    base_dir: str | Path,
    *,
    environ: Mapping[str, str] | None = None,
    now: datetime | None = None,
    root: str = "",
) -> str:
    """Find, read and render the beads of the project around ``base_dir`` (rule M-8).

    Args:
        base_dir: Where the project is looked for.
        environ: For ``BEADS_DIR`` and for ``PATH``, where ``bd`` is looked for; the process's own
            by default.
        now: Compared with ``defer_until`` only; the current time by default.
        root: The real path of the folder that the beads must lie in; by default they may lie
            anywhere.

    Returns:
        The section, or ``""`` where there is no project of beads or no bead in it.
    """
    board = read_board(
        Path(base_dir), environ=os.environ if environ is None else environ, root=root
    )
    return beads_section(board, now=now or datetime.now(UTC))
