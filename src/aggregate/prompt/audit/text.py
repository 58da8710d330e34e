"""Audits as text: the table of files, and the details of one file."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from aggregate.base.messages import fitted, shorten
from aggregate.base.task_budget import FileChoice, Level, Reason
from aggregate.base.text import printable
from aggregate.prompt.audit.account import OF_FILES, Audit

BAR = 16  # Characters of the longest bar


def bar(share: float) -> str:
    return "█" * round(BAR * min(max(share, 0.0), 1.0)) or "▏"


_MOST_UNSHOWN = 10  # hidden files in the table, the likeliest first
_STRONGEST = 2  # reasons for a file in the table
_TASK_CHARACTERS = 200  # of the task in the heading; the audit has all of it
_LEAST_NAME, _MOST_NAME = 10, 60  # columns of a path; wider ones would hide the reasons
_WIDE = 90  # columns from which the table has bars
# Kinds of evidence whose names in the audit are for programs.
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
    """Return the lines of an audit.

    ``title`` is the prompt's file, if it was written. The table has at most ``width`` columns; ``0`` cuts nothing.
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
    """Return the strongest reasons for a file's score in words, ``""`` without reasons."""
    return "; ".join(map(_because, reasons[:_STRONGEST]))


def _because(reason: Reason) -> str:
    kind, matched = _PLAIN_WORDS.get(reason.kind, reason.kind), reason.matched
    if not matched or kind.removesuffix("s") in matched:  # such as "3 similar changes"
        return matched or kind
    return f"{kind}: {matched}"


def _footing_lines(audit: Audit) -> Iterator[str]:
    more = sum(not row.tokens for row in audit.rows) - _MOST_UNSHOWN
    if more > 0:
        yield f"and {more:,} more hidden files: aggregate explain PATH describes one"
    if audit.generated:
        yield f"{audit.generated:>9,} in headings of the files' section and in its list of hidden files"
    for section, tokens in audit.sections.items():
        if section not in OF_FILES:
            yield f"{tokens:>9,} in {section.value}"
    for cut in audit.cut:
        yield f"cut: {cut.section}: {cut.what}, {cut.tokens:,} tokens: {cut.reason}"
    if audit.guess:
        yield f"a guess: {audit.guess.sentence}"
    for missing in audit.missing:
        yield f"ranked without {missing.evidence}: {missing.reason}"


def row_lines(audit: Audit, row: FileChoice) -> Iterator[str]:
    limit = "" if row.most in (row.level, Level.NONE) else f" (at most {row.most.value})"
    pin = ", always shown" if row.pinned else ""
    size = f" of about {row.size:,}" if row.size > row.tokens else ""
    rank = f", rank {row.rank:,} of {len(audit.rows):,}" if row.rank else ""
    yield printable(row.path)
    yield f"  level        {row.level.value}{limit}{pin}"
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
