"""The section of beads, the issues of a project.

Completed beads are on one line, open ones in a list. A bead's text is not trusted. So each bullet begins with a fixed
word, titles are on one line, and longer descriptions are fenced inside their bullet. No text can forge a heading or a
bullet.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from aggregate.base.text import fence, heading_text
from aggregate.project.beads import Bead, Board, Standing, assess, completion_order, hidden

HEADING = "## Beads Mode: Progress Track"
_MAX_WARNINGS = 10  # of a file with many broken lines
_INDENT = "  "
_STATUS = {
    "open": "",
    "in_progress": "in progress",
    "blocked": "blocked",
    "deferred": "deferred",
    "hooked": "hooked",
}


def beads_section(board: Board | None, *, now: datetime) -> str:
    """Render the project's beads with their source and warnings.

    Without beads the text is empty (rule M-52). ``now`` is only compared with ``defer_until``.
    """
    if board is None or not (board.beads or board.warnings):
        return ""
    completed = completion_order([bead for bead in board.beads if hidden(bead) is None])
    active = [
        standing for standing in assess(board.beads, now=now) if hidden(standing.bead) is None
    ]
    blocks = [HEADING]
    if board.source:
        blocks.append(_source(board, completed, active))
    blocks += _warnings(board.warnings)
    if completed:
        blocks.append("Completed: " + ", ".join(map(_name, completed)))
    if active:
        blocks.append("\n".join(map(_bullet, active)))
    return "\n\n".join(blocks)


def _source(board: Board, completed: Sequence[Bead], active: Sequence[Standing]) -> str:
    ready = sum(standing.ready for standing in active)
    line = (
        f"Source: {_one_line(board.source)}. Completed: {len(completed)}. "
        f"Active: {len(active)}, {ready} of them ready."
    )
    reasons = Counter(str(reason) for bead in board.beads if (reason := hidden(bead)))
    if board.deleted:
        reasons["deleted"] = board.deleted
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{line} Not shown: {left_out}." if left_out else line


def _warnings(warnings: Sequence[str]) -> list[str]:
    more = len(warnings) - _MAX_WARNINGS
    lines = [f"Warning: {_one_line(warning)}" for warning in warnings[:_MAX_WARNINGS]]
    return [*lines, f"Warning: {more} more of this kind."] if more > 0 else lines


def _bullet(standing: Standing) -> str:
    bead = standing.bead
    head = f"- {_mark(standing)}, P{bead.priority} {_one_line(bead.issue_type)}: {_name(bead)}"
    lines = [_line(line) for line in bead.description.strip().splitlines()]
    if not lines:
        return head
    text = (
        f"Description: {lines[0]}"
        if len(lines) == 1
        else "Description:\n" + fence("\n".join(lines))
    )
    return f"{head}\n{textwrap.indent(text, _INDENT)}"


def _mark(standing: Standing) -> str:
    """Return ``ready``, or why a bead is not ready."""
    if standing.ready:
        return "ready"
    bead = standing.bead
    until = (
        f" until {bead.defer_until:%Y-%m-%d %H:%M} UTC" if bead.defer_until else " with its parent"
    )
    # Blockers and dates replace the bare status.
    reasons = {bead.status: _STATUS.get(bead.status, f"status {_one_line(bead.status)}")}
    if standing.blockers:
        reasons["blocked"] = "blocked by " + ", ".join(map(_one_line, standing.blockers))
    if standing.deferred:
        reasons["deferred"] = f"deferred{until}"
    return ", ".join(filter(None, reasons.values())) or "open"


def _name(bead: Bead) -> str:
    return f"{_one_line(bead.title) or '(untitled)'} ({_one_line(bead.id)})"


def _one_line(text: str) -> str:
    return heading_text(" ".join(text.split()))


def _line(text: str) -> str:
    return "\t".join(map(heading_text, text.rstrip().split("\t")))
