"""Everything that one prompt is made of, resolved: what the configuration, a preset and the caller ask for."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from aggregate.base.errors import ConfigError
from aggregate.base.files import Entry, FileItem, GeneratedView, Narrowing
from aggregate.base.messages import path_meant
from aggregate.base.redaction import AS_THEY_ARE, Redaction, redact_words
from aggregate.base.request import (
    AUTO,
    MOST_TOKENS,
    Amount,
    Budget,
    FileOrder,
    Finish,
    Place,
    SentFile,
    Task,
    parse_amount,
)
from aggregate.project.files import display_path
from aggregate.project.paths import Scope
from aggregate.project.tables import BudgetTable, Config, TaskTable

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset
    from aggregate.prompt.results import Results

FOCUS_TIER = 3
_REPLACED = "task: secrets in its words are replaced: --no-redact keeps them"


class Strategy(StrEnum):
    """How files are rendered: each by its own view, or all by summaries (rule M-30)."""

    AUTO = "auto"
    SUMMARIZE = "summarize"
    FULL = "full"

    @classmethod
    def parse(cls, value: object) -> "Strategy":
        """Return the strategy that ``value`` names; any other value behaves like ``AUTO``."""
        try:
            return cls(str(value))
        except ValueError:
            return cls.AUTO

    def is_summary(self, *, summary_only: bool) -> bool:
        return self is Strategy.SUMMARIZE or (self is Strategy.AUTO and summary_only)


@dataclass(frozen=True, slots=True)
class Request:
    """What to compose.

    Attributes:
        base_dir: Where the files' relative paths begin.
        screenshot_dir: Where the screenshots' relative paths begin.
        shown_from: The folder that screenshots' paths are shown relative to.
        summary_only: For ``AUTO``: summaries.
        focus_files: Focus files; any, or tier 3, make it a Tier 3 prompt.
        tier: ``3`` for a Tier 3 prompt.
        doubts: What is odd about what was asked for, one sentence each.
        results: Results of sub-agents to show.
        redaction: What is a secret in all of this, and whether it is replaced; in the words of the task it is at once.
        kept: With a budget: the files of the discussion's last prompt, in the order in which they were sent (rule B-9).
        reads_results: Whether the reader has the tool that reads on in cut results.
        discussion: The name of the discussion that ``history`` is of, ``""`` for the default one.
        continues: The name of the discussion that it goes on from, such as one that it was forked from.
        title: The project's name.
        finish: What it says beside what it shows; nothing of a prompt to be sent, which says its task as a message.
        is_overview: Whether it shows a folder without a configuration, for no task (rule T-12).
        narrowing: The files that the command line asks for.
        output_file: Where the prompt is written instead of a numbered file, ``None`` for that.
    """

    base_dir: Path
    entries: tuple[Entry, ...]
    exclude: tuple[str, ...]
    screenshot_dir: Path
    screenshots: tuple[str, ...]
    shown_from: Path
    history: tuple[object, ...]
    strategy: Strategy
    summary_only: bool
    beads: bool
    output_dir: Path
    namespace: str
    focus_files: tuple[str, ...] = ()
    tier: int | None = None
    doubts: tuple[str, ...] = ()
    results: "tuple[Results, ...]" = ()
    scope: Scope = field(default_factory=Scope)
    redaction: Redaction = AS_THEY_ARE
    generated: GeneratedView = GeneratedView.NAME
    task: Task | None = None
    budget: Budget | None = None
    kept: tuple[SentFile, ...] = ()
    reads_results: bool = False
    discussion: str = ""
    continues: str | None = None
    title: str = ""
    finish: Finish | None = None
    is_overview: bool = False
    narrowing: Narrowing = field(default_factory=Narrowing)
    output_file: Path | None = None

    def __post_init__(self) -> None:
        # Here, so that no ranking, account or prompt can be made of words that are to be replaced.
        task = self.task or Task()
        words = (task.text, task.since, *task.symbols, *self.focus_paths)
        clean = redact_words(words, self.redaction) if any(words) else {}
        if clean:

            def said(word: str) -> str:
                return clean.get(word, word)

            places = tuple(replace(place, path=said(place.path)) for place in task.focus)
            symbols = tuple(map(said, task.symbols))
            task = replace(
                task, text=said(task.text), focus=places, symbols=symbols, since=said(task.since)
            )
            object.__setattr__(self, "focus_files", tuple(map(said, self.focus_files)))
            object.__setattr__(self, "task", self.task and task)
            object.__setattr__(self, "doubts", (*self.doubts, _REPLACED))

    @property
    def written_in(self) -> Path | None:
        """The folder that ``output_dir`` must lie in, links resolved; ``None`` for anywhere."""
        return None if self.scope.allow_outside else Path(self.scope.root)

    @property
    def focus_paths(self) -> tuple[str, ...]:
        """What names the files that the user points at, each once."""
        places = self.task.focus if self.task else ()
        return tuple(dict.fromkeys((*self.focus_files, *(place.path for place in places))))

    @property
    def is_structural(self) -> bool:
        """Whether it explains the project, for no task: an overview, or what a configuration names."""
        if self.budget is None or self.task is not None:
            return False
        is_plain = self.finish is not None and self.tier is None and not self.is_summary
        return self.is_overview or is_plain

    @property
    def is_audited(self) -> bool:
        """Whether an account is left beside the prompt: for a task or a budget (rule A-1)."""
        return self.task is not None or self.budget is not None

    @property
    def is_finished(self) -> bool:
        """Whether a prompt is for a task within a budget, and no message goes with it (rule T-3)."""
        return self.finish is not None and self.task is not None and self.budget is not None

    @property
    def file_order(self) -> FileOrder:
        """The order of the files within a budget (rule B-8)."""
        order = self.budget.order if self.budget else FileOrder.CONFIGURED
        if order is not FileOrder.AUTO:
            return order
        is_alone = (self.is_finished or self.is_overview) and not self.history
        return FileOrder.RELEVANCE if is_alone else FileOrder.CONFIGURED

    @property
    def is_review(self) -> bool:
        """Whether a prompt shows what has changed, for no task (rule T-14)."""
        task = self.task
        return (
            task is not None
            and bool(task.since)
            and not (task.text.strip() or task.focus or task.symbols)
        )

    @property
    def is_numbered(self) -> bool:
        """Whether lines of files are shown with their numbers."""
        return self.finish is not None and self.finish.line_numbers

    @property
    def is_tier3(self) -> bool:
        return self.tier == FOCUS_TIER or bool(self.focus_files)

    @property
    def is_summary(self) -> bool:
        return self.strategy.is_summary(summary_only=self.summary_only)


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file at ``path``, which ``entry`` stands for.

    It is named by its entry, path, file name, or trailing path. Parts of names never count:
    ``a.py`` is not ``data.py``.
    """
    parts = _parts(path)
    return any(focus == entry or _names(_parts(focus), parts) for focus in focus_files)


def _names(focus: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    length = len(focus)
    if any(parts[i : i + length] == focus for i in range(len(parts) - length + 1)):
        return True
    return focus[0] == "/" and focus[-len(parts) :] == parts


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts or ("",)


def unknown_focus(focus: str, paths: Sequence[str]) -> str:
    """Return the sentence that a focus names none of the prompt's files."""
    remedy = path_meant(focus, paths) or "; name it under [files] paths too"
    return f"focus {focus}: no file of the project matches it{remedy}"


class FocusIndex:
    """Finds, of files by their paths and entries, those that a focus file names without asking all of them."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = tuple(files)
        # What names a file ends with one of its path's parts, or is its entry.
        self._by_part: dict[str, list[int]] = {}
        self._by_entry: dict[str, list[int]] = {}
        for number, (path, entry) in enumerate(self._files):
            self._by_entry.setdefault(entry, []).append(number)
            for part in set(_parts(path)):
                self._by_part.setdefault(part, []).append(number)

    def find(self, *focus_files: str) -> list[int]:
        """Return the numbers of the files that one of ``focus_files`` names, in order."""
        found: set[int] = set()
        for focus in set(focus_files):
            by_part = self._by_part.get(_parts(focus)[-1], ())
            candidates = {*by_part, *self._by_entry.get(focus, ())}
            found.update(
                each
                for each in candidates
                if is_named(self._files[each][0], self._files[each][1], [focus])
            )
        return sorted(found)


def focus_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths of the files, of each its path and its entry, that ``is_named`` holds for."""
    wanted = tuple(focus_files)
    if not wanted:
        return frozenset()
    listed = tuple(files)
    return frozenset(listed[each][0] for each in FocusIndex(listed).find(*wanted))


def parse_place(text: str, folder: Path) -> Place:
    """Return the place that ``PATH[:LINE[-LINE]]`` names; all of it is a path where there is such a file."""
    return Place(text) if os.path.lexists(os.path.join(folder, text)) else Place.parse(text)


AskedTask = str | Task  # A task as a caller may name it: its text, or all of it
# A budget as a caller may name it: ``32000``, ``"32k"``, ``"auto"``, or all of it.
AskedBudget = int | str | Budget
ALL_FILES: Final = "**/*"  # The glob that stands for all files that git would take
EVERY: Final = Entry(FileItem(ALL_FILES))
NO_BUDGET: Final = "all"  # As a budget: none, whatever the configuration says
# Tokens of ``auto`` where no model is named: every hosted model reads as much, and recall hardly grows beyond.
WITHOUT_MODEL: Final = 32_000
# The most tokens that ``auto`` takes of a larger window: beyond, models find less in what they read, at a price.
MOST: Final = 60_000
# The part of a window, a tenth, that is kept free: for instructions, and for what a model counts more than o200k.
_RESERVE: Final = 10
# The part of a window, a quarter, that a prompt gets at least: answers seldom are as long as they may be.
_LEAST: Final = 4
# What is said of a glob that also stands for binary files.
_BINARY: Final = re.compile(r"(?:^|; )[\d,]+ matching files? left out as binary \([^()]*\)")


def asked_for(
    request: Request,
    config: Config,
    preset: "ContextPreset | None",
    task: AskedTask | None,
    budget: AskedBudget | None,
    focus_files: Sequence[str | Path | Place],
    *,
    tier: int | None,
    window: int | None,
    answer: int,
) -> Request:
    """Return a request with what is asked for, or else what a context preset or the configuration says.

    With a task or a budget ``focus_files`` are places to start from, otherwise a Tier 3 prompt's (rule T-2).
    """
    wanted, limit = _task_of(task, config.task), preset.budget if preset else None
    tokens = _budget_of(
        budget, config.budget, preset=limit, tier=tier, window=window, answer=answer
    )
    places = _places_of((*focus_files, *(wanted.focus if wanted else ())), request.base_dir)
    if wanted is None and tokens is None:
        return replace(request, focus_files=_whole_files(places), tier=tier)
    return replace(
        request,
        entries=request.entries or (() if preset else (EVERY,)),
        focus_files=_whole_files(places) if tier == FOCUS_TIER else (),
        tier=tier,
        task=replace(wanted or Task(), focus=places) if places else wanted,
        budget=tokens,
    )


def _task_of(asked: AskedTask | None, standing: TaskTable) -> Task | None:
    """Return the task that was asked for, or else the configuration's (rule T-1).

    A task that names only places or symbols has the text of the configuration.
    """
    if asked is None:
        return Task(standing.text) if standing.text.strip() else None
    task = Task(asked) if isinstance(asked, str) else asked
    has_only_seeds = not task.text and (task.focus or task.symbols or task.since)
    return replace(task, text=standing.text) if has_only_seeds else task


def _budget_of(
    asked: AskedBudget | None,
    table: BudgetTable,
    *,
    preset: Amount | str | None,
    tier: int | None,
    window: int | None,
    answer: int,
) -> Budget | None:
    """Return the budget in force: what was asked for, else the preset's, else the configuration's (rule B-1).

    For Tier 3 ``[budget] tier3`` goes before ``tokens`` (rule B-11); ``window`` and ``answer`` are for ``auto``.
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
    if asked == NO_BUDGET:
        return None
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


def _places_of(focus: Sequence[str | Path | Place], base_dir: Path) -> tuple[Place, ...]:
    """Return places relative to ``base_dir``; a file whose own name ends like a line's number is a file."""
    places = (
        each if isinstance(each, Place) else parse_place(str(each), base_dir) for each in focus
    )
    return tuple(
        replace(place, path=display_path(place.path, base_dir))
        if Path(place.path).is_absolute()
        else place
        for place in places
    )


def _whole_files(places: Sequence[Place]) -> tuple[str, ...]:
    for place in places:
        if place.first:
            raise ConfigError(
                f"focus {place}: a Tier 3 context shows whole files: leave the lines out, or name a task or a budget "
                "and no tier",
                key="focus",
            )
    return tuple(place.path for place in places)


def auto_budget(window: int | None, answer: int, *, most: int = MOST) -> int:
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
