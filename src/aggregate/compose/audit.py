"""The account of a prompt: from what was decided and counted to an ``Audit`` (rules A-1, A-2 and A-4)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregate.compose.request import Request
from aggregate.models.audit import Audit, rounded
from aggregate.models.choice import Decided, FileChoice, Reason
from aggregate.models.prompt import Section
from aggregate.models.row_maker import row_maker
from aggregate.models.source_map import PackedRuns, SourceMap
from aggregate.models.task import Place, Task

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction
    from aggregate.tokens.count import PromptTokens

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
        request: What was composed; its secrets are replaced in the account too.
        prompt: What was decided.
        tokens: Of the prompt as it is written; they go before those that the decisions expected.
        size: Bytes of the prompt as it is written.
        source_map: Where its lines come from.
    """
    rows = _counted(prompt.choices, tokens)
    of_files = sum(tokens.sections.get(section, 0) for section in _OF_FILES)
    audit = Audit(
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
    return without_secrets(audit, request.redaction) if request.redaction else audit


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


def without_secrets(audit: Audit, redaction: "Redaction") -> Audit:
    """Return the account with the secrets replaced in all texts that others wrote, as in the prompt."""
    from aggregate.redaction.redact import redact  # its rules take time to compile

    texts = list(dict.fromkeys(_texts(audit)))
    result = redact("\n".join(texts), redaction)
    if not result.findings:
        return audit
    lines = iter(result.text.split("\n"))
    clean = {text: "\n".join(next(lines) for _ in range(text.count("\n") + 1)) for text in texts}
    return _rewritten(audit, clean.__getitem__)


def _texts(audit: Audit) -> Iterator[str]:
    """Yield all texts of an account that the user, the project or its history decides on."""
    task = audit.task
    yield from (task.text, task.since, *task.symbols, *(place.path for place in task.focus))
    for row in audit.rows:
        yield from (row.path, row.entry, *row.definitions)
        yield from (reason.matched for reason in row.reasons)
    yield from (text for cut in audit.cut for text in (cut.what, cut.reason))
    yield from (missing.reason for missing in audit.missing)
    if audit.source_map:
        yield from audit.source_map.runs.sources


def _rewritten(audit: Audit, clean: Callable[[str], str]) -> Audit:
    """Return the account with each of ``_texts`` replaced by what ``clean`` makes of it."""
    return replace(
        audit,
        task=_clean_task(audit.task, clean),
        rows=tuple(_clean_row(row, clean) for row in audit.rows),
        cut=tuple(
            cut._replace(what=clean(cut.what), reason=clean(cut.reason)) for cut in audit.cut
        ),
        missing=tuple(missing._replace(reason=clean(missing.reason)) for missing in audit.missing),
        source_map=audit.source_map and _clean_map(audit.source_map, clean),
    )


def _clean_task(task: Task, clean: Callable[[str], str]) -> Task:
    return Task(
        clean(task.text),
        tuple(Place(clean(place.path), place.first, place.last) for place in task.focus),
        tuple(map(clean, task.symbols)),
        clean(task.since),
    )


def _clean_row(row: FileChoice, clean: Callable[[str], str]) -> FileChoice:
    return row._replace(
        path=clean(row.path),
        entry=clean(row.entry),
        definitions=tuple(map(clean, row.definitions)),
        reasons=tuple(
            Reason(reason.kind, reason.weight, clean(reason.matched)) for reason in row.reasons
        ),
    )


def _clean_map(source_map: SourceMap, clean: Callable[[str], str]) -> SourceMap:
    runs = source_map.runs
    return SourceMap(PackedRuns(tuple(map(clean, runs.sources)), runs.numbers))
