"""What is asked of a prompt beside its files: the task and the budget, from options, preset and configuration."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.base.errors import ConfigError
from aggregate.base.values import (
    AUTO,
    MOST_TOKENS,
    Amount,
    Budget,
    FileOrder,
    Place,
    Task,
    parse_amount,
)
from aggregate.project.configuration import BudgetTable, TaskTable
from aggregate.prompt.fit.amounts import auto_budget
from aggregate.prompt.focus import FOCUS_TIER
from aggregate.prompt.selection import display_path

AskedTask = str | Task
"""A task as a caller may name it: its text, or all of it."""
AskedBudget = int | str | Budget
"""A budget as a caller may name it: ``32000``, ``"32k"``, ``"auto"``, or all of it."""
ALL_FILES: Final = "**/*"
"""The glob that stands for all files that git would take."""
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

    Args:
        asked: By the caller; a whole budget is taken as it is.
        table: Of the configuration.
        preset: What the context preset says.
        tier: Of the prompt; for Tier 3 ``[budget] tier3`` goes before ``tokens`` (rule B-11).
        window: Tokens of the model's context window, for ``auto``; ``None`` where no model is named.
        answer: Tokens that the model may write, for ``auto``.

    Raises:
        ConfigError: It is no budget.
    """
    if isinstance(asked, Budget):
        return _checked(asked)
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


def places_of(focus: Sequence[str | Path | Place], base_dir: Path) -> tuple[Place, ...]:
    """Return places relative to ``base_dir``; a file whose own name ends like a line's number is a file."""
    return tuple(_place(named, base_dir) for named in focus)


def whole_files(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the paths of places that are whole files, as a Tier 3 context takes them (rule T-2).

    Raises:
        ConfigError: One names lines.
    """
    for place in places:
        if place.first:
            raise ConfigError(
                f"focus {place}: a Tier 3 context shows whole files: leave the lines out, or name a task or a budget "
                "and no tier",
                key="focus",
            )
    return tuple(place.path for place in places)


def parse_place(text: str, folder: Path) -> Place:
    """Return the place that ``PATH[:LINE[-LINE]]`` names; all of it is a path where there is such a file."""
    return Place(text) if os.path.lexists(os.path.join(folder, text)) else Place.parse(text)


def for_reader(warnings: Sequence[str]) -> list[str]:
    """Return warnings of a prompt as they are said: the glob for all files is nobody's own, and is not named.

    That it stands for no binary files is no news.
    """
    sentences = []
    for warning in warnings:
        sentence = warning.removeprefix(f"{ALL_FILES}: ")
        if sentence != warning:
            sentence = _BINARY.sub("", sentence).removeprefix("; ")
        if sentence:
            sentences.append(sentence)
    return sentences


def _place(named: str | Path | Place, base_dir: Path) -> Place:
    place = named if isinstance(named, Place) else parse_place(str(named), base_dir)
    if not Path(place.path).is_absolute():
        return place
    return replace(place, path=display_path(place.path, base_dir))


def _checked(budget: Budget) -> Budget:
    """Return a budget that a caller has made, if it can be one.

    Raises:
        ConfigError: A number is out of its bounds.
    """
    if not 1 <= budget.tokens <= MOST_TOKENS:
        raise ConfigError(
            f"the budget must have 1 to {MOST_TOKENS:,} tokens, not {budget.tokens!r}", key="budget"
        )
    for name in ("history", "results"):
        share = getattr(budget, name)
        if not 0 <= share <= 1:
            raise ConfigError(
                f"the budget's share of {name} must be 0 to 1, not {share!r}", key=f"budget.{name}"
            )
    return budget
