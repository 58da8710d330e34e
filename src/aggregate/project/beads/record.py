"""From one record, as JSON or a database row gives it, to a ``Bead``; whatever a field holds, nothing here raises."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from aggregate.base.values import Bead, Board, Dependency

_TOMBSTONE = "tombstone"
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)


class BoardBuilder:
    """Collects records and warnings in the order in which a source yields them.

    The rules are those of the export format: lines of another ``_type`` and headers with ``_schema`` are no beads,
    tombstones are only counted, unknown keys are ignored, and of two records with one id the later one counts.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._beads: dict[str, Bead] = {}
        self._deleted: set[str] = set()
        self._warnings: list[str] = []

    def add(self, record: object, where: str) -> None:
        """Take one record; ``where`` names its place for a warning, such as ``line 7``."""
        if not isinstance(record, Mapping):
            self.warn(f"{where} is not a JSON object and was left out")
            return
        if record.get("_type", "issue") != "issue" or "_schema" in record:
            return
        bead = bead_from_record(record)
        if not bead.id:
            self.warn(f"{where} has no id and was left out")
            return
        if bead.id in self._beads or bead.id in self._deleted:
            self.warn(f"{where} repeats the id {bead.id}; the later record counts")
        self._beads.pop(bead.id, None)
        self._deleted.discard(bead.id)
        if bead.status == _TOMBSTONE:
            self._deleted.add(bead.id)
        else:
            self._beads[bead.id] = bead

    def warn(self, sentence: str) -> None:
        """Note what could not be read; the source's name is put in front."""
        self._warnings.append(f"{self._source}: {sentence}.")

    def board(self) -> Board:
        """Return what was collected."""
        return Board(
            self._source, tuple(self._beads.values()), len(self._deleted), tuple(self._warnings)
        )


def board_of(records: Iterable[object], source: str) -> Board:
    """Return the board of a list of records; ``source`` is its name."""
    builder = BoardBuilder(source)
    for number, record in enumerate(records, start=1):
        builder.add(record, f"entry {number}")
    return builder.board()


def bead_from_record(record: Mapping[str, object]) -> Bead:
    """Return the bead that ``record`` describes; unusable fields take their defaults, a missing id is ``""``."""
    return Bead(
        id=_text(record.get("id")).strip(),
        title=_text(record.get("title")),
        description=_text(record.get("description")),
        status=_text(record.get("status")).strip().lower() or "open",
        priority=_priority(record.get("priority")),
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
    """Return the time that ``value`` names, cut to microseconds; a time without a zone is UTC, as in SQLite.

    RFC 3339 and the two ways in which Go programs store times in SQLite are understood; anything else is ``None``.
    """
    match = _TIME.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    try:
        time = datetime.fromisoformat(f"{day}T{clock}{(fraction or '')[:7]}{zone or 'Z'}")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):  # a month 13, or a zone that leads out of the year 1
        return None


def _text(value: object) -> str:
    """Return ``value`` as text that can be written as UTF-8; ``None`` is empty."""
    text = "" if value is None else str(value)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _priority(value: object) -> int:
    """Return the priority, 2 where there is none (the default of Beads)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 2


def _dependencies(record: Mapping[str, object]) -> tuple[Dependency, ...]:
    """Return the dependencies; ``parent`` alone, as ``bd`` prints it, stands for a ``parent-child`` one."""
    entries = record.get("dependencies")
    dependencies = [_dependency(entry) for entry in entries] if isinstance(entries, list) else []
    parent = _text(record.get("parent")).strip()
    if parent and not any(dependency.kind == "parent-child" for dependency in dependencies):
        dependencies.append(Dependency(parent, "parent-child"))
    return tuple(dependency for dependency in dependencies if dependency.target)


def _dependency(entry: object) -> Dependency:
    """Return one dependency; a plain id means ``blocks``, the default of Beads."""
    if not isinstance(entry, Mapping):
        return Dependency(_text(entry).strip())
    kind = _text(entry.get("type")).strip() or "blocks"
    return Dependency(_text(entry.get("depends_on_id")).strip(), kind, _gate(entry.get("metadata")))


def _gate(metadata: object) -> str:
    """Return the gate of a ``waits-for`` dependency, whose metadata is a mapping or JSON in a string."""
    if isinstance(metadata, str) and "gate" in metadata:
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return ""
    return _text(metadata.get("gate")) if isinstance(metadata, Mapping) else ""
