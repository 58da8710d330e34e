"""Beads: the issues of a project that is tracked with Beads, as far as a prompt shows them."""

from dataclasses import dataclass
from datetime import datetime

COMPLETED = frozenset({"closed", "completed", "done"})
"""The statuses that count as completed (rule M-X14)."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One bead's need of another.

    Attributes:
        target: The id of the bead that is needed; of the parent where ``kind`` is ``parent-child``.
        kind: The dependency's type, such as ``blocks`` or ``discovered-from``.
        gate: For ``waits-for`` what opens it: ``any-children`` or ``""`` for all children.
    """

    target: str
    kind: str = "blocks"
    gate: str = ""


@dataclass(frozen=True, slots=True)
class Bead:
    """One issue.

    Attributes:
        id: Unique in its project.
        title: As its author wrote it: any text, usually one line.
        description: Any text, often markdown.
        status: Lower case; a custom status of the project stays as it is.
        priority: 0 is the most urgent.
        issue_type: Such as ``task``, ``bug``, ``epic``.
        created_at: With a time zone, or ``None`` where it is unknown.
        closed_at: The same.
        defer_until: Not ready before this time.
        pinned: A permanent reference, not work.
        ephemeral: Private and transient.
        template: A pattern for other beads.
        dependencies: What it needs, in the order of the file.
    """

    id: str
    title: str
    description: str = ""
    status: str = "open"
    priority: int = 2
    issue_type: str = "task"
    created_at: datetime | None = None
    closed_at: datetime | None = None
    defer_until: datetime | None = None
    pinned: bool = False
    ephemeral: bool = False
    template: bool = False
    dependencies: tuple[Dependency, ...] = ()

    @property
    def completed(self) -> bool:
        """Whether the status is closed, completed or done (rule M-X14)."""
        return self.status in COMPLETED


@dataclass(frozen=True, slots=True)
class Board:
    """All beads of a project, and where they were read.

    Attributes:
        source: Name of the source, such as ``bd`` or ``.beads/issues.jsonl``; ``""`` where none could be read.
        beads: In the order of the source, without deleted ones; each id once.
        deleted: How many deleted beads (tombstones) the source holds.
        warnings: What could not be read or may be out of date, one sentence each.
    """

    source: str
    beads: tuple[Bead, ...] = ()
    deleted: int = 0
    warnings: tuple[str, ...] = ()
