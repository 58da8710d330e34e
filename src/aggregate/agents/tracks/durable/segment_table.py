"""The segments of a run's contexts, each once: sixty tickets that see the same files do not bring them sixty times.

A ticket's row names its segments by their digests. They belong to the run, and go when it is forgotten.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import islice

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from aggregate.agents.tracks.durable.database import retry_while_away
from aggregate.agents.tracks.durable.schema import (
    NOT_JSON,
    ROW_BYTES,
    SEGMENTS,
    TOO_LARGE,
    refuse_row,
    size_of,
)
from aggregate.base.values import Section, Segment, Stability

_DIGEST_BYTES = 16
_ROWS_AT_ONCE = 500
"""Of one statement: SQLite takes 32,766 values, and 500 files are mostly some megabytes."""
_REMEMBERED = 20_000
"""Segments of files whose digests, or that themselves, are remembered: the next ticket has nearly the same ones."""


class SegmentTable:
    """Writes the segments that are not there yet, and reads those that were not read before."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._written: set[tuple[str, str]] = set()
        self._read: dict[str, Segment] = {}

    def write(self, run_id: str, segments: Sequence[Segment]) -> list[str]:
        """Put the segments of a context here, if they are not, and return their digests in order."""
        digests = list(map(_digest_of, segments))
        by_digest = dict(zip(digests, segments, strict=True))
        new = [digest for digest in by_digest if (run_id, digest) not in self._written]
        for batch in _batches(new):
            rows = [
                {"run_id": run_id, "digest": digest, "segment": _to_json(by_digest[digest])}
                for digest in batch
            ]
            retry_while_away(self._engine, partial(self._insert, rows))
            self._written.update((run_id, digest) for digest in batch)
        return digests

    def read(self, run_id: str, digests: Sequence[str]) -> tuple[Segment, ...]:
        """Return the segments with these digests.

        Raises:
            StateError: One of them is not what was written here.
        """
        segments = {digest: self._read[digest] for digest in digests if digest in self._read}
        for batch in _batches(digest for digest in set(digests) if digest not in segments):
            segments |= self._select(run_id, batch)
        if len(self._read) + len(segments) > _REMEMBERED:
            self._read = {}
        files = {digest: one for digest, one in segments.items() if one.section is Section.FILES}
        self._read |= files
        missing = next((digest for digest in digests if digest not in segments), None)
        if missing is not None:
            refuse_row(f"the segment {missing} of {run_id}", "is not there")
        return tuple(segments[digest] for digest in digests)

    def _insert(self, rows: Sequence[dict[str, str]]) -> None:
        insert = sqlite.insert if self._engine.dialect.name == "sqlite" else postgresql.insert
        with self._engine.begin() as connection:
            # Another process that goes on with the run may have written them.
            connection.execute(insert(SEGMENTS).on_conflict_do_nothing(), rows)

    def _select(self, run_id: str, digests: Sequence[str]) -> dict[str, Segment]:
        columns = SEGMENTS.c
        size = size_of(columns.segment, self._engine.dialect.name)
        # NULL where it is too large to be read.
        text = sa.case((size <= ROW_BYTES, columns.segment))
        query = sa.select(columns.digest, text.label("segment")).where(
            columns.run_id == run_id, columns.digest.in_(digests)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return {digest: _from_row(digest, text, run_id) for digest, text in rows}


def _from_row(digest: str, text: object, run_id: str) -> Segment:
    """Return a segment; whoever reaches the database may have written its row."""
    if text is None:
        refuse_row(f"the segment {digest} of {run_id}", TOO_LARGE)
    if not isinstance(text, str) or _digest(text) != digest:
        refuse_row(f"the segment {digest} of {run_id}", NOT_JSON)
    section, markdown, stability, source = json.loads(text)
    return Segment(Section(section), markdown, Stability(stability), source)


def _digest_of(segment: Segment) -> str:
    # Those of files are shared; results are one ticket's own, and to remember them would only take memory.
    if segment.section is Section.FILES:
        return _remembered_digest(segment)
    return _digest(_to_json(segment))


@lru_cache(maxsize=_REMEMBERED)
def _remembered_digest(segment: Segment) -> str:
    return _digest(_to_json(segment))


def _to_json(segment: Segment) -> str:
    # ASCII: a database holds no half of a surrogate pair.
    return json.dumps([segment.section, segment.text, segment.stability, segment.source])


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _batches(digests: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(digests)
    while batch := list(islice(remaining, _ROWS_AT_ONCE)):
        yield batch
