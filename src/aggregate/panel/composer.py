"""Compose the prompts of drafts, reusing unchanged files and rankings."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from aggregate.base.files import Entry
from aggregate.base.task_budget import Budget, FileChoice
from aggregate.panel.draft import Draft
from aggregate.panel.prompt_lines import PromptLines
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.index import Index
from aggregate.project.paths import Scope
from aggregate.prompt import Composition, File, PromptTokens, assemble, count_prompt, fit_prompt
from aggregate.prompt.asking import ALL_FILES, Request
from aggregate.prompt.corpus import RankedFiles, rank_files, scored_choices
from aggregate.prompt.document import END
from aggregate.prompt.files import Selection, render_files, select_files
from aggregate.prompt.fit import Candidates

# All budgets rank files alike; without a budget others are selected.
_ANY_BUDGET = Budget(0)
_Question = tuple[int, Request]  # counter of the disk's changes, and a request without its budget


class _Ranked(NamedTuple):
    question: _Question
    ranked: RankedFiles
    candidates: Candidates | None


@dataclass(frozen=True, slots=True)
class ComposedDraft:
    draft: Draft
    project: Project
    request: Request
    composition: Composition
    tokens: PromptTokens
    lines: PromptLines
    selected: Mapping[str, File]  # files of its entries by path
    choices: Mapping[str, FileChoice]  # with a task or a budget

    @property
    def size(self) -> dict[str, int]:
        lines = self.lines
        return {"tokens": self.tokens.document, "bytes": lines.size, "lines": lines.count}


class Composer:
    """Composes prompts of one project, one after another, reusing unchanged files and rankings."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.lock = threading.Lock()
        self._selecting = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._selected: tuple[_Question, Selection] | None = None
        self._ranked: _Ranked | None = None

    def listed(self, request: Request) -> Mapping[str, File]:
        """Return all files of the project that git does not ignore, by path."""
        everything = replace(
            request,
            entries=(Entry.of(ALL_FILES),),
            exclude=(),
            task=None,
            focus_files=(),
            tier=None,
        )
        # An entry not by a glob is the pattern itself, without matches.
        return _by_path([file for file in select_files(everything).files if file.by_glob])

    def select(self, request: Request, *, disk: int) -> Mapping[str, File]:
        """Return a request's files by path; any thread may call this without the lock."""
        return _by_path(self._selection(request, disk).files if request.entries else ())

    def compose(self, draft: Draft, project: Project, *, disk: int) -> ComposedDraft:
        """Return a draft's prompt; the caller must hold the lock.

        ``disk`` counts changes on the disk: files are unchanged while it is equal. All drafts are of one project.
        """
        request = draft.request(project)
        if request.budget is None:
            selection = self._selection(request, disk)
            files = render_files(request, index=self.index, selection=selection)
            composition = assemble(request, files)
            if request.task is not None:
                ranked = self._rank(request, disk).ranked
                composition = composition.scored(scored_choices(ranked), ranked.ranking)
        else:
            _, ranked, candidates = self._rank(request, disk)
            candidates = candidates or Candidates(request, ranked, index=self.index)
            composition = fit_prompt(request, candidates)
            selection = ranked.corpus.selection
        tokens = count_prompt(composition.prompt, index=self.index, end=END)
        self.index.flush()
        return ComposedDraft(
            draft,
            project,
            request,
            composition,
            tokens,
            PromptLines(composition, tokens),
            _by_path(selection.files),
            {choice.path: choice for choice in composition.choices},
        )

    def _selection(self, request: Request, disk: int) -> Selection:
        """Return the files of a request; the files of the last request if no setting differs."""
        question = _question_of(request, disk)
        with self._selecting:
            if self._selected is None or self._selected[0] != question:
                if self._listing is None or self._listing[:2] != (disk, request.scope):
                    self._listing = disk, request.scope, FolderListing(request.scope)
                self._selected = question, select_files(request, listing=self._listing[2])
            return self._selected[1]

    def _rank(self, request: Request, disk: int) -> _Ranked:
        """Rank the files of a request; reuse the last ranking if only the budget differs."""
        question = _question_of(request, disk)
        if self._ranked is not None and self._ranked.question == question:
            return self._ranked
        self._ranked = None  # free memory before reading more
        ranked = rank_files(request, index=self.index)
        has_budget = request.budget is not None
        candidates = Candidates(request, ranked, index=self.index) if has_budget else None
        result = _Ranked(question, ranked, candidates)
        # New analyses are read from the index once before they are reused, so that answers never depend on earlier
        # questions.
        self._ranked = None if ranked.corpus.new_tables else result
        return result


def _question_of(request: Request, disk: int) -> _Question:
    """Drop the fields on which neither the files nor their ranking depend."""
    budget = None if request.budget is None else _ANY_BUDGET
    return disk, replace(request, budget=budget, history=(), results=(), kept=(), doubts=())


def _by_path(files: Iterable[File]) -> dict[str, File]:
    return {file.path: file for file in files}
