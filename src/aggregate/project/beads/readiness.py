"""Beads (a project's issues), and whether they are ready or blocked.

After Beads 1.0.5, ``internal/storage/issueops/ready_work.go`` and ``blocked_state.go``: a bead is ready when it is
open, not pinned, not ephemeral, of a type of work, not deferred (nor a child of a deferred bead) and not blocked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Dependency:
    target: str  # id of the needed bead; of the parent for ``parent-child``
    kind: str = "blocks"
    gate: str = ""  # condition of ``waits-for``: ``any-children``, or ``""`` for all children


@dataclass(frozen=True, slots=True)
class Bead:
    id: str
    title: str
    description: str = ""
    status: str = "open"  # lower case; may be a custom status of the project
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
    source: str  # such as ``bd`` or ``.beads/issues.jsonl``; ``""`` if none is readable
    beads: tuple[Bead, ...] = ()  # in the order of the source; ids are unique
    deleted: int = 0  # tombstones, not in ``beads``
    warnings: tuple[str, ...] = ()  # about unreadable or stale sources


_NEVER_READY = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})

_HIDDEN_TYPES = frozenset({"gate", "message", "agent", "role", "rig"})

_BLOCKING = frozenset({"blocks", "conditional-blocks"})

_PARENT = "parent-child"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


class Hidden(StrEnum):
    """Why a bead is not listed as open; the same reasons as in ``bd list``."""

    PINNED = "pinned"
    TEMPLATE = "template"
    EPHEMERAL = "ephemeral"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True)
class Standing:
    bead: Bead
    ready: bool  # work can begin
    blockers: tuple[str, ...] = ()  # ids in the order of its dependencies; may include a parent
    deferred: bool = False  # itself or its parent


def assess(beads: Iterable[Bead], *, now: datetime) -> tuple[Standing, ...]:
    """Return the open beads, each ready or with what it waits for, the most urgent first."""
    by_id = {bead.id: bead for bead in beads}
    blockers = _blockers(by_id)
    later = {bead.id for bead in by_id.values() if bead.defer_until and bead.defer_until > now}
    deferred = later | {  # children of deferred beads too, but not grandchildren (as in bd)
        bead.id
        for bead in by_id.values()
        if any(need.kind == _PARENT and need.target in later for need in bead.dependencies)
    }
    standings = [
        Standing(
            bead,
            ready=bead.status == "open"
            and not (bead.pinned or bead.ephemeral or bead.issue_type in _NEVER_READY)
            and bead.id not in blockers
            and bead.id not in deferred,
            blockers=blockers.get(bead.id, ()),
            deferred=bead.id in deferred,
        )
        for bead in by_id.values()
        if not bead.completed
    ]
    return tuple(sorted(standings, key=lambda standing: _rank(standing.bead)))


def completion_order(beads: Iterable[Bead]) -> tuple[Bead, ...]:
    done = (bead for bead in beads if bead.completed)
    return tuple(sorted(done, key=lambda bead: (bead.closed_at or _BEFORE_ALL, bead.id)))


def hidden(bead: Bead) -> Hidden | None:
    if bead.pinned or bead.status == "pinned":
        return Hidden.PINNED
    if bead.template:
        return Hidden.TEMPLATE
    if bead.issue_type in _HIDDEN_TYPES:
        return Hidden.INFRASTRUCTURE
    return Hidden.EPHEMERAL if bead.ephemeral else None


def _rank(bead: Bead) -> tuple[int, float, str]:
    # A float is exact to the microsecond until the year 2255.
    age = -((bead.created_at - _EPOCH).total_seconds()) if bead.created_at else float("inf")
    return bead.priority, age, bead.id


def _is_done(bead: Bead) -> bool:
    return bead.completed or bead.status == "pinned"


def _blockers(by_id: Mapping[str, Bead]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the blockers of each bead.

    A blocked parent is a blocker of its children.
    """
    children: dict[str, list[Bead]] = {}
    for bead in by_id.values():
        for need in bead.dependencies:
            if need.kind == _PARENT:
                children.setdefault(need.target, []).append(bead)
    blocked: dict[str, set[str]] = {}
    for bead in by_id.values():
        reasons = {n.target for n in bead.dependencies if _holds_back(n, by_id, children)}
        if reasons and not _is_done(bead):
            blocked[bead.id] = reasons
    waiting = list(blocked)
    while waiting:  # each bead is visited once
        parent = waiting.pop()
        for child in children.get(parent, ()):
            if _is_done(child):
                continue
            if child.id not in blocked:
                blocked[child.id] = set()
                waiting.append(child.id)
            blocked[child.id].add(parent)
    return {
        id_: tuple(dict.fromkeys(n.target for n in by_id[id_].dependencies if n.target in reasons))
        for id_, reasons in blocked.items()
    }


def _holds_back(
    need: Dependency, by_id: Mapping[str, Bead], children: Mapping[str, list[Bead]]
) -> bool:
    if need.kind in _BLOCKING:
        target = by_id.get(need.target)
        return target is not None and not _is_done(target)
    if need.kind != "waits-for":
        return False
    gated = children.get(need.target, [])
    if need.gate == "any-children" and any(child.completed for child in gated):
        return False
    return any(not _is_done(child) for child in gated)
