"""Beads: the issues of a project that is tracked with Beads, as far as a prompt shows them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Dependency:
    target: (
        str  # the id of the bead that is needed; of the parent where ``kind`` is ``parent-child``
    )
    kind: str = "blocks"
    gate: str = ""  # for ``waits-for`` what opens it: ``any-children``, or ``""`` for all children


@dataclass(frozen=True, slots=True)
class Bead:
    id: str
    title: str
    description: str = ""
    status: str = "open"  # lower case; a custom status of the project stays as it is
    priority: int = 2  # 0 is the most urgent
    issue_type: str = "task"
    created_at: datetime | None = None
    closed_at: datetime | None = None
    defer_until: datetime | None = None  # not ready before
    pinned: bool = False  # a permanent reference, not work
    ephemeral: bool = False  # private and transient
    template: bool = False  # a pattern for other beads
    dependencies: tuple[Dependency, ...] = ()  # in the order of the file

    @property
    def completed(self) -> bool:
        return self.status in ("closed", "completed", "done")


@dataclass(frozen=True, slots=True)
class Board:
    source: str  # such as ``bd`` or ``.beads/issues.jsonl``; ``""`` where none could be read
    beads: tuple[Bead, ...] = ()  # in the order of the source; each id once
    deleted: int = 0  # tombstones, which are not among the beads
    warnings: tuple[str, ...] = ()  # what could not be read or may be out of date
