"""The account of a prompt to read: a table of its files, all about single ones, and the schema of its JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len

from aggregate.base.messages import shorten
from aggregate.base.request import FileChoice, FileOrder, Level, Reason
from aggregate.base.text import fitted, printable
from aggregate.prompt.audit.account import OF_FILES, ROW_KEYS, VERSION, Audit
from aggregate.prompt.document import Section

BAR = 16  # Characters of the longest bar


def bar(share: float) -> str:
    return "█" * round(BAR * min(max(share, 0.0), 1.0)) or "▏"


# Files that the prompt does not show which the table lists, the likeliest first.
_MOST_UNSHOWN = 10

_STRONGEST = 2  # Reasons that the table gives for a file

_TASK_CHARACTERS = 200  # Of a task in the table's heading; the audit has all of it

# Columns of a path: on the narrowest terminal, and where the reasons would not be seen any more.
_LEAST_NAME, _MOST_NAME = 10, 60

_WIDE = 90  # Columns from which there is room for bars

# Kinds of evidence, whose names in the audit are for programs, as a person says it; the others are clear.
_PLAIN_WORDS = {
    "all of the task": "what the task asks for",
    "auxiliary": "beside the source",
    "definition text": "words in a definition",
    "file text": "words in the file",
    "identifier used": "uses a name of the task",
    "kind in the task": "the task speaks of",
    "messages of changes": "words of its changes' messages",
    "near a seed": "near what you named",
    "subject": "words of the first line",
    "words of the file's name": "named like the task",
    "words of the name": "named like the task",
}


class AuditLines(NamedTuple):
    heading: list[str]
    table: list[str]  # its header and its rows; empty without files
    footing: list[str]


def audit_lines(audit: Audit, *, title: str = "", width: int = 0) -> AuditLines:
    """Return the lines of an account of a prompt that is called ``title``, empty where it was not written.

    Those of the table fit into ``width`` columns; ``0`` cuts nothing.
    """
    table = list(_table_lines(audit, width)) if audit.rows else []
    return AuditLines(list(_heading_lines(audit, title)), table, list(_footing_lines(audit)))


def _heading_lines(audit: Audit, title: str) -> Iterator[str]:
    limit = f" of {audit.budget.tokens:,}" if audit.budget else ""
    yield f"{f'{title}: ' if title else ''}{audit.tokens:,}{limit} tokens (o200k)"
    task = audit.task
    if task.text.strip():
        yield f"task: {shorten(' '.join(task.text.split()), _TASK_CHARACTERS)}"
    yield from (printable(f"second look: {line}") for line in task.look)
    seeds = [f"focus {place}" for place in task.focus]
    seeds += [f"symbol {name}" for name in task.symbols]
    seeds += [f"since {task.since}"] if task.since else []
    if seeds:
        yield f"seeds: {', '.join(seeds)}"


def _table_lines(audit: Audit, width: int) -> Iterator[str]:
    """Yield the header, the files with tokens by these, and then the likeliest of the others."""
    unshown = [row for row in audit.rows if not row.tokens]
    unshown.sort(key=lambda row: (row.rank is None, row.rank or 0, row.path))
    rows = sorted(
        (row for row in audit.rows if row.tokens), key=lambda row: (-row.tokens, row.path)
    )
    rows += unshown[:_MOST_UNSHOWN]
    best = max((row.score or 0.0 for row in rows), default=0.0)
    lines = [("tokens", "level", "score", "", "file", "why"), *(_cells(row, best) for row in rows)]
    tokens, level, score, _, names, _ = (
        max(map(cell_len, cells)) for cells in zip(*lines, strict=True)
    )
    has_scores = any(row.score is not None for row in rows)
    has_bars = has_scores and (not width or width >= _WIDE)
    if width:
        names = min(names, max(width // 3, _LEAST_NAME), _MOST_NAME)
    for line in lines:
        cells = [line[0].rjust(tokens), line[1].ljust(level)]
        cells += [line[2].rjust(score)] if has_scores else []
        cells += [line[3].ljust(BAR)] if has_bars else []
        text = "  ".join([*cells, fitted(line[4], names), line[5]]).rstrip()
        yield fitted(text, width).rstrip() if width and cell_len(text) > width else text


def _cells(row: FileChoice, best: float) -> tuple[str, ...]:
    return (
        f"{row.tokens:,}",
        f"{row.level.value}{' (pinned)' if row.pinned else ''}",
        "" if row.score is None else f"{row.score:.1%}",
        bar(row.score / best) if row.score and best else "",
        printable(row.path),
        printable(told_reasons(row.reasons)),
    )


def told_reasons(reasons: Sequence[Reason]) -> str:
    """Return the strongest reasons of a file in words, ``""`` for none."""
    return "; ".join(map(_because, reasons[:_STRONGEST]))


def _because(reason: Reason) -> str:
    kind, matched = _PLAIN_WORDS.get(reason.kind, reason.kind), reason.matched
    if not matched or kind.removesuffix("s") in matched:  # such as "3 similar changes"
        return matched or kind
    return f"{kind}: {matched}"


def _footing_lines(audit: Audit) -> Iterator[str]:
    more = sum(not row.tokens for row in audit.rows) - _MOST_UNSHOWN
    if more > 0:
        yield f"and {more:,} more that are not shown: aggregate explain PATH tells of any"
    if audit.generated:
        yield f"{audit.generated:>9,} in headings of the files' section and in what it lists as not shown"
    for section, tokens in audit.sections.items():
        if section not in OF_FILES:
            yield f"{tokens:>9,} in {section.value}"
    for cut in audit.cut:
        yield f"cut: {cut.section}: {cut.what}, {cut.tokens:,} tokens: {cut.reason}"
    if audit.guess:
        yield f"a guess: {audit.guess.sentence}"
    for missing in audit.missing:
        yield f"no evidence of {missing.evidence}: {missing.reason}"


def row_lines(audit: Audit, row: FileChoice) -> Iterator[str]:
    most = "" if row.most in (row.level, Level.NONE) else f" (at most {row.most.value})"
    pin = ", shown whatever it costs" if row.pinned else ""
    size = f" of about {row.size:,}" if row.size > row.tokens else ""
    rank = f", rank {row.rank:,} of {len(audit.rows):,}" if row.rank else ""
    yield printable(row.path)
    yield f"  level        {row.level.value}{most}{pin}"
    yield f"  tokens       {row.tokens:,}{size}"
    if row.score is not None:
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
    kinds = [_PLAIN_WORDS.get(reason.kind, reason.kind) for reason in row.reasons]
    width = max(map(len, kinds), default=0)
    for reason, kind in zip(row.reasons, kinds, strict=True):
        yield f"    {reason.weight:>8.3f}  {kind.ljust(width)}  {reason.matched}".rstrip()


def audit_schema() -> dict[str, Any]:
    """Return the schema of an audit as JSON; it describes each key, and allows no other."""
    schema = _object(_AUDIT, optional="source_map")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit of a prompt",
        "description": "What was decided about one prompt, and why.",
        **schema,
    }


_Key = tuple[str, Mapping[str, Any]]  # What a key means, and the schema of its value


def _object(properties: Mapping[str, _Key], *, optional: str = "") -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"description": description, **value}
            for name, (description, value) in properties.items()
        },
        "required": [name for name in properties if name != optional],
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [{"type": "null"}, value]}


_TEXT = {"type": "string"}

_TEXTS = _list(_TEXT)

_COUNT = {"type": "integer", "minimum": 0}

_NUMBER = {"type": "integer", "minimum": 1}

_SHARE = {"type": "number", "minimum": 0, "maximum": 1}

_LEVEL = {"enum": [level.value for level in Level]}

_SEEDS: dict[str, _Key] = {
    "focus": ("Files and places that are shown whatever they cost.", _TEXTS),
    "symbols": ("Names of definitions.", _TEXTS),
    "since": ("A git revision, empty for none.", _TEXT),
}

_BUDGET: dict[str, _Key] = {
    "tokens": ("The most tokens of the prompt.", _NUMBER),
    "history": ("The part of what pins leave that the discussion may take.", _SHARE),
    "results": ("The part of what pins leave that results may claim at least.", _SHARE),
    "order": ("The order of the files.", {"enum": [order.value for order in FileOrder]}),
}

_MISSING = {"evidence": ("Its kind.", _TEXT), "reason": ("Why there was none.", _TEXT)}

_GUESS: dict[str, _Key] = {
    "reason": ("Why it is one.", _TEXT),
    "proposals": ("Names that may help, the likeliest first.", _TEXTS),
}

_CUT: dict[str, _Key] = {
    "section": ("Which one.", _TEXT),
    "what": ("Which turn, result or list.", _TEXT),
    "tokens": ("How many that saved.", _COUNT),
    "reason": ("Why.", _TEXT),
}

_EVIDENCE: dict[str, _Key] = {
    "kind": ("What was observed.", _TEXT),
    "weight": ("What it added to the score.", {"type": "number"}),
    "matched": ("Terms, a symbol, another file.", _TEXT),
}

# By ``ROW_KEYS``.
_ROW = (
    ("As the prompt shows it.", _TEXT),
    ("The path or glob of the configuration.", _TEXT),
    ("How much of it is shown; name: it is listed, left out: it is counted.", _LEVEL),
    ("The most that its entry allows.", _LEVEL),
    ("Whether it is shown whatever it costs.", {"type": "boolean"}),
    ("Of its block, by o200k.", _COUNT),
    ("How likely the task touches it; null without a task.", _or_null(_SHARE)),
    ("Its place by score; null without a task.", _or_null(_NUMBER)),
    ("Why, the strongest first.", _list(_object(_EVIDENCE))),
    ("Those that are shown in full.", _TEXTS),
    ("The level that another tenth of the budget would buy.", _or_null(_LEVEL)),
    ("SHA-256 of its bytes, empty where nothing of it is shown.", _TEXT),
    ("Tokens of the whole file, as far as they are known.", _COUNT),
)

_MAP = {
    "sources": ("Those that no row has; they follow on the paths of the rows.", _TEXTS),
    "runs": (
        "Runs of lines, packed: columns of numbers in JSON, compressed by zlib, in base 85.",
        _TEXT,
    ),
}

_SECTIONS = {
    "type": "object",
    "propertyNames": {"enum": [section.value for section in Section]},
    "additionalProperties": _COUNT,
}

_AUDIT: dict[str, _Key] = {
    "version": ("Of this format.", {"const": VERSION}),
    "task": ("What the prompt is for; empty where nobody said so.", _TEXT),
    "seeds": ("What the user points at beside the task.", _object(_SEEDS)),
    "look": ("Whom a second look asked, for how much, and a line of each file picked.", _TEXTS),
    "budget": ("The most tokens; null for no limit.", _or_null(_object(_BUDGET))),
    "tokens": ("Of the whole prompt, by o200k.", _COUNT),
    "sections": ("Tokens of each section that is there; they add up to tokens.", _SECTIONS),
    "generated": (
        "Tokens of the sections files and changed that belong to no row; with those of the rows and of the other "
        "sections they add up to tokens.",
        _COUNT,
    ),
    "bytes": ("Of the prompt in UTF-8.", _COUNT),
    "missing": ("Evidence that there was none of.", _list(_object(_MISSING))),
    "guess": (
        "Why the choice is a guess, as the task tells of no place; null where it is none.",
        _or_null(_object(_GUESS)),
    ),
    "cut": ("What else than files was shortened or left out.", _list(_object(_CUT))),
    "rows": (
        "The candidates, in the order of the configuration.",
        _list(_object(dict(zip(ROW_KEYS, _ROW, strict=True)))),
    ),
    "source_map": ("Where each line of the prompt comes from.", _object(_MAP)),
}
