"""The settings of one prompt, and the files that they name."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from aggregate.base.files import FOCUS_TIER, Entry, FileItem, GeneratedView, Narrowing
from aggregate.base.nearest_names import path_meant
from aggregate.base.redaction import AS_THEY_ARE, Redaction, redact_words
from aggregate.base.task_budget import Budget, FileOrder, Finish, SentFile, Task
from aggregate.project.history import find_history_file
from aggregate.project.paths import Scope

if TYPE_CHECKING:
    from aggregate.prompt.asking.results import Results

ALL_FILES: Final = "**/*"  # the glob for all files not ignored by git
EVERY: Final = Entry(FileItem(ALL_FILES))
_REPLACED: Final = "secrets in the task are replaced: --no-redact keeps them"
# The remark on a glob's binary files.
_BINARY: Final = re.compile(r"(?:^|; )[\d,]+ binary files? (?:is|are) left out \([^()]*\)")


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

    @classmethod
    def has_summaries(cls, value: object, *, summary_only: bool) -> bool:
        strategy = cls.parse(value)
        return strategy is cls.SUMMARIZE or (strategy is cls.AUTO and summary_only)


@dataclass(frozen=True, slots=True)
class Request:
    """The settings of one prompt."""

    base_dir: Path  # the folder of the files' relative paths
    entries: tuple[Entry, ...]
    exclude: tuple[str, ...]
    screenshot_dir: Path  # the folder of the screenshots' relative paths
    screenshots: tuple[str, ...]
    shown_from: Path  # screenshots' paths are shown relative to this folder
    history: tuple[object, ...]
    is_summary: bool  # whether files are shown by summaries (rule M-30)
    beads: bool
    output_dir: Path
    namespace: str
    focus_files: tuple[str, ...] = ()  # any, or tier 3, make it a Tier 3 prompt
    tier: int | None = None  # ``3`` for a Tier 3 prompt
    doubts: tuple[str, ...] = ()  # one sentence for each odd setting
    results: "tuple[Results, ...]" = ()  # of sub-agents
    scope: Scope = field(default_factory=Scope)
    # The allowed values, and whether secrets are replaced; those in the task are replaced at once.
    redaction: Redaction = AS_THEY_ARE
    generated: GeneratedView = GeneratedView.NAME
    task: Task | None = None
    budget: Budget | None = None
    # With a budget: the files of the discussion's last prompt, in the order sent (rule B-9).
    kept: tuple[SentFile, ...] = ()
    reads_results: bool = False  # whether the reader has the tool for cut results
    discussion: str = ""  # the name of the one in ``history``, ``""`` for the default one
    continues: str | None = None  # the name of the discussion from which this one was forked
    title: str = ""  # the project's name
    finish: Finish | None = None  # none for a prompt to be sent, whose task is a message
    is_overview: bool = False  # of a folder without a configuration and a task (rule T-12)
    narrowing: Narrowing = field(default_factory=Narrowing)  # by the command line
    output_file: Path | None = None  # written instead of a numbered one
    # Derived from the fields above.
    focus_paths: tuple[str, ...] = field(init=False)  # of the user's focus files, each once
    # The folder in which ``output_dir`` must be, as a real path, ``None`` for no restriction.
    written_in: Path | None = field(init=False)
    is_tier3: bool = field(init=False)
    is_numbered: bool = field(init=False)  # lines of files are shown with their numbers
    is_xml: bool = field(init=False)  # files are shown as XML documents (rule T-16)
    is_audited: bool = field(init=False)  # with a task or a budget: has an audit file (rule A-1)
    is_finished: bool = field(init=False)  # complete without a message (rule T-3)
    is_structural: bool = field(init=False)  # with a budget, without a task: explains the structure
    is_review: bool = field(init=False)  # shows changes, without a task (rule T-14)
    file_order: FileOrder = field(init=False)  # in a budgeted prompt (rule B-8)

    def __post_init__(self) -> None:
        finish, has_budget = self.finish, self.budget is not None
        # Before any ranking, audit or prompt uses the words.
        task, focus_files = _without_secrets(self.task, self.focus_files, self.redaction)
        doubts = self.doubts
        if (task, focus_files) != (self.task, self.focus_files):
            doubts = (*doubts, _REPLACED)
        focus = [place.path for place in task.focus] if task else []
        is_plain = finish is not None and self.tier is None and not self.is_summary
        is_finished = finish is not None and task is not None and has_budget
        has_seeds = task is not None and bool(task.text.strip() or task.focus or task.symbols)
        order = self.budget.order if self.budget else FileOrder.CONFIGURED
        if order is FileOrder.AUTO:
            is_alone = (is_finished or self.is_overview) and not self.history
            order = FileOrder.RELEVANCE if is_alone else FileOrder.CONFIGURED
        derived = {
            "task": task,
            "focus_files": focus_files,
            "doubts": doubts,
            "focus_paths": tuple(dict.fromkeys((*focus_files, *focus))),
            "written_in": None if self.scope.allow_outside else Path(self.scope.root),
            "is_tier3": self.tier == FOCUS_TIER or bool(focus_files),
            "is_numbered": finish is not None and finish.line_numbers,
            "is_xml": finish is not None and finish.is_xml,
            "is_audited": task is not None or has_budget,
            "is_finished": is_finished,
            "is_structural": has_budget and task is None and (self.is_overview or is_plain),
            "is_review": task is not None and bool(task.since) and not has_seeds,
            "file_order": order,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


def _without_secrets(
    task: Task | None, focus_files: tuple[str, ...], redaction: Redaction
) -> tuple[Task | None, tuple[str, ...]]:
    """Return a task and focus files without secrets."""
    seeds = task or Task()
    focus = [place.path for place in seeds.focus]
    words = (seeds.text, seeds.since, *seeds.symbols, *focus, *focus_files)
    clean = redact_words(words, redaction) if any(words) else {}
    if clean and task:
        places = (replace(place, path=clean.get(place.path, place.path)) for place in task.focus)
        task = replace(
            task,
            text=clean.get(task.text, task.text),
            focus=tuple(places),
            symbols=tuple(clean.get(symbol, symbol) for symbol in task.symbols),
            since=clean.get(task.since, task.since),
        )
    return task, tuple(clean.get(path, path) for path in focus_files)


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Return whether ``focus_files`` name a file, by its entry or the last parts of its path."""
    return any(focus == entry or _names(focus, path) for focus in focus_files)


def _names(focus: str, path: str) -> bool:
    wanted = _parts(focus)
    if wanted[-1] not in path:  # quick: most files are not named
        return False
    parts, length = _parts(path), len(wanted)
    if any(parts[i : i + length] == wanted for i in range(len(parts) - length + 1)):
        return True
    return wanted[0] == "/" and wanted[-len(parts) :] == parts


@lru_cache
def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts or ("",)


def find_named(files: Iterable[tuple[str, str]], *focus_files: str) -> list[int]:
    """Return the numbers of the files, given by path and entry, that ``focus_files`` name."""
    return [number for number, file in enumerate(files) if is_named(*file, focus_files=focus_files)]


def focus_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths of the files, given by path and entry, that ``focus_files`` name."""
    focus = tuple(focus_files)
    return frozenset(path for path, entry in files if is_named(path, entry, focus))


def unknown_focus(focus: str, paths: Sequence[str]) -> str:
    """Return an error message about a focus that matches no file, with similar ``paths``."""
    remedy = path_meant(focus, paths) or "; if it is a file of the project, add it to [files] paths"
    return f"focus {focus}: no file of the project matches it{remedy}"


def for_reader(warnings: Sequence[str]) -> list[str]:
    """Return the warnings for a reader, without those on binary files of the default glob."""
    sentences = []
    for warning in warnings:
        sentence = warning.removeprefix(f"{ALL_FILES}: ").removesuffix(f": {ALL_FILES}")
        if sentence != warning:
            sentence = _BINARY.sub("", sentence).removeprefix("; ")
        if sentence:
            sentences.append(sentence)
    return sentences


def files_of_sections(config: Path, request: Request) -> list[str]:
    """Return the absolute paths of files with the discussion and the beads, existing or not."""
    history = find_history_file(config, request.discussion, request.output_dir)
    paths = [history] if history else []
    if request.beads:
        from aggregate.project.beads import possible_beads_files  # few projects have beads

        paths += possible_beads_files(request.base_dir, environ=os.environ)
    return [os.path.abspath(path) for path in paths]
