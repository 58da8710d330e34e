"""Parse beads from a JSONL export or a JSON list.

Invalid fields never raise.
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.errors import BeadsError
from aggregate.project.beads.readiness import Bead, Board, Dependency

_TOMBSTONE = "tombstone"
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)


_NO_JSON = object()


def board_of(entries: Iterable[tuple[str, object]], source: str) -> Board:
    """Collect beads from ``(location, record)`` pairs; invalid records become warnings.

    By the rules of the export format: skips records of another ``_type`` and headers with ``_schema``, only counts
    tombstones, ignores unknown keys; the last of several records with the same id counts.
    """
    beads: dict[str, Bead] = {}
    deleted: set[str] = set()
    warnings: list[str] = []
    for location, record in entries:
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


def in_order(records: Iterable[object]) -> Iterator[tuple[str, object]]:
    for number, record in enumerate(records, start=1):
        yield f"entry {number}", record


def bead_from_record(record: Mapping[str, object]) -> Bead:
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


def _priority(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 2


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
    if parent and not any(dependency.kind == "parent-child" for dependency in dependencies):
        dependencies.append(Dependency(parent, "parent-child"))
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
    return board_of(_lines(_content(path, name)), name)


def _lines(content: bytes) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(io.BytesIO(content), start=1):
        try:
            if line.strip():
                yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError):
            yield f"line {number}", _NO_JSON


def read_json_list(path: Path, *, name: str) -> Board:
    try:
        records = json.loads(_content(path, name))
    except (ValueError, RecursionError) as error:
        raise BeadsError(f"{name} is not JSON; replace it by a list of beads") from error
    if not isinstance(records, list):
        raise BeadsError(f"{name} is not a JSON list; replace it by a list of beads")
    return board_of(in_order(records), name)


def _content(path: Path, name: str) -> bytes:
    try:
        return read_bytes(path, limit=CONTENT_BYTES)
    except OSError as error:
        raise BeadsError(
            f"{name} cannot be read ({error.strerror}); check the file and its permissions"
        ) from error
