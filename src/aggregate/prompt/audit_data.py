"""The audit as plain values, as its file and ``explain --json`` hold it (rule A-1)."""

from typing import NotRequired, TypedDict

from aggregate.base.values import Audit, Budget, FileChoice, rounded

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
