"""The account of a prompt as lines to read: a table of its files, and all about single ones (rule A-2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from aggregate.base.text import BAR, bar, fitted, printable, shorten
from aggregate.base.values import Audit, FileChoice, FileOrder, Level, Reason, Section
from aggregate.prompt.audit import VERSION

_MOST_UNSHOWN = 10
"""Files that the prompt does not show which the table lists, the likeliest first."""
_STRONGEST = 2
"""Reasons that the table gives for a file."""
_TASK_CHARACTERS = 200
"""Of a task in the table's heading; the audit has all of it."""
_LEAST_NAME, _MOST_NAME = 10, 60
"""Columns of a path: on the narrowest terminal, and where the reasons would not be seen any more."""
_WIDE = 90
"""Columns from which there is room for bars."""
_PLAIN_WORDS = {
    "auxiliary": "beside the source",
    "definition text": "words in a definition",
    "file text": "words in the file",
    "identifier used": "uses a name of the task",
    "joined words": "a name that the task writes as words",
    "kind in the task": "the task speaks of",
    "messages of changes": "words of its changes' messages",
    "names around": "named like the task",
    "near a seed": "near what you named",
    "path words": "words in the path",
    "subject": "words of the first line",
}
"""Kinds of evidence, whose names in the audit are for programs, as a person says it; the others are clear."""
_OF_FILES = (Section.FILES, Section.CHANGED)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the table, ready to be set."""

    tokens: str
    level: str
    score: str
    bar: str
    path: str
    reasons: str


def audit_lines(audit: Audit, *, title: str = "") -> Iterator[str]:
    """Yield an account: what it is about, its files by tokens, and what else takes tokens or was cut.

    Args:
        audit: The account.
        title: What the prompt is called, ``""`` where it was not written.
    """
    yield from heading_lines(audit, title)
    if audit.rows:
        yield from table_lines(audit, width=0)
    yield from footing_lines(audit)


def listed_rows(audit: Audit) -> list[FileChoice]:
    """Return the files that the table lists: those with tokens by these, then the likeliest of the others."""
    shown = sorted(
        (row for row in audit.rows if row.tokens), key=lambda row: (-row.tokens, row.path)
    )
    return shown + sorted(_unshown(audit), key=_likelihood)[:_MOST_UNSHOWN]


def _unshown(audit: Audit) -> list[FileChoice]:
    return [row for row in audit.rows if not row.tokens]


def _likelihood(row: FileChoice) -> tuple[bool, int, str]:
    return row.rank is None, row.rank or 0, row.path


def heading_lines(audit: Audit, title: str) -> Iterator[str]:
    """Yield what the account is about."""
    limit = f" of {audit.budget.tokens:,}" if audit.budget else ""
    yield f"{f'{title}: ' if title else ''}{audit.tokens:,}{limit} tokens (o200k)"
    task = audit.task
    if task.text.strip():
        yield f"task: {shorten(' '.join(task.text.split()), _TASK_CHARACTERS)}"
    seeds = [*(f"focus {place}" for place in task.focus)]
    seeds += [f"symbol {name}" for name in task.symbols]
    seeds += [f"since {task.since}"] if task.since else []
    if seeds:
        yield f"seeds: {', '.join(seeds)}"


def table_lines(audit: Audit, *, width: int) -> Iterator[str]:
    """Yield the table's header and rows, cut so that all fit into ``width`` columns; ``0`` cuts nothing."""
    rows = listed_rows(audit)
    best = max((row.score or 0.0 for row in rows), default=0.0)
    header = _Line("tokens", "level", "score", "", "file", "why")
    lines = [header, *(_line(row, best) for row in rows)]
    has_scores = any(row.score is not None for row in rows)
    tokens, level, score = (
        max(len(cell) for cell in cells)
        for cells in zip(*((line.tokens, line.level, line.score) for line in lines), strict=True)
    )
    has_bars = has_scores and (not width or width >= _WIDE)
    names = max(cell_len(line.path) for line in lines)
    if width:
        names = min(names, max(width // 3, _LEAST_NAME), _MOST_NAME)
    for line in lines:
        cells = [line.tokens.rjust(tokens), line.level.ljust(level)]
        cells += [line.score.rjust(score)] if has_scores else []
        cells += [line.bar.ljust(BAR)] if has_bars else []
        text = "  ".join([*cells, fitted(line.path, names), line.reasons]).rstrip()
        yield fitted(text, width).rstrip() if width and cell_len(text) > width else text


def _line(row: FileChoice, best: float) -> _Line:
    score = "" if row.score is None else f"{row.score:.1%}"
    length = bar(row.score / best) if row.score and best else ""
    pin = " (pinned)" if row.pinned else ""
    reasons = "; ".join(map(_because, row.reasons[:_STRONGEST]))
    return _Line(
        f"{row.tokens:,}",
        f"{row.level.value}{pin}",
        score,
        length,
        printable(row.path),
        printable(reasons),
    )


def _because(reason: Reason) -> str:
    kind, matched = _said(reason.kind), reason.matched
    if not matched or kind.removesuffix("s") in matched:  # such as "3 similar changes"
        return matched or kind
    return f"{kind}: {matched}"


def _said(kind: str) -> str:
    return _PLAIN_WORDS.get(kind, kind)


def footing_lines(audit: Audit) -> Iterator[str]:
    """Yield what stands below the table."""
    more = len(_unshown(audit)) - _MOST_UNSHOWN
    if more > 0:
        yield f"and {more:,} more that are not shown: aggregate explain PATH tells of any"
    if audit.generated:
        yield f"{audit.generated:>9,} in headings of the files' section and in what it lists as not shown"
    for section, tokens in audit.sections.items():
        if section not in _OF_FILES:
            yield f"{tokens:>9,} in {section.value}"
    for cut in audit.cut:
        yield f"cut: {cut.section}: {cut.what}, {cut.tokens:,} tokens: {cut.reason}"
    for missing in audit.missing:
        yield f"no evidence of {missing.evidence}: {missing.reason}"


def row_lines(audit: Audit, row: FileChoice) -> Iterator[str]:
    """Yield everything about one file of an account."""
    yield printable(row.path)
    yield f"  level        {_level(row)}"
    size = f" of about {row.size:,}" if row.size > row.tokens else ""
    yield f"  tokens       {row.tokens:,}{size}"
    if row.score is not None:
        rank = f", rank {row.rank:,} of {len(audit.rows):,}" if row.rank else ""
        yield f"  score        {row.score:.4%}{rank}"
    yield f"  entry        {row.entry}"
    if row.next:
        yield f"  next         {row.next.value}, for another tenth of the budget"
    if row.definitions:
        yield f"  definitions  {', '.join(row.definitions)}"
    if row.content_hash:
        yield f"  content      sha256:{row.content_hash}"
    if row.reasons:
        yield "  evidence"
    kind = max((len(_said(reason.kind)) for reason in row.reasons), default=0)
    for reason in row.reasons:
        yield f"    {reason.weight:>8.3f}  {_said(reason.kind).ljust(kind)}  {reason.matched}".rstrip()


def _level(row: FileChoice) -> str:
    """Return how much is shown of a file, and what may be."""
    most = "" if row.most in (row.level, Level.NONE) else f" (at most {row.most.value})"
    pin = ", shown whatever it costs" if row.pinned else ""
    return f"{row.level.value}{most}{pin}"


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_LEVEL = {"enum": [level.value for level in Level]}


def audit_schema() -> dict[str, Any]:
    """Return the schema; it describes each key, and allows no other."""
    schema = _table(
        "What was decided about one prompt, and why.",
        {
            "version": _key("Of this format.", {"const": VERSION}),
            "task": _key("What the prompt is for; empty where nobody said so.", _TEXT),
            "seeds": _table("What the user points at beside the task.", _SEEDS),
            "budget": _optional("The most tokens; null for no limit.", _BUDGET),
            "tokens": _key("Of the whole prompt, by o200k.", _COUNT),
            "sections": {
                "description": "Tokens of each section that is there; they add up to tokens.",
                "type": "object",
                "propertyNames": {"enum": [section.value for section in Section]},
                "additionalProperties": _COUNT,
            },
            "generated": _key(
                "Tokens of the sections files and changed that belong to no row; with those of the rows and of the "
                "other sections they add up to tokens.",
                _COUNT,
            ),
            "bytes": _key("Of the prompt in UTF-8.", _COUNT),
            "missing": _list("Evidence that there was none of.", _MISSING),
            "cut": _list("What else than files was shortened or left out.", _CUT),
            "rows": _list("The candidates, in the order of the configuration.", _ROW),
            "source_map": _table("Where each line of the prompt comes from.", _MAP),
        },
        optional=("source_map",),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit of a prompt",
        **schema,
    }


def _key(description: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, **value}


def _list(description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "type": "array", "items": _object(properties)}


def _texts(description: str) -> dict[str, Any]:
    return {"description": description, "type": "array", "items": _TEXT}


def _table(
    description: str, properties: Mapping[str, Any], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {"description": description, **_object(properties, optional)}


def _optional(description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "anyOf": [{"type": "null"}, _object(properties)]}


def _nullable(description: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "anyOf": [{"type": "null"}, value]}


def _object(properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_SEEDS = {
    "focus": _texts("Files and places that are shown whatever they cost."),
    "symbols": _texts("Names of definitions."),
    "since": _key("A git revision, empty for none.", _TEXT),
}
_BUDGET = {
    "tokens": _key("The most tokens of the prompt.", {"type": "integer", "minimum": 1}),
    "history": _key("The part of what pins leave that the discussion may take.", _SHARE),
    "results": _key("The part of what pins leave that results may take.", _SHARE),
    "order": _key("The order of the files.", {"enum": [order.value for order in FileOrder]}),
}
_MISSING = {
    "evidence": _key("Its kind.", _TEXT),
    "reason": _key("Why there was none.", _TEXT),
}
_CUT = {
    "section": _key("Which one.", _TEXT),
    "what": _key("Which turn, result or list.", _TEXT),
    "tokens": _key("How many that saved.", _COUNT),
    "reason": _key("Why.", _TEXT),
}
_EVIDENCE = {
    "kind": _key("What was observed.", _TEXT),
    "weight": _key("What it added to the score.", {"type": "number"}),
    "matched": _key("Terms, a symbol, another file.", _TEXT),
}
_ROW = {
    "path": _key("As the prompt shows it.", _TEXT),
    "entry": _key("The path or glob of the configuration.", _TEXT),
    "level": _key("How much of it is shown; name: it is listed, left out: it is counted.", _LEVEL),
    "most": _key("The most that its entry allows.", _LEVEL),
    "pinned": _key("Whether it is shown whatever it costs.", {"type": "boolean"}),
    "tokens": _key("Of its block, by o200k.", _COUNT),
    "score": _nullable("How likely the task touches it; null without a task.", _SHARE),
    "rank": _nullable(
        "Its place by score; null without a task.", {"type": "integer", "minimum": 1}
    ),
    "evidence": _list("Why, the strongest first.", _EVIDENCE),
    "definitions": _texts("Those that are shown in full."),
    "next": _nullable("The level that another tenth of the budget would buy.", _LEVEL),
    "content_hash": _key("SHA-256 of its bytes, empty where it was not read.", _TEXT),
    "size": _key("Tokens of the whole file, as far as they are known.", _COUNT),
}
_MAP = {
    "sources": _texts("Those that no row has; they follow on the paths of the rows."),
    "runs": _key(
        "Runs of lines, packed: columns of numbers, compressed by zlib, in base 85.", _TEXT
    ),
}
