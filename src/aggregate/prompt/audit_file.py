"""The file beside a prompt that holds its audit, written and read (rule A-1)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk import CONTENT_BYTES, read_text, replace_own
from aggregate.base.monitor import get_monitor
from aggregate.base.values import (
    Audit,
    Budget,
    Cut,
    Decided,
    FileChoice,
    FileOrder,
    Level,
    Missing,
    Place,
    Prompt,
    Reason,
    Section,
    SourceMap,
    Task,
    pack_map,
    rounded,
    unpack_map,
)
from aggregate.prompt.audit import VERSION, audit_data, audit_of
from aggregate.prompt.numbered_output import audit_path, numbered_files
from aggregate.prompt.request import Request
from aggregate.prompt.source_map import map_sources

_ROWS_OF_PIECE: Final = 1_000
"""Rows that are in memory as text at once: some hundred kilobytes."""
_MOST = 2**40
"""No prompt has as many tokens or bytes."""


@get_monitor().scope("write_audit")
def write_audit(prompt: Path, audit: Audit) -> None:
    """Record the audit of a numbered prompt beside it in one step; each row is a line of the file.

    Raises:
        OutputError: The file cannot be written.
    """
    replace_own(audit_path(prompt), audit_pieces(audit))


def record_audit(path: Path, request: Request, decided: Decided, prompt: Prompt) -> None:
    """Make the account of a prompt that is kept whole, and write it beside that.

    Args:
        path: The prompt's file.
        request: What was composed.
        decided: What was decided.
        prompt: As it was written.

    Raises:
        OutputError: The file cannot be written.
    """
    from aggregate.prompt.token_counts import count_prompt  # other prompts are not counted here

    size = sum(map(len, prompt.pieces()))
    source_map = map_sources(prompt.segments)
    audit = audit_of(request, decided, count_prompt(prompt), size=size, source_map=source_map)
    write_audit(path, audit)


def audit_pieces(audit: Audit) -> Iterator[bytes]:
    """Yield the text of an audit's file: JSON in ASCII, each key and each row on a line of its own.

    In one piece, that of 100,000 files takes 60 MB at its making.
    """
    data = audit_data(replace(audit, rows=()))
    if audit.source_map:
        paths = [row.path for row in audit.rows]
        sources, runs = pack_map(audit.source_map, paths)
        data["source_map"] = {"sources": sources, "runs": runs}
    lines = [f"{_json(key)}:{_json(value)}" for key, value in data.items() if key != "rows"]
    yield ("{" + ",\n".join(lines) + ',\n"rows":[\n').encode("ascii")
    for start in range(0, len(audit.rows), _ROWS_OF_PIECE):
        rows = ",\n".join(map(_row_text, audit.rows[start : start + _ROWS_OF_PIECE]))
        yield (f",\n{rows}" if start else rows).encode("ascii")
    yield b"\n]}\n"


def _row_text(row: FileChoice) -> str:
    """Return the JSON of ``row_data``; three times as quick, since a project has ten thousand files and more."""
    score = "null" if row.score is None else repr(rounded(row.score))
    rank = "null" if row.rank is None else row.rank
    evidence = ",".join(map(_reason_text, row.reasons)) if row.reasons else ""
    definitions = ",".join(map(_text, row.definitions)) if row.definitions else ""
    return (
        f'{{"path":{_text(row.path)},"entry":{_text(row.entry)},"level":{_text(row.level)},"most":{_text(row.most)},'
        f'"pinned":{"true" if row.pinned else "false"},"tokens":{row.tokens},"score":{score},"rank":{rank},'
        f'"evidence":[{evidence}],"definitions":[{definitions}],"next":{_text(row.next) if row.next else "null"},'
        f'"content_hash":{_text(row.content_hash)},"size":{row.size}}}'
    )


def _reason_text(reason: Reason) -> str:
    kind, matched = _text(reason.kind), _text(reason.matched)
    return f'{{"kind":{kind},"weight":{rounded(reason.weight)!r},"matched":{matched}}}'


def read_audit(prompt: Path) -> Audit | None:
    """Return the audit of a prompt, ``None`` where none of ours is recorded or it is damaged."""
    try:
        return parse_audit(read_text(audit_path(prompt), limit=CONTENT_BYTES))
    except (OSError, ValueError):
        return None


def parse_audit(text: str) -> Audit:
    """Return the audit of a text by ``audit_pieces``.

    Raises:
        ValueError: It is damaged, of another version, or somebody else has written it.
    """
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise ValueError(f"is of version {data['version']!r}, not {VERSION}")
        return _audit(data)
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"is no audit: {error!r}") from None


def newest_audited(output_dir: Path, namespace: str) -> tuple[Path, Audit] | None:
    """Return the prompt with the highest number that has an audit, and that; ``None`` where there is none."""
    for _, path in reversed(numbered_files(output_dir, namespace)):
        if audit := read_audit(path):
            return path, audit
    return None


def _audit(data: Mapping[str, Any]) -> Audit:
    rows = tuple(map(_row, data["rows"]))
    seeds = data["seeds"]
    sections = {Section(name): _integer(tokens) for name, tokens in data["sections"].items()}
    return Audit(
        task=Task(
            str(data["task"]),
            tuple(Place.parse(str(place)) for place in seeds["focus"]),
            tuple(map(str, seeds["symbols"])),
            str(seeds["since"]),
        ),
        budget=None if data["budget"] is None else _budget(data["budget"]),
        tokens=_integer(data["tokens"]),
        sections=sections,
        generated=_integer(data["generated"]),
        rows=rows,
        cut=tuple(
            Cut(str(cut["section"]), str(cut["what"]), _integer(cut["tokens"]), str(cut["reason"]))
            for cut in data["cut"]
        ),
        missing=tuple(
            Missing(str(missing["evidence"]), str(missing["reason"])) for missing in data["missing"]
        ),
        size=_integer(data["bytes"]),
        source_map=_source_map(data.get("source_map"), rows),
    )


def _source_map(data: Mapping[str, Any] | None, rows: Sequence[FileChoice]) -> SourceMap | None:
    if data is None:
        return None
    sources = [*(row.path for row in rows), *map(str, data["sources"])]
    return unpack_map(str(data["runs"]), sources)


def _row(data: Mapping[str, Any]) -> FileChoice:
    return FileChoice(
        path=str(data["path"]),
        entry=str(data["entry"]),
        level=Level(data["level"]),
        most=Level(data["most"]),
        pinned=bool(data["pinned"]),
        tokens=_integer(data["tokens"]),
        score=None if data["score"] is None else rounded(float(data["score"])),
        rank=None if data["rank"] is None else _integer(data["rank"]),
        reasons=tuple(
            Reason(str(reason["kind"]), rounded(float(reason["weight"])), str(reason["matched"]))
            for reason in data["evidence"]
        ),
        definitions=tuple(map(str, data["definitions"])),
        next=None if data["next"] is None else Level(data["next"]),
        content_hash=str(data["content_hash"]),
        size=_integer(data["size"]),
    )


def _budget(data: Mapping[str, Any]) -> Budget:
    order = FileOrder(data["order"])
    history, results = (rounded(float(data[share])) for share in ("history", "results"))
    return Budget(_integer(data["tokens"]), history, results, order)


def _integer(value: object) -> int:
    """Return a whole number that can be one of ours.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, int) or not -_MOST <= value <= _MOST:
        raise ValueError(f"is no number of tokens: {value!r}")
    return int(value)


_text = encode_basestring_ascii
"""A text as JSON, as ``_ENCODER`` writes it."""
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def _json(value: object) -> str:
    return _ENCODER.encode(value)
