"""The prompt of a draft: composed as ``run`` composes it, and quickly where little has changed since the last time."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aggregate.compose.asking import ALL_FILES
from aggregate.compose.assemble import Composition
from aggregate.compose.file_rendering import select_files
from aggregate.compose.live_prompt import LivePrompt
from aggregate.compose.open_files import OpenFiles
from aggregate.compose.ranked_files import rank_files, scored_choices
from aggregate.compose.request import Request
from aggregate.compose.selection import ResolvedFile
from aggregate.compose.within_budget import BudgetFitting
from aggregate.config.load import Project
from aggregate.index.store import Index
from aggregate.models.choice import FileChoice
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.panel.draft import Draft
from aggregate.panel.prompt_lines import PromptLines
from aggregate.tokens.count import PromptTokens, count_prompt

_EVERYTHING = Entry(FileItem(ALL_FILES))


@dataclass(frozen=True, slots=True)
class ComposedDraft:
    """A draft and the prompt that a run would write of it.

    Attributes:
        draft: The draft.
        project: As a project.
        request: What was composed.
        composition: The prompt.
        tokens: Of it.
        lines: Its lines.
        selected: The files that its entries stand for, by their paths.
        choices: With a task or a budget what was decided about each candidate, by their paths.
    """

    draft: Draft
    project: Project
    request: Request
    composition: Composition
    tokens: PromptTokens
    lines: PromptLines
    selected: Mapping[str, ResolvedFile]
    choices: Mapping[str, FileChoice] = field(default_factory=dict)


class _Ranked(NamedTuple):
    """Files that were ranked, and for what: they are ranked again for anything else.

    Attributes:
        request: What was asked, without what the ranking does not look at.
        disk: The state of the disk.
        fitting: The ranked files.
    """

    request: Request
    disk: int
    fitting: BudgetFitting


class Composer:
    """Composes drafts of one project, one at a time; what it has read is kept for the next one.

    Args:
        index: What is known of files from run to run.
        now: The clock, in nanoseconds of Unix time.

    Attributes:
        index: The same.
        lock: Held while a prompt is composed.
    """

    def __init__(self, index: Index, now: Callable[[], int] = time.time_ns) -> None:
        self.index = index
        self.lock = threading.Lock()
        self._live: LivePrompt | None = None
        self._last: Request | None = None
        self._open = OpenFiles(now)
        self._ranked: _Ranked | None = None

    def compose(
        self,
        draft: Draft,
        project: Project,
        *,
        disk: int,
        changed: Iterable[str] | None = None,
    ) -> ComposedDraft:
        """Return a draft with its prompt; hold the lock.

        Args:
            draft: The draft.
            project: As a project.
            disk: A number for the state of the disk: as long as it is the same, no file was changed.
            changed: The files that were changed since the last call, as the prompt shows their paths; ``None`` where
                that is not known.

        Raises:
            BudgetError: What must be shown does not fit.
            ConfigError: The project cannot be composed.
        """
        request = draft.request(project)
        if request.budget is not None:
            composition, selected = self._within_budget(request, disk)
        else:
            composition, selected = self._unlimited(request, changed)
        tokens = count_prompt(composition.prompt, index=self.index)
        self.index.flush()
        return ComposedDraft(
            draft,
            project,
            request,
            composition,
            tokens,
            PromptLines(composition, tokens),
            {file.path: file for file in selected if not file.is_remark},
            {choice.path: choice for choice in composition.choices},
        )

    def _within_budget(
        self, request: Request, disk: int
    ) -> tuple[Composition, Sequence[ResolvedFile]]:
        fitting = self._fitting(request, disk)
        return fitting.compose(request), fitting.ranked.files.selection.files

    def _fitting(self, request: Request, disk: int) -> BudgetFitting:
        """Return the files of a request, ranked; as they were where nothing but the budget is another one."""
        question = _question(request)
        last = self._ranked
        if last is not None and last.disk == disk and last.request == question:
            return last.fitting
        is_asked_again = (
            last is not None and last.disk == disk and _is_alike(last.request, question)
        )
        ranked = last.fitting.ranked if last is not None and is_asked_again else None
        self._ranked = last = None  # what was kept is let go before more is read
        files = self._open.read(request, index=self.index)
        is_settled = not (files.corpus.analysed or files.corpus.grouped)
        if ranked is not None and files.corpus.files is ranked.files.corpus.files:
            ranked = replace(ranked, files=files)  # they are only shown in another way
        else:
            ranked = rank_files(request, index=self.index, files=files)
        fitting = BudgetFitting(request, ranked, index=self.index)
        # As in OpenFiles: what had to be analysed is read once from the index before it is relied on.
        if is_settled:
            self._ranked = _Ranked(question, disk, fitting)
        return fitting

    def _unlimited(
        self, request: Request, changed: Iterable[str] | None
    ) -> tuple[Composition, Sequence[ResolvedFile]]:
        is_another = request != self._last
        if self._live is None:
            self._live = LivePrompt(request, index=self.index)
        elif is_another:
            self._live.ask(request)
        composition = self._live.compose(None if is_another else changed)
        self._last = request
        if request.task is not None:
            files = self._open.read(request, index=self.index)
            choices, missing = scored_choices(request, index=self.index, files=files)
            composition = replace(composition, choices=choices, missing=missing)
        return composition, self._live.selection.files


def _question(request: Request) -> Request:
    """Return a request without what neither its files nor their ranking depend on."""
    return replace(request, budget=None, history=(), results=(), kept=(), doubts=())


def _is_alike(one: Request, other: Request) -> bool:
    """Tell whether two requests ask the same of the files that their entries stand for."""
    return replace(one, entries=()) == replace(other, entries=())


def listed_files(request: Request) -> Mapping[str, ResolvedFile]:
    """Return all files that could enter the prompt, in order of their paths: those that git would take."""
    everything = replace(
        request, entries=(_EVERYTHING,), exclude=(), task=None, focus_files=(), tier=None
    )
    return {file.path: file for file in select_files(everything).files if not file.is_remark}
