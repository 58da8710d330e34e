"""What was decided about a prompt, and why: what ``explain`` shows and a file beside the prompt keeps (rule A-1)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from aggregate.base.values.budget import Budget
from aggregate.base.values.choice import Cut, FileChoice, Missing
from aggregate.base.values.prompt import Section
from aggregate.base.values.source_map import SourceMap
from aggregate.base.values.task import Task

_DIGITS = 6
"""Of a score's fraction: what lies beyond may differ from one machine to the next."""


def rounded(number: float) -> float:
    """Return a number as an account holds it: finite, with few digits, and never ``-0.0``."""
    return round(number, _DIGITS) + 0.0 if math.isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The account of one prompt.

    The tokens of the rows, what is ``generated`` and the sections without files add up to ``tokens`` (rule A-2).

    Attributes:
        task: What the prompt is for, empty where nobody said so.
        budget: The most tokens that it may have, ``None`` for no limit.
        tokens: Of the whole prompt, by o200k.
        sections: Tokens of each section that is there, in order.
        generated: Tokens of the sections of files that belong to no row: headings, and what lists the files that are
            not shown.
        rows: Each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        size: Bytes of the prompt, ``0`` where it was not written.
        source_map: Where its lines come from, ``None`` where that is not recorded.
    """

    task: Task
    budget: Budget | None
    tokens: int
    sections: Mapping[Section, int]
    generated: int
    rows: tuple[FileChoice, ...]
    cut: tuple[Cut, ...] = ()
    missing: tuple[Missing, ...] = ()
    size: int = 0
    source_map: SourceMap | None = field(default=None, repr=False)
