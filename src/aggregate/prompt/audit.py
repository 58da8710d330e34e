"""The account of a prompt: from what was decided and counted to an ``Audit`` (rules A-1, A-2 and A-4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from aggregate.base.values import (
    Audit,
    Budget,
    Decided,
    FileChoice,
    Reason,
    Section,
    SourceMap,
    Task,
    rounded,
    row_maker,
)
from aggregate.prompt.request import Request

if TYPE_CHECKING:
    from aggregate.prompt.token_counts import PromptTokens

_CHOICE: Final = row_maker(FileChoice)
_OF_FILES = (Section.FILES, Section.CHANGED)
"""The sections whose blocks belong to files."""


def audit_of(
    request: Request,
    prompt: Decided,
    tokens: "PromptTokens",
    *,
    size: int = 0,
    source_map: SourceMap | None = None,
) -> Audit:
    """Return the account of a prompt.

    Args:
        request: What was composed.
        prompt: What was decided.
        tokens: Of the prompt as it is written; they go before those that the decisions expected.
        size: Bytes of the prompt as it is written.
        source_map: Where its lines come from.
    """
    rows = _counted(prompt.choices, tokens)
    of_files = sum(tokens.sections.get(section, 0) for section in _OF_FILES)
    return Audit(
        task=request.task or Task(),
        budget=request.budget,
        tokens=tokens.document,
        sections=tokens.sections,
        generated=of_files - sum(row.tokens for row in rows),
        rows=rows,
        cut=tuple(prompt.cut),
        missing=tuple(prompt.missing),
        size=size,
        source_map=source_map,
    )


def _counted(choices: Sequence[FileChoice], tokens: "PromptTokens") -> tuple[FileChoice, ...]:
    """Return the decisions, rounded, with the tokens that were counted; a path that stands twice has them once."""
    left = dict(tokens.files)
    rows: list[FileChoice] = []
    for choice in choices:  # without ``_replace``: a large project has a hundred thousand
        path, entry, level, most, pinned, _, exact, rank, reasons, *rest = choice
        score = None if exact is None else rounded(exact)
        why = reasons and tuple(map(_rounded_reason, reasons))
        row = (path, entry, level, most, pinned, left.pop(path, 0), score, rank, why, *rest)
        rows.append(_CHOICE(row))
    return tuple(rows)


def _rounded_reason(reason: Reason) -> Reason:
    return Reason(reason.kind, rounded(reason.weight), reason.matched)


VERSION = 1
"""Of the format; a reader refuses another one."""


class SeedsData(TypedDict):
    """What the user points at beside the task's text."""

    focus: list[str]
    symbols: list[str]
    since: str


class BudgetData(TypedDict):
    """A budget and how its sections share it."""

    tokens: int
    history: float
    results: float
    order: str


class EvidenceData(TypedDict):
    """One reason for a file."""

    kind: str
    weight: float
    matched: str


class RowData(TypedDict):
    """What was decided about one file; the keys are those of ``FileChoice``, ``evidence`` its reasons."""

    path: str
    entry: str
    level: str
    most: str
    pinned: bool
    tokens: int
    score: float | None
    rank: int | None
    evidence: list[EvidenceData]
    definitions: list[str]
    next: str | None
    content_hash: str
    size: int


class MapData(TypedDict):
    """A source map: the sources that no row has, and the packed runs."""

    sources: list[str]
    runs: str


class AuditData(TypedDict):
    """An audit as JSON holds it; ``aggregate schema --audit`` describes it."""

    version: int
    task: str
    seeds: SeedsData
    budget: BudgetData | None
    tokens: int
    sections: dict[str, int]
    generated: int
    bytes: int
    missing: list[dict[str, str]]
    cut: list[dict[str, str | int]]
    rows: list[RowData]
    source_map: NotRequired[MapData]


def audit_data(audit: Audit) -> AuditData:
    """Return an audit as plain values, without its source map, which nobody can read."""
    task, budget = audit.task, audit.budget
    return {
        "version": VERSION,
        "task": task.text,
        "seeds": {
            "focus": [str(place) for place in task.focus],
            "symbols": [*task.symbols],
            "since": task.since,
        },
        "budget": None if budget is None else _budget_data(budget),
        "tokens": audit.tokens,
        "sections": {section.value: tokens for section, tokens in audit.sections.items()},
        "generated": audit.generated,
        "bytes": audit.size,
        "missing": [missing._asdict() for missing in audit.missing],
        "cut": [cut._asdict() for cut in audit.cut],
        "rows": [row_data(row) for row in audit.rows],
    }


def row_data(row: FileChoice) -> RowData:
    """Return what was decided about a file as plain values."""
    return {
        "path": row.path,
        "entry": row.entry,
        "level": row.level.value,
        "most": row.most.value,
        "pinned": row.pinned,
        "tokens": row.tokens,
        "score": None if row.score is None else rounded(row.score),
        "rank": row.rank,
        "evidence": [
            {"kind": reason.kind, "weight": rounded(reason.weight), "matched": reason.matched}
            for reason in row.reasons
        ],
        "definitions": [*row.definitions],
        "next": row.next.value if row.next else None,
        "content_hash": row.content_hash,
        "size": row.size,
    }


def _budget_data(budget: Budget) -> BudgetData:
    return {
        "tokens": budget.tokens,
        "history": rounded(budget.history),
        "results": rounded(budget.results),
        "order": budget.order.value,
    }
