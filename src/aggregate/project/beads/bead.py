"""Beads (a project's issues): their records, and whether they are ready or blocked.

Records come from a JSONL export or a JSON list; invalid fields never raise. Readiness is that of Beads 1.0.5,
``internal/storage/issueops/ready_work.go`` and ``blocked_state.go``: a bead is ready when it is open, not pinned, not
ephemeral, of a type of work, not deferred (nor a child of a deferred bead) and not blocked.
"""

import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.errors import BeadsError

_TOMBSTONE = "tombstone"
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_NO_JSON, _BLANK = object(), object()  # lines without a record
_NEVER_READY = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})
_HIDDEN_TYPES = frozenset({"gate", "message", "agent", "role", "rig"})
_BLOCKING = frozenset({"blocks", "conditional-blocks"})
_PARENT = "parent-child"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


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


def board_of(records: Iterable[object], source: str, *, noun: str = "entry") -> Board:
    """Collect beads from records; invalid records become warnings, which count them by ``noun``.

    By the rules of the export format: skips records of another ``_type`` and headers with ``_schema``, only counts
    tombstones, ignores unknown keys; the last of several records with the same id counts.
    """
    beads: dict[str, Bead] = {}
    deleted: set[str] = set()
    warnings: list[str] = []
    for number, record in enumerate(records, start=1):
        location = f"{noun} {number}"
        if record is _BLANK:
            continue
        if not isinstance(record, Mapping):
            expected = "JSON" if record is _NO_JSON else "a JSON object"
            warnings.append(f"{source}: {location} is not {expected} and was skipped.")
            continue
        if record.get("_type", "issue") != "issue" or "_schema" in record:
            continue
        try:
            bead = bead_from_record(record)
        except RecursionError:
            warnings.append(f"{source}: {location} is nested too deeply and was skipped.")
            continue
        if not bead.id:
            warnings.append(f"{source}: {location} has no id and was skipped.")
            continue
        if bead.id in beads or bead.id in deleted:
            warnings.append(f"{source}: {location} repeats the id {bead.id}; the last one counts.")
        beads.pop(bead.id, None)
        deleted.discard(bead.id)
        if bead.status == _TOMBSTONE:
            deleted.add(bead.id)
        else:
            beads[bead.id] = bead
    return Board(source, tuple(beads.values()), len(deleted), tuple(warnings))


def bead_from_record(record: Mapping[str, object]) -> Bead:
    priority = record.get("priority")
    if not isinstance(priority, int) or isinstance(priority, bool):
        priority = 2
    return Bead(
        id=_text(record.get("id")).strip(),
        title=_text(record.get("title")),
        description=_text(record.get("description")),
        status=_text(record.get("status")).strip().lower() or "open",
        priority=priority,
        issue_type=_text(record.get("issue_type")).strip() or "task",
        created_at=parse_time(record.get("created_at")),
        closed_at=parse_time(record.get("closed_at")),
        defer_until=parse_time(record.get("defer_until")),
        pinned=bool(record.get("pinned")),
        ephemeral=bool(record.get("ephemeral") or record.get("wisp")),
        template=bool(record.get("is_template")),
        dependencies=_dependencies(record),
    )


def parse_time(value: object) -> datetime | None:
    """Parse a time; without a zone it is UTC, as in SQLite."""
    match = _TIME.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    try:
        time = datetime.fromisoformat(f"{day}T{clock}{(fraction or '')[:7]}{zone or 'Z'}")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):  # a month 13, or a time before the year 1
        return None


def _text(value: object) -> str:
    text = "" if value is None else str(value)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _dependencies(record: Mapping[str, object]) -> tuple[Dependency, ...]:
    """Return the dependencies of a bead, including its ``parent``."""
    entries = record.get("dependencies")
    dependencies: list[Dependency] = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            target, kind = _text(entry.get("depends_on_id")).strip(), _text(entry.get("type"))
            gate = _gate(entry.get("metadata"))
            dependencies.append(Dependency(target, kind.strip() or "blocks", gate))
        else:  # a plain id means "blocks", the default of Beads
            dependencies.append(Dependency(_text(entry).strip()))
    parent = _text(record.get("parent")).strip()
    if parent and not any(dependency.kind == _PARENT for dependency in dependencies):
        dependencies.append(Dependency(parent, _PARENT))
    return tuple(dependency for dependency in dependencies if dependency.target)


def _gate(metadata: object) -> str:
    """Return which condition a ``waits-for`` dependency has, from its metadata."""
    if isinstance(metadata, str) and "gate" in metadata:
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return ""
    return _text(metadata.get("gate")) if isinstance(metadata, Mapping) else ""


def read_jsonl(path: Path, *, name: str) -> Board:
    return board_of(map(_record, io.BytesIO(_content(path, name))), name, noun="line")


def _record(line: bytes) -> object:
    try:
        return json.loads(line) if line.strip() else _BLANK
    except (ValueError, RecursionError):
        return _NO_JSON


def read_json_list(path: Path, *, name: str) -> Board:
    try:
        records = json.loads(_content(path, name))
    except (ValueError, RecursionError) as error:
        raise BeadsError(f"{name} is not JSON; replace it by a list of beads") from error
    if not isinstance(records, list):
        raise BeadsError(f"{name} is not a JSON list; replace it by a list of beads")
    return board_of(records, name)


def _content(path: Path, name: str) -> bytes:
    try:
        return read_bytes(path, limit=CONTENT_BYTES)
    except OSError as error:
        raise BeadsError(
            f"{name} cannot be read ({error.strerror}); check the file and its permissions"
        ) from error


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
    children: dict[str, list[Bead]] = {}
    for bead in by_id.values():
        for need in bead.dependencies:
            if need.kind == _PARENT:
                children.setdefault(need.target, []).append(bead)
    blockers = _blockers(by_id, children)
    deferred = {bead.id for bead in by_id.values() if bead.defer_until and bead.defer_until > now}
    # Children of deferred beads too, but not grandchildren (as in bd).
    deferred |= {child.id for parent in deferred for child in children.get(parent, ())}
    standings: list[Standing] = []
    for bead in by_id.values():
        if bead.completed:
            continue
        reasons = blockers.get(bead.id, ())
        needs = dict.fromkeys(n.target for n in bead.dependencies if n.target in reasons)
        is_work = not (bead.pinned or bead.ephemeral or bead.issue_type in _NEVER_READY)
        is_free = bead.id not in blockers and bead.id not in deferred
        ready = bead.status == "open" and is_work and is_free
        standings.append(Standing(bead, ready, tuple(needs), deferred=bead.id in deferred))
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


def _blockers(by_id: Mapping[str, Bead], children: Mapping[str, list[Bead]]) -> dict[str, set[str]]:
    """Return the ids of the blockers of each bead.

    A blocked parent is a blocker of its children.
    """
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
    return blocked


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
