"""What a caller asks for: a task and a budget, by himself or by the configuration (rules T-1, B-1)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aggregate.base.errors import ConfigError
from aggregate.base.values import (
    AUTO,
    MOST_TOKENS,
    Amount,
    Budget,
    FileOrder,
    Task,
    parse_amount,
)
from aggregate.project.configuration import BudgetTable, TaskTable
from aggregate.prompt.focus import FOCUS_TIER

AskedTask = str | Task
"""A task as a caller may name it: its text, or all of it."""
AskedBudget = int | str | Budget
"""A budget as a caller may name it: ``32000``, ``"32k"``, ``"auto"``, or all of it."""
ALL_FILES: Final = "**/*"
"""The glob that stands for all files that git would take."""
WITHOUT_MODEL: Final = 32_000
"""Tokens of ``auto`` where no model is named: every hosted model reads as much, and recall hardly grows beyond."""
MOST: Final = 60_000
"""The most tokens that ``auto`` takes of a larger window: beyond, models find less in what they read, at a price."""
_RESERVE: Final = 10
"""The part of a window, a tenth, that is kept free: for instructions, and for what a model counts more than o200k."""
_LEAST: Final = 4
"""The part of a window, a quarter, that a prompt gets at least: answers seldom are as long as they may be."""
_BINARY: Final = re.compile(r"(?:^|; )[\d,]+ matching files? left out as binary \([^()]*\)")
"""What is said of a glob that also stands for binary files."""


def task_of(asked: AskedTask | None, standing: TaskTable) -> Task | None:
    """Return the task that was asked for, or else the configuration's (rule T-1).

    A task that names only places or symbols has the text of the configuration.
    """
    if asked is None:
        return Task(standing.text) if standing.text.strip() else None
    task = Task(asked) if isinstance(asked, str) else asked
    has_only_seeds = not task.text and (task.focus or task.symbols or task.since)
    return replace(task, text=standing.text) if has_only_seeds else task


def budget_of(
    asked: AskedBudget | None,
    table: BudgetTable,
    *,
    preset: Amount | str | None = None,
    tier: int | None = None,
    window: int | None = None,
    answer: int = 0,
) -> Budget | None:
    """Return the budget in force: what was asked for, else the preset's, else the configuration's (rule B-1).

    For Tier 3 ``[budget] tier3`` goes before ``tokens`` (rule B-11); ``window`` and ``answer`` are for ``auto``.

    Raises:
        ConfigError: It is no budget.
    """
    if isinstance(asked, Budget):
        if not 1 <= asked.tokens <= MOST_TOKENS:
            raise ConfigError(
                f"the budget must have 1 to {MOST_TOKENS:,} tokens, not {asked.tokens!r}",
                key="budget",
            )
        for name, share in (("history", asked.history), ("results", asked.results)):
            if not 0 <= share <= 1:
                raise ConfigError(
                    f"the budget's share of {name} must be 0 to 1, not {share!r}",
                    key=f"budget.{name}",
                )
        return asked
    usual = table.tier3 if tier == FOCUS_TIER and table.tier3 is not None else table.tokens
    named = next((value for value in (asked, preset, usual) if value is not None), None)
    if named is None:
        return None
    try:
        amount = parse_amount(named)
    except ValueError as error:
        raise ConfigError(f"the budget {error}, not {named!r}", key="budget") from None
    tokens = auto_budget(window, answer, most=table.most) if amount == AUTO else amount
    return Budget(tokens, table.history, table.results, FileOrder(table.order))


def auto_budget(window: int | None, answer: int, *, most: int = MOST) -> int:
    """Return the tokens of ``auto`` for a model with this context window, ``None`` if not known, and longest answer."""
    if window is None:
        return min(WITHOUT_MODEL, most)
    room = window - answer - window // _RESERVE
    return max(1, min(max(room, window // _LEAST), most))


def for_reader(warnings: Sequence[str]) -> list[str]:
    """Return warnings of a prompt as they are said; of the glob for all files neither its name nor binary files."""
    sentences = []
    for warning in warnings:
        sentence = warning.removeprefix(f"{ALL_FILES}: ")
        if sentence != warning:
            sentence = _BINARY.sub("", sentence).removeprefix("; ")
        if sentence:
            sentences.append(sentence)
    return sentences
