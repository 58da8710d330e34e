"""Compose requests of one project again and again: what was selected, read and ranked is kept for the next one."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from aggregate.base.request import Budget
from aggregate.project.files import FolderListing
from aggregate.project.index import Index
from aggregate.project.paths import Scope
from aggregate.prompt.assemble import Composition, assemble
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.file_rendering import render_files
from aggregate.prompt.fit_prompt import fit_prompt
from aggregate.prompt.ranked_files import OpenFiles, RankedFiles, rank_files, with_scores
from aggregate.prompt.request import EVERY, Request
from aggregate.prompt.selection import ResolvedFile, Selection, select_files

# Stands for all budgets, for which files are ranked in one way; without any some are selected in another.
_ANY_BUDGET = Budget(0)


class _Ranked(NamedTuple):
    request: Request
    disk: int
    ranked: RankedFiles
    candidates: Candidates | None


class Composer:
    """Composes requests of one project, one at a time."""

    def __init__(self, index: Index, now: Callable[[], int] = time.time_ns) -> None:
        self.index = index
        self.lock = threading.Lock()
        self._selecting = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._selected: tuple[tuple[object, ...], Selection] | None = None
        self._open = OpenFiles(now)
        self._ranked: _Ranked | None = None

    def listed(self, request: Request) -> Mapping[str, ResolvedFile]:
        """Return all files that could enter the prompt, in order of their paths: those that git would take."""
        everything = replace(
            request, entries=(EVERY,), exclude=(), task=None, focus_files=(), tier=None
        )
        # What is no file of the pattern is the pattern itself, where nothing matches it.
        return _by_path([file for file in select_files(everything).files if file.by_glob])

    def select(self, request: Request, *, disk: int) -> Mapping[str, ResolvedFile]:
        """Return the files that a request asks for, by their paths; on any thread, with or without the lock."""
        return _by_path(self._selection(request, disk).files if request.entries else ())

    def compose(
        self, request: Request, *, disk: int
    ) -> tuple[Composition, Mapping[str, ResolvedFile]]:
        """Return the prompt of a request, and the files that it asks for, by their paths; hold the lock.

        Args:
            request: Of the project that the last one was of.
            disk: The number of the disk's state: as long as it is the same, no file was changed.
        """
        if request.budget is None:
            selection = self._selection(request, disk)
            files = render_files(request, index=self.index, selection=selection)
            composition = assemble(request, files)
            if request.task is not None:
                composition = with_scores(composition, self._rank(request, disk).ranked)
        else:
            ranked = self._rank(request, disk)
            candidates = ranked.candidates or Candidates(request, ranked.ranked, index=self.index)
            composition = fit_prompt(request, candidates)
            selection = ranked.ranked.files.selection
        return composition, _by_path(selection.files)

    def _selection(self, request: Request, disk: int) -> Selection:
        """Return the files of a request, as they were where all that ``select_files`` looks at is the same."""
        asked = (
            disk,
            request.base_dir,
            request.entries,
            request.exclude,
            request.output_dir,
            request.namespace,
            request.shown_from,
            request.scope,
            request.generated,
            request.focus_paths,
            request.task is None,
            request.budget is None,
            request.is_tier3,
        )
        with self._selecting:
            if self._selected is None or self._selected[0] != asked:
                if self._listing is None or self._listing[:2] != (disk, request.scope):
                    self._listing = disk, request.scope, FolderListing(request.scope)
                self._selected = asked, select_files(request, listing=self._listing[2])
            return self._selected[1]

    def _rank(self, request: Request, disk: int) -> _Ranked:
        """Return the files of a request, ranked; as they were where nothing but the budget is another one."""
        # What neither the files nor their ranking depend on.
        budget = None if request.budget is None else _ANY_BUDGET
        question = replace(request, budget=budget, history=(), results=(), kept=(), doubts=())
        last = self._ranked
        if last is not None and (last.disk, last.request) == (disk, question):
            return last
        self._ranked = last = None  # what was kept is let go before more is read
        files = self._open.read(request, index=self.index)
        ranked = rank_files(request, index=self.index, files=files)
        candidates = Candidates(request, ranked, index=self.index) if budget else None
        now = _Ranked(question, disk, ranked, candidates)
        # As in OpenFiles: what had to be analysed is read once from the index before it is relied on.
        self._ranked = None if files.corpus.known.grouped else now
        return now


def _by_path(files: Iterable[ResolvedFile]) -> dict[str, ResolvedFile]:
    return {file.path: file for file in files if not file.is_remark}
