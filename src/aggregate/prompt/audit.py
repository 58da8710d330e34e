"""The account of a prompt: from what was decided and counted to an ``Audit`` (rules A-1, A-2 and A-4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from aggregate.base.values import (
    Audit,
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
