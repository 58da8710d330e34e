"""The audit of a prompt: decisions and token counts.

It is written to a file beside the prompt (rules A-1, A-2, A-4).
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.reading import CONTENT_BYTES, read_text
from aggregate.base.disk.writing import replace_own
from aggregate.base.monitor import timed
from aggregate.base.task_budget import (
    Budget,
    FileChoice,
    FileOrder,
    Guess,
    Level,
    Missing,
    Place,
    Reason,
    Task,
)
from aggregate.prompt.asking import Request
from aggregate.prompt.document import END, Cut, Prompt, Section, SourceMap, pack_map, unpack_map
from aggregate.prompt.output import audit_path, map_sources, numbered_files

if TYPE_CHECKING:
    from aggregate.prompt import Composition, PromptTokens

VERSION: Final = 2  # of the format; readers refuse others
OF_FILES: Final = (Section.FILES, Section.CHANGED)  # sections whose blocks belong to files
_ROWS_OF_PIECE: Final = 1_000  # rows in memory as text: some hundred kilobytes
_JSON: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
# Of audits by earlier versions of the program.
_DEFAULTS: Final = {"look": (), "guess": None}


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one prompt.

    The tokens of all parts add up to the prompt's tokens (rule A-2).
    """

    task: Task  # empty without a task
    budget: Budget | None
    tokens: int  # of the whole prompt, by o200k
    sections: Mapping[Section, int]  # tokens, in the prompt's order
    generated: int  # tokens of the files' section outside of rows: headings, lists of hidden files
    rows: tuple[FileChoice, ...]  # in the order of the configuration
    cut: tuple[Cut, ...] = ()
    missing: tuple[Missing, ...] = ()
    guess: Guess | None = None
    size: int = 0  # bytes of the prompt, ``0`` if it was not written
    source_map: SourceMap | None = field(default=None, repr=False)


def audit_of(
    request: Request,
    prompt: "Composition",
    tokens: "PromptTokens",
    *,
    size: int = 0,
    source_map: SourceMap | None = None,
) -> Audit:
    """Return a prompt's audit with its file's tokens and bytes."""
    file_tokens = dict(tokens.files)  # a repeated path counts once
    rows: list[FileChoice] = []
    for row in prompt.choices:
        score = None if row.score is None else rounded(row.score)
        reasons = [reason._replace(weight=rounded(reason.weight)) for reason in row.reasons]
        tokens_of_file = file_tokens.pop(row.path, 0)
        rows.append(row._replace(tokens=tokens_of_file, score=score, reasons=tuple(reasons)))
    of_files = sum(tokens.sections.get(section, 0) for section in OF_FILES)
    return Audit(
        task=request.task or Task(),
        budget=request.budget,
        tokens=tokens.document,
        sections=tokens.sections,
        generated=of_files - sum(row.tokens for row in rows),
        rows=tuple(rows),
        cut=tuple(prompt.cut),
        missing=tuple(prompt.missing),
        guess=prompt.guess,
        size=size,
        source_map=source_map,
    )


def rounded(number: float) -> float:
    """Round a number to 6 digits, the same on all machines; the result is finite and never ``-0.0``."""
    if abs(number) < 4e-7 or not math.isfinite(number):  # most scores: rounding is slow
        return 0.0
    return round(number, 6) + 0.0


def audit_data(audit: Audit) -> dict[str, Any]:
    task, budget = audit.task, audit.budget
    return {
        "version": VERSION,
        "task": task.text,
        "seeds": {
            "focus": [str(place) for place in task.focus],
            "symbols": [*task.symbols],
            "since": task.since,
        },
        "look": [*task.look],
        "budget": budget
        and {
            "tokens": budget.tokens,
            "history": rounded(budget.history),
            "results": rounded(budget.results),
            "order": budget.order.value,
        },
        "tokens": audit.tokens,
        "sections": {section.value: tokens for section, tokens in audit.sections.items()},
        "generated": audit.generated,
        "bytes": audit.size,
        "missing": [missing._asdict() for missing in audit.missing],
        "guess": audit.guess and audit.guess._asdict(),
        "cut": [cut._asdict() for cut in audit.cut],
        "rows": [_row_data(row) for row in audit.rows],
    }


def _row_data(row: FileChoice) -> dict[str, Any]:
    data: dict[str, Any] = dict(zip(_ROW, row, strict=False))  # without the lines
    data["evidence"] = [reason._asdict() for reason in row.reasons]
    return data


@timed("write_audit")
def write_audit(prompt: Path, audit: Audit) -> None:
    replace_own(audit_path(prompt), audit_pieces(audit))


def record_audit(path: Path, request: Request, decided: "Composition", prompt: Prompt) -> None:
    """Write the audit of a prompt beside its file."""
    from aggregate.prompt import count_prompt

    size, tokens = sum(map(len, prompt.pieces())), count_prompt(prompt, end=END)
    sources = map_sources(prompt.segments, is_written=True)
    write_audit(path, audit_of(request, decided, tokens, size=size, source_map=sources))


def audit_pieces(audit: Audit) -> Iterator[bytes]:
    """Yield an audit's file in pieces: ASCII JSON with one line per key or row."""
    data = audit_data(replace(audit, rows=()))
    if audit.source_map:
        sources, runs = pack_map(audit.source_map, [row.path for row in audit.rows])
        data["source_map"] = {"sources": sources, "runs": runs}
    lines = [f"{_JSON(key)}:{_JSON(value)}" for key, value in data.items() if key != "rows"]
    yield ("{" + ",\n".join(lines) + ',\n"rows":[\n').encode("ascii")
    for start in range(0, len(audit.rows), _ROWS_OF_PIECE):
        part = audit.rows[start : start + _ROWS_OF_PIECE]
        rows = ",\n".join(_JSON(_row_data(row)) for row in part)
        yield (f",\n{rows}" if start else rows).encode("ascii")
    yield b"\n]}\n"


def newest_audited(output_dir: Path, namespace: str) -> tuple[Path, Audit] | None:
    for _, path in reversed(numbered_files(output_dir, namespace)):
        if audit := read_audit(path):
            return path, audit
    return None


def read_audit(prompt: Path) -> Audit | None:
    """Return the audit beside a prompt, ``None`` if it is missing, damaged or of another version."""
    try:
        data = json.loads(read_text(audit_path(prompt), limit=CONTENT_BYTES))
        if data["version"] != VERSION:
            return None
        audit: Audit = _AUDIT.read(_DEFAULTS | data)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        return None
    return audit


def audit_schema() -> dict[str, Any]:
    """Return the JSON Schema of an audit file; it forbids additional keys."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit of a prompt",
        "description": "The decisions about one prompt, and the reasons.",
        **_AUDIT.schema,
    }


class _Kind(NamedTuple):
    """A kind of JSON value: its schema, and the function that reads it."""

    schema: Mapping[str, Any]
    read: Callable[[Any], Any]


_Keys = Mapping[str, tuple[str, _Kind]]  # a description and the kind of the value by key


def _object(make: Callable[..., Any], keys: _Keys, *, optional: str = "") -> _Kind:
    """Return the kind of an object; ``make`` takes its values in the order of ``keys``."""
    schema = {
        "type": "object",
        "properties": {
            key: {"description": description, **kind.schema}
            for key, (description, kind) in keys.items()
        },
        "required": [key for key in keys if key != optional],
        "additionalProperties": False,
    }

    def read(data: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever is made
        present = [(key, kind) for key, (_, kind) in keys.items() if key != optional or key in data]
        return make(*(kind.read(data[key]) for key, kind in present))

    return _Kind(schema, read)


def _list(kind: _Kind) -> _Kind:
    schema = {"type": "array", "items": kind.schema}
    return _Kind(schema, lambda items: tuple(map(kind.read, items)))


def _or_null(kind: _Kind) -> _Kind:
    schema = {"anyOf": [{"type": "null"}, kind.schema]}
    return _Kind(schema, lambda value: None if value is None else kind.read(value))


def _one_of(values: type[StrEnum]) -> _Kind:
    return _Kind({"enum": [value.value for value in values]}, values)


def _number(value: float) -> float:
    return rounded(float(value))


_TEXT = _Kind({"type": "string"}, str)
_TEXTS = _list(_TEXT)
_FOCUS = _Kind(_TEXTS.schema, lambda focus: tuple(Place.parse(str(place)) for place in focus))
_COUNT = _Kind({"type": "integer", "minimum": 0}, int)
_POSITION = _Kind({"type": "integer", "minimum": 1}, int)
_WEIGHT = _Kind({"type": "number"}, _number)
_SHARE = _Kind({"type": "number", "minimum": 0, "maximum": 1}, _number)
_LEVEL = _one_of(Level)
_SECTIONS = _Kind(
    {
        "type": "object",
        "propertyNames": {"enum": [section.value for section in Section]},
        "additionalProperties": _COUNT.schema,
    },
    lambda sections: {Section(name): int(tokens) for name, tokens in sections.items()},
)
_SEEDS: _Keys = {
    "focus": ("Files and places that are always shown.", _FOCUS),
    "symbols": ("Names of definitions that the user points at.", _TEXTS),
    "since": ("The git revision since which changes are shown, or empty.", _TEXT),
}
_BUDGET: _Keys = {
    "tokens": ("The token limit of the prompt.", _POSITION),
    "history": (
        "The largest share of the tokens, without those of pinned files, for the discussion.",
        _SHARE,
    ),
    "results": (
        "The guaranteed share of the tokens, without those of pinned files, for results.",
        _SHARE,
    ),
    "order": ("The order of the files in the prompt.", _one_of(FileOrder)),
}
_MISSING: _Keys = {
    "evidence": ("The kind of evidence that the ranking lacked.", _TEXT),
    "reason": ("Why that evidence is missing.", _TEXT),
}
_GUESS: _Keys = {
    "reason": ("Why the choice is a guess.", _TEXT),
    "proposals": ("Names that may help, the likeliest first.", _TEXTS),
}
_CUT: _Keys = {
    "section": ("The section.", _TEXT),
    "what": ("The turn, result or list that was shortened or left out.", _TEXT),
    "tokens": ("The tokens that the cut saved.", _COUNT),
    "reason": ("Why the part was cut.", _TEXT),
}
_EVIDENCE: _Keys = {
    "kind": ("The kind of evidence for the file.", _TEXT),
    "weight": ("The evidence's part of the file's score.", _WEIGHT),
    "matched": ("The words, the symbol or the file that matched.", _TEXT),
}
# In the order of ``FileChoice``.
_ROW: _Keys = {
    "path": ("The path as in the prompt.", _TEXT),
    "entry": ("The path or glob in the configuration that selects the file.", _TEXT),
    "level": ("The level of detail; name: only listed, left out: only counted.", _LEVEL),
    "most": ("The most detailed level that the file's entry allows.", _LEVEL),
    "pinned": ("Whether the file is always shown.", _Kind({"type": "boolean"}, bool)),
    "tokens": ("Tokens (o200k) of the file's block in the prompt.", _COUNT),
    "score": (
        "The probability that the file is relevant for the task; null without a task.",
        _or_null(_SHARE),
    ),
    "rank": ("The rank of the file by score; null without a task.", _or_null(_POSITION)),
    "evidence": ("The reasons, the strongest first.", _list(_object(Reason, _EVIDENCE))),
    "definitions": ("Definitions that are shown in full.", _TEXTS),
    "next": ("The level that the file would have with a tenth more budget.", _or_null(_LEVEL)),
    "content_hash": ("SHA-256 of the file's bytes, empty for a hidden file.", _TEXT),
    "size": ("Estimated tokens of the whole file.", _COUNT),
}
_MAP: _Keys = {
    "sources": ("Sources of lines that have no row; they are numbered after the rows.", _TEXTS),
    "runs": ("Runs of lines: columns of numbers in JSON, compressed by zlib, in base 85.", _TEXT),
}


def _audit(*values: Any) -> Audit:  # noqa: ANN401 - as in the table below
    _, task, seeds, look, budget, tokens, sections, generated, size, *lists = values
    missing, guess, cut, rows, *packed = lists
    source_map = None
    for sources, runs in packed:  # at most one
        source_map = unpack_map(runs, [*(row.path for row in rows), *sources])
    task = replace(seeds, text=task, look=look)
    counts = (tokens, sections, generated)
    return Audit(task, budget, *counts, rows, cut, missing, guess, size, source_map)


_AUDIT: Final = _object(
    _audit,
    {
        "version": ("The version of this format.", _Kind({"const": VERSION}, int)),
        "task": ("The text of the task, or empty.", _TEXT),
        "seeds": (
            "Files, places and names that the user points at.",
            _object(lambda *seeds: Task("", *seeds), _SEEDS),
        ),
        "look": (
            "The model that picked files, its price, and a line for each picked file.",
            _TEXTS,
        ),
        "budget": ("The token limit; null for no limit.", _or_null(_object(Budget, _BUDGET))),
        "tokens": ("Tokens of the whole prompt, by o200k.", _COUNT),
        "sections": ("Tokens of each section; they add up to tokens.", _SECTIONS),
        "generated": (
            "Tokens outside of rows in the sections files and changed; with the rows and the other sections they add "
            "up to tokens.",
            _COUNT,
        ),
        "bytes": ("Bytes of the prompt in UTF-8.", _COUNT),
        "missing": ("Evidence that the ranking lacked.", _list(_object(Missing, _MISSING))),
        "guess": ("Why the choice of files is a guess, or null.", _or_null(_object(Guess, _GUESS))),
        "cut": ("Shortened or omitted parts other than files.", _list(_object(Cut, _CUT))),
        "rows": (
            "The candidates, in the order of the configuration.",
            _list(_object(FileChoice, _ROW)),
        ),
        "source_map": (
            "The origin of each line of the prompt.",
            _object(lambda *packed: packed, _MAP),
        ),
    },
    optional="source_map",
)
