"""The audit of a prompt: decisions and token counts.

It is written to a file beside the prompt (rules A-1, A-2, A-4).
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.disk.reading import CONTENT_BYTES, read_text
from aggregate.base.disk.writing import replace_own
from aggregate.base.monitor import get_monitor
from aggregate.base.task import (
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
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document import END, Cut, Prompt, Section, SourceMap, pack_map, unpack_map
from aggregate.prompt.output.numbered_output import audit_path, numbered_files

if TYPE_CHECKING:
    from aggregate.prompt.assemble import Composition
    from aggregate.prompt.token_counts import PromptTokens


def rounded(number: float) -> float:
    """Round a number to 6 digits, the same on all machines; the result is finite and never ``-0.0``."""
    if abs(number) < 4e-7 or not math.isfinite(number):  # most scores: rounding is slow
        return 0.0
    return round(number, 6) + 0.0


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


VERSION = 2  # of the format; readers refuse others
OF_FILES = (Section.FILES, Section.CHANGED)  # sections whose blocks belong to files
# JSON keys of a row, in the order of ``FileChoice``; ``evidence`` holds its reasons.
ROW_KEYS = (
    *("path", "entry", "level", "most", "pinned", "tokens", "score", "rank"),
    *("evidence", "definitions", "next", "content_hash", "size"),
)
_ROWS_OF_PIECE: Final = 1_000  # rows in memory as text: some hundred kilobytes
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


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
    rows = tuple(
        row._replace(
            tokens=file_tokens.pop(row.path, 0),
            score=None if row.score is None else rounded(row.score),
            reasons=row.reasons
            and tuple(reason._replace(weight=rounded(reason.weight)) for reason in row.reasons),
        )
        for row in prompt.choices
    )
    of_files = sum(tokens.sections.get(section, 0) for section in OF_FILES)
    return Audit(
        task=request.task or Task(),
        budget=request.budget,
        tokens=tokens.document,
        sections=tokens.sections,
        generated=of_files - sum(row.tokens for row in rows),
        rows=rows,
        cut=tuple(prompt.cut),
        missing=tuple(prompt.missing),
        guess=prompt.guess,
        size=size,
        source_map=source_map,
    )


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
    data: dict[str, Any] = dict(zip(ROW_KEYS, row, strict=False))  # without the lines
    data["evidence"] = [reason._asdict() for reason in row.reasons]
    return data


@get_monitor().scope("write_audit")
def write_audit(prompt: Path, audit: Audit) -> None:
    replace_own(audit_path(prompt), audit_pieces(audit))


def record_audit(path: Path, request: Request, decided: "Composition", prompt: Prompt) -> None:
    """Write the audit of a prompt beside its file."""
    from aggregate.prompt.output.source_map import (
        map_sources,  # prompts without an audit need neither
    )
    from aggregate.prompt.token_counts import count_prompt

    size = sum(map(len, prompt.pieces()))
    source_map = map_sources(prompt.segments, is_written=True)
    audit = audit_of(
        request, decided, count_prompt(prompt, end=END), size=size, source_map=source_map
    )
    write_audit(path, audit)


def audit_pieces(audit: Audit) -> Iterator[bytes]:
    """Yield the text of an audit's file in pieces.

    The text is ASCII JSON with one line per key or row.
    """
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
    try:
        return parse_audit(read_text(audit_path(prompt), limit=CONTENT_BYTES))
    except (OSError, ValueError):
        return None


def parse_audit(text: str) -> Audit:
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise ValueError(f"has version {data['version']!r}, not {VERSION}")
        return _audit(data)
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"is not an audit: {error!r}") from None


def _audit(data: Mapping[str, Any]) -> Audit:
    rows = tuple(map(_row, data["rows"]))
    seeds, budget, packed = data["seeds"], data["budget"], data.get("source_map")
    guess = data.get("guess")
    focus = tuple(Place.parse(str(place)) for place in seeds["focus"])
    source_map = None
    if packed is not None:
        sources = [*(row.path for row in rows), *map(str, packed["sources"])]
        source_map = unpack_map(str(packed["runs"]), sources)
    return Audit(
        task=Task(
            str(data["task"]),
            focus,
            tuple(map(str, seeds["symbols"])),
            str(seeds["since"]),
            look=tuple(map(str, data.get("look", ()))),  # older audits have none
        ),
        budget=budget
        and Budget(
            int(budget["tokens"]),
            rounded(float(budget["history"])),
            rounded(float(budget["results"])),
            FileOrder(budget["order"]),
        ),
        tokens=int(data["tokens"]),
        sections={Section(name): int(tokens) for name, tokens in data["sections"].items()},
        generated=int(data["generated"]),
        rows=rows,
        cut=tuple(
            Cut(str(cut["section"]), str(cut["what"]), int(cut["tokens"]), str(cut["reason"]))
            for cut in data["cut"]
        ),
        missing=tuple(
            Missing(str(missing["evidence"]), str(missing["reason"])) for missing in data["missing"]
        ),
        guess=guess and Guess(str(guess["reason"]), tuple(map(str, guess["proposals"]))),
        size=int(data["bytes"]),
        source_map=source_map,
    )


def _row(data: Mapping[str, Any]) -> FileChoice:
    return FileChoice(
        path=str(data["path"]),
        entry=str(data["entry"]),
        level=Level(data["level"]),
        most=Level(data["most"]),
        pinned=bool(data["pinned"]),
        tokens=int(data["tokens"]),
        score=None if data["score"] is None else rounded(float(data["score"])),
        rank=None if data["rank"] is None else int(data["rank"]),
        reasons=tuple(
            Reason(str(reason["kind"]), rounded(float(reason["weight"])), str(reason["matched"]))
            for reason in data["evidence"]
        ),
        definitions=tuple(map(str, data["definitions"])),
        next=None if data["next"] is None else Level(data["next"]),
        content_hash=str(data["content_hash"]),
        size=int(data["size"]),
    )
