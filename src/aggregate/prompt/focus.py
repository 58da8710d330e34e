"""Which files a caller focuses on, however they are named (rule M-X7)."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from aggregate.base.errors import ConfigError
from aggregate.base.text import path_meant
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
from aggregate.project.files import display_path
from aggregate.prompt.fit.amounts import auto_budget

FOCUS_TIER = 3


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file at ``path``, which ``entry`` stands for.

    It is named by its entry, path, file name, or trailing path. Parts of names never count:
    ``a.py`` is not ``data.py``.
    """
    pure_path = PurePosixPath(_with_slashes(path))
    return any(_names(focus, pure_path, entry) for focus in focus_files)


def unknown_focus(focus: str, paths: Sequence[str]) -> str:
    """Return the sentence that a focus names none of the prompt's files."""
    remedy = path_meant(focus, paths) or "; name it under [files] paths too"
    return f"focus {focus}: no file of the project matches it{remedy}"


class FocusIndex:
    """Finds the files that a focus file names without asking all of them each time.

    Args:
        files: The path of each file and its entry.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = tuple(files)
        # What names a file ends with one of its path's parts, or is its entry.
        self._by_part: dict[str, list[int]] = {}
        self._by_entry: dict[str, list[int]] = {}
        for place, (path, entry) in enumerate(self._files):
            self._by_entry.setdefault(entry, []).append(place)
            for part in set(_parts(path)):
                self._by_part.setdefault(part, []).append(place)

    def places(self, focus: str) -> list[int]:
        """Return the places of the files that ``focus`` names, in order."""
        by_part = self._by_part.get(_parts(focus)[-1], ())
        candidates = sorted({*by_part, *self._by_entry.get(focus, ())})
        return [place for place in candidates if self._is_named(place, focus)]

    def _is_named(self, place: int, focus: str) -> bool:
        path, entry = self._files[place]
        return is_named(path, entry, [focus])


def named_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths that ``is_named`` holds for; fast also where both are thousands.

    Args:
        files: The path of each file and its entry.
        focus_files: What names them.
    """
    wanted = set(focus_files)
    if not wanted:
        return frozenset()
    listed = tuple(files)
    index = FocusIndex(listed)
    return frozenset(listed[place][0] for focus in wanted for place in index.places(focus))


def _names(focus: str, path: PurePosixPath, entry: str) -> bool:
    if focus in (entry, str(path)):
        return True
    named = PurePosixPath(_with_slashes(focus))
    if named == path or (named.parts and _contains(path.parts, named.parts)):
        return True
    return named.is_absolute() and named.parts[-len(path.parts) :] == path.parts


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/")


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(_with_slashes(path)).parts or ("",)


def _contains(parts: Sequence[str], run: Sequence[str]) -> bool:
    return any(parts[i : i + len(run)] == run for i in range(len(parts) - len(run) + 1))


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
