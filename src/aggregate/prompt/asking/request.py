"""The settings of one prompt, from configuration, preset and caller."""

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
from aggregate.base.task import (
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
    from aggregate.prompt.asking.results import Results

FOCUS_TIER = 3
_REPLACED = "secrets in the task are replaced: --no-redact keeps them"


class Strategy(StrEnum):
    """How files are rendered: each in its own view, or all as summaries (rule M-30)."""

    AUTO = "auto"
    SUMMARIZE = "summarize"
    FULL = "full"

    @classmethod
    def parse(cls, value: object) -> "Strategy":
        """Return the strategy that a configured value names, ``AUTO`` for an unknown one."""
        try:
            return cls(str(value))
        except ValueError:
            return cls.AUTO

    def is_summary(self, *, summary_only: bool) -> bool:
        return self is Strategy.SUMMARIZE or (self is Strategy.AUTO and summary_only)


@dataclass(frozen=True, slots=True)
class Request:
    """The settings of one prompt.

    Attributes:
        base_dir: The folder of the files' relative paths.
        screenshot_dir: The folder of the screenshots' relative paths.
        shown_from: Screenshots' paths are shown relative to this folder.
        summary_only: Whether ``AUTO`` shows summaries.
        focus_files: Focus files; any, or tier 3, make it a Tier 3 prompt.
        tier: ``3`` for a Tier 3 prompt.
        doubts: One sentence for each odd setting.
        results: Results of sub-agents to show.
        redaction: The allowed values, and whether secrets are replaced; those in the task are replaced at once.
        kept: With a budget: the files of the discussion's last prompt, in the order sent (rule B-9).
        reads_results: Whether the reader has the tool for cut results.
        discussion: The name of the discussion in ``history``, ``""`` for the default one.
        continues: The name of the discussion from which this one was forked.
        title: The project's name.
        finish: The user's texts; none for a prompt to be sent, whose task is a message.
        is_overview: Whether the prompt shows a folder without a configuration and a task (rule T-12).
        narrowing: The files selected by the command line.
        output_file: The file to write instead of a numbered one.
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
        # Before any ranking, audit or prompt uses the words.
        task = self.task or Task()
        words = (task.text, task.since, *task.symbols, *self.focus_paths)
        clean = redact_words(words, self.redaction) if any(words) else {}
        if clean:

            def redacted(word: str) -> str:
                return clean.get(word, word)

            focus = tuple(replace(place, path=redacted(place.path)) for place in task.focus)
            symbols = tuple(map(redacted, task.symbols))
            text, since = redacted(task.text), redacted(task.since)
            task = replace(task, text=text, focus=focus, symbols=symbols, since=since)
            object.__setattr__(self, "focus_files", tuple(map(redacted, self.focus_files)))
            object.__setattr__(self, "task", self.task and task)
            object.__setattr__(self, "doubts", (*self.doubts, _REPLACED))

    @property
    def written_in(self) -> Path | None:
        """The folder in which ``output_dir`` must be, as a real path, ``None`` for no restriction."""
        return None if self.scope.allow_outside else Path(self.scope.root)

    @property
    def focus_paths(self) -> tuple[str, ...]:
        """Paths of the user's focus files, each once."""
        focus = self.task.focus if self.task else ()
        return tuple(dict.fromkeys((*self.focus_files, *(place.path for place in focus))))

    @property
    def is_structural(self) -> bool:
        """Whether the prompt explains the structure of the project.

        It does with a budget but without a task.
        """
        if self.budget is None or self.task is not None:
            return False
        is_plain = self.finish is not None and self.tier is None and not self.is_summary
        return self.is_overview or is_plain

    @property
    def is_audited(self) -> bool:
        """Whether the prompt gets an audit file: with a task or a budget (rule A-1)."""
        return self.task is not None or self.budget is not None

    @property
    def is_finished(self) -> bool:
        """Whether the prompt is complete without a message.

        It is with a task and a budget (rule T-3).
        """
        return self.finish is not None and self.task is not None and self.budget is not None

    @property
    def file_order(self) -> FileOrder:
        """The order of files in a budgeted prompt (rule B-8)."""
        order = self.budget.order if self.budget else FileOrder.CONFIGURED
        if order is not FileOrder.AUTO:
            return order
        is_alone = (self.is_finished or self.is_overview) and not self.history
        return FileOrder.RELEVANCE if is_alone else FileOrder.CONFIGURED

    @property
    def is_review(self) -> bool:
        """Whether the prompt shows changes, without a task (rule T-14)."""
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
    def is_xml(self) -> bool:
        """Whether files are shown as XML documents (rule T-16)."""
        return self.finish is not None and self.finish.is_xml

    @property
    def is_tier3(self) -> bool:
        return self.tier == FOCUS_TIER or bool(self.focus_files)

    @property
    def is_summary(self) -> bool:
        return self.strategy.is_summary(summary_only=self.summary_only)


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Return whether ``focus_files`` name a file.

    They name it by its entry, or by the last parts of its path.
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
    """Return an error message about a focus that matches no file, with similar ``paths``."""
    remedy = path_meant(focus, paths) or "; if it is a file of the project, add it to [files] paths"
    return f"focus {focus}: no file of the project matches it{remedy}"


class FocusIndex:
    """Finds the files that ``focus_files`` name, by entries and last parts of paths."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = tuple(files)
        # A focus ends with a part of the file's path, or is its entry.
        self._by_part: dict[str, list[int]] = {}
        self._by_entry: dict[str, list[int]] = {}
        for number, (path, entry) in enumerate(self._files):
            self._by_entry.setdefault(entry, []).append(number)
            for part in set(_parts(path)):
                self._by_part.setdefault(part, []).append(number)

    def find(self, *focus_files: str) -> list[int]:
        """Return the numbers of the files that ``focus_files`` name, in the order of the files."""
        numbers: set[int] = set()
        for focus in set(focus_files):
            by_part = self._by_part.get(_parts(focus)[-1], ())
            candidates = {*by_part, *self._by_entry.get(focus, ())}
            for number in candidates:
                path, entry = self._files[number]
                if is_named(path, entry, [focus]):
                    numbers.add(number)
        return sorted(numbers)


def focus_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    wanted = tuple(focus_files)
    if not wanted:
        return frozenset()
    pairs = tuple(files)
    return frozenset(pairs[number][0] for number in FocusIndex(pairs).find(*wanted))


def parse_place(text: str, folder: Path) -> Place:
    """Parse ``PATH[:LINE[-LINE]]``.

    If a file has the whole text as its name, the place is this file.
    """
    return Place(text) if os.path.lexists(os.path.join(folder, text)) else Place.parse(text)


AskedTask = str | Task  # a task's text, or a task
AskedBudget = int | str | Budget  # ``32000``, ``"32k"``, ``"auto"``, or a budget
ALL_FILES: Final = "**/*"  # the glob for all files not ignored by git
EVERY: Final = Entry(FileItem(ALL_FILES))
NO_BUDGET: Final = "all"  # overrides a configured budget
WITHOUT_MODEL: Final = 32_000  # tokens of ``auto`` without a model: all hosted models read as much
MOST: Final = 60_000  # tokens of ``auto``: beyond, models find less and cost more
_RESERVE: Final = 10  # a tenth of the window stays free, for instructions and other tokenizers
_LEAST: Final = 4  # a prompt gets a quarter of the window at least: few answers are that long
# The remark on a glob's binary files.
_BINARY: Final = re.compile(r"(?:^|; )[\d,]+ binary files? (?:is|are) left out \([^()]*\)")


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
    """Return a request with task, budget and focus.

    The caller's values come before the configured ones. With a task or a budget ``focus_files`` are places, otherwise
    files of a Tier 3 prompt (rule T-2).
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
    """Return the caller's task, else the configured one.

    A caller's task without a text takes the configured text (rule T-1).
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
    """Return the budget of a prompt (rule B-1).

    The caller's budget comes first, then the preset's, then the configured one. For Tier 3 ``[budget] tier3`` overrides
    ``tokens`` (rule B-11); ``window`` and ``answer`` are for ``auto``.
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
    value = next((value for value in (asked, preset, usual) if value is not None), None)
    if value is None:
        return None
    try:
        amount = parse_amount(value)
    except ValueError as error:
        raise ConfigError(f"the budget {error}, not {value!r}", key="budget") from None
    tokens = auto_budget(window, answer, most=table.most) if amount == AUTO else amount
    return Budget(tokens, table.history, table.results, FileOrder(table.order))


def _places_of(focus: Sequence[str | Path | Place], base_dir: Path) -> tuple[Place, ...]:
    places = (
        item if isinstance(item, Place) else parse_place(str(item), base_dir) for item in focus
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
    """Return the warnings needed by a reader of the prompt.

    Warnings about binary files skipped by the default glob are left out.
    """
    sentences = []
    for warning in warnings:
        sentence = warning.removeprefix(f"{ALL_FILES}: ").removesuffix(f": {ALL_FILES}")
        if sentence != warning:
            sentence = _BINARY.sub("", sentence).removeprefix("; ")
        if sentence:
            sentences.append(sentence)
    return sentences
