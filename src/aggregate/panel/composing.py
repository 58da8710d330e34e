"""Which files a draft asks for, found out again and again: folders are listed once for each state of the disk."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aggregate.base.values import Budget, Entry, FileChoice, FileItem, Scope
from aggregate.panel.draft import Draft
from aggregate.panel.prompt_lines import PromptLines
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.index import Index
from aggregate.prompt import (
    ALL_FILES,
    Candidates,
    Composition,
    LivePrompt,
    OpenFiles,
    PromptTokens,
    RankedFiles,
    ReadFiles,
    Request,
    ResolvedFile,
    Selection,
    count_prompt,
    fit_prompt,
    rank_files,
    scores_of,
    select_files,
    shown_otherwise,
)


class _Selected(NamedTuple):
    disk: int
    asked: tuple[object, ...]
    selection: Selection


class KeptSelection:
    """Selects the files of requests for one project; may be asked from any thread.

    What is the same as in the last selection is the same object there, so that comparing two of them is quick.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._entries: Sequence[Entry] = ()
        self._last: _Selected | None = None

    def select(self, request: Request, *, disk: int) -> Selection:
        """Return the files of a request.

        Args:
            request: Whose.
            disk: A number for the state of the disk: as long as it is the same, no file was changed.
        """
        with self._lock:
            entries = self._entries = self._as_before(request.entries)
            asked = _asked(request, entries)
            last = self._last
            if last is not None and last.disk == disk and last.asked == asked:
                return last.selection
            selection = select_files(
                replace(request, entries=entries),
                listing=self._listing_of(request.scope, disk),
            )
            self._last = _Selected(disk, asked, selection)
            return selection

    def _listing_of(self, scope: Scope, disk: int) -> FolderListing:
        if self._listing is None or self._listing[:2] != (disk, scope):
            self._listing = disk, scope, FolderListing(scope)
        return self._listing[2]

    def _as_before(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return the entries, each that was there before as the object that it was."""
        before: dict[str, list[Entry]] = {}
        for entry in self._entries:
            before.setdefault(entry.item.path, []).append(entry)
        return tuple(
            next((known for known in before.get(entry.item.path, ()) if known == entry), entry)
            for entry in entries
        )


def _asked(request: Request, entries: Sequence[Entry]) -> tuple[object, ...]:
    """Return what of a request decides on its files; all of what ``select_files`` looks at."""
    return (
        request.base_dir,
        entries,
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


_EVERYTHING = Entry(FileItem(ALL_FILES))
_ANY_BUDGET = Budget(0)
"""Stands for all budgets, for which files are ranked in one way; without any some are selected in another."""


@dataclass(frozen=True, slots=True)
class ComposedDraft:
    """A draft and the prompt that a run would write of it.

    Attributes:
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
    request: Request
    disk: int
    ranked: RankedFiles
    candidates: Candidates | None


class Composer:
    """Composes drafts of one project, one at a time; what it has read is kept for the next one.

    Args:
        index: What is known of files from run to run.
        now: The clock, in nanoseconds of Unix time.

    Attributes:
        lock: Held while a prompt is composed.
        is_settled: Whether the next prompt of the same files is fitted, and not ranked once more.
    """

    def __init__(self, index: Index, now: Callable[[], int] = time.time_ns) -> None:
        self.index = index
        self.lock = threading.Lock()
        self.is_settled = True
        self._live: LivePrompt | None = None
        self._last: Request | None = None
        self._open = OpenFiles(now)
        self._ranked: _Ranked | None = None
        self._selections = KeptSelection()
        self._disk = 0

    def select(self, draft: Draft, project: Project, *, disk: int) -> Mapping[str, ResolvedFile]:
        """Return the files that a draft asks for, by their paths; on any thread, with or without the lock.

        Args:
            draft: The draft.
            project: As a project.
            disk: As for ``compose``.
        """
        request = draft.request(project)
        files = self._selections.select(request, disk=disk).files if request.entries else ()
        return {file.path: file for file in files if not file.is_remark}

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
        """
        request = draft.request(project)
        self._disk = disk
        if request.budget is not None:
            composition, selected = self._within_budget(request, disk)
        else:
            composition, selected = self._unlimited(request, disk, changed)
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

    def settle(self, draft: Draft, project: Project, *, disk: int) -> None:
        """Read what had to be analysed for the last prompt from the index, for a quick next one; hold the lock.

        The arguments and errors are those of ``compose``.
        """
        request = draft.request(project)
        if request.budget is not None or request.task is not None:
            self._rank(request, disk)

    def _within_budget(
        self, request: Request, disk: int
    ) -> tuple[Composition, Sequence[ResolvedFile]]:
        ranked = self._rank(request, disk)
        files = ranked.candidates or Candidates(request, ranked.ranked, index=self.index)
        return fit_prompt(request, files), ranked.ranked.files.selection.files

    def _rank(self, request: Request, disk: int) -> _Ranked:
        """Return the files of a request, ranked; as they were where nothing but budget or views are other ones."""
        question = _question(request)
        last = self._ranked
        if last is not None and last.disk == disk and last.request == question:
            return last
        again = None
        if last is not None and last.disk == disk and _is_alike(last.request, question):
            again = self._shown_otherwise(last, request, question)
        if again is not None:
            self._ranked = again
            return again
        self._ranked = last = None  # what was kept is let go before more is read
        files = self._open.read(request, index=self.index)
        ranked = rank_files(request, index=self.index, files=files)
        is_fitted = request.budget is not None
        candidates = Candidates(request, ranked, index=self.index) if is_fitted else None
        ranked_now = _Ranked(question, disk, ranked, candidates)
        # As in OpenFiles: what had to be analysed is read once from the index before it is relied on.
        self.is_settled = not (files.corpus.analysed or files.corpus.grouped)
        if self.is_settled:
            self._ranked = ranked_now
        return ranked_now

    def _shown_otherwise(
        self, last: _Ranked, request: Request, question: Request
    ) -> _Ranked | None:
        """Return what was ranked with some of the files to be shown in another way, ``None`` where more has changed."""
        before = last.ranked.files
        selection = self._selections.select(request, disk=last.disk)
        files = shown_otherwise(before, selection)
        if files is None:
            return None
        before.corpus.trim()
        corpus = before.corpus.shown_otherwise(files)
        ranked = replace(last.ranked, files=ReadFiles(selection, before.reader, corpus))
        candidates = last.candidates
        if candidates:
            candidates = Candidates(request, ranked, index=self.index, before=candidates)
        return _Ranked(question, last.disk, ranked, candidates)

    def _unlimited(
        self, request: Request, disk: int, changed: Iterable[str] | None
    ) -> tuple[Composition, Sequence[ResolvedFile]]:
        is_another = request != self._last
        if self._live is None:
            self._live = LivePrompt(
                request,
                index=self.index,
                select=lambda asked: self._selections.select(asked, disk=self._disk),
            )
        elif is_another:
            self._live.ask(request)
        composition = self._live.compose(None if is_another else changed)
        self._last = request
        if request.task is not None:
            choices, missing = scores_of(self._rank(request, disk).ranked)
            composition = replace(composition, choices=choices, missing=missing)
        return composition, self._live.selection.files


def _question(request: Request) -> Request:
    """Return a request without what neither its files nor their ranking depend on."""
    budget = None if request.budget is None else _ANY_BUDGET
    return replace(request, budget=budget, history=(), results=(), kept=(), doubts=())


def _is_alike(one: Request, other: Request) -> bool:
    """Tell whether two requests ask the same of the files that their entries stand for."""
    return replace(one, entries=()) == replace(other, entries=())


def listed_files(request: Request) -> Mapping[str, ResolvedFile]:
    """Return all files that could enter the prompt, in order of their paths: those that git would take."""
    everything = replace(
        request, entries=(_EVERYTHING,), exclude=(), task=None, focus_files=(), tier=None
    )
    return {file.path: file for file in select_files(everything).files if not file.is_remark}
