"""Compose drafts of one project again and again: what was selected, read and ranked is kept for the next one."""

import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final, NamedTuple

from aggregate.base.values import (
    Budget,
    Entry,
    FileChoice,
    FileItem,
    Origin,
    OriginKind,
    Scope,
    Section,
    Segment,
)
from aggregate.panel.draft import Draft
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
    Request,
    ResolvedFile,
    Selection,
    count_prompt,
    fit_prompt,
    rank_files,
    scores_of,
    select_files,
)

_MOST_LINES: Final = 2_000  # Lines that are given at once: many screens
# What each is called, and of what kind its parts are.
_SECTIONS: Final = {
    Section.CHANGED: ("Changed files", "file"),
    Section.SCREENSHOTS: ("Screenshots", "screenshots"),
    Section.BEADS: ("Beads", "beads"),
    Section.RESULTS: ("Results", "result"),
    Section.HISTORY: ("Discussion", "turn"),
    Section.FILES: ("Files", "file"),
}


class PromptLines:
    """A prompt by its lines, which are those that a line feed ends; the first one is 1."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._segments = composition.prompt.segments
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._segments)
        # A blank line parts two segments.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._segments else 0
        self.size = sum(map(len, composition.prompt.pieces()))

    def last_line(self, segment: int) -> int:
        return int(self._starts[segment + 1] - 2)

    def where(self, path: str, line: int) -> int:
        """Return the line of the prompt that shows or stands for a file's line; else the file's first, else ``0``."""
        shown = self._map.find(path, line)
        if shown is not None:
            return shown
        return next((start for start, _ in self._map.runs_of(path)), 0)

    def data(self, revision: int, first: int, last: int) -> dict[str, Any]:
        first = max(first, 1)
        last = min(last, first + _MOST_LINES - 1, self.count)
        origins = self._origins(first, last)
        return {
            "revision": revision,
            "first": first,
            "lines": self._between(first, last),
            "origins": [self._place(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _between(self, first: int, last: int) -> list[str]:
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = int(self._starts[number])
        while number < len(self._segments) and self._starts[number] <= last:
            lines += [*self._segments[number].text.split("\n"), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def _origins(self, first: int, last: int) -> list[Origin]:
        origins: list[Origin] = []
        end = 0
        for run in self._map.runs:
            start, end = end + 1, end + run.lines
            shown = range(max(first, start), min(last, end) + 1)
            origins += [run.origin(line - start) for line in shown]
            if end >= last:
                break
        return origins

    def _place(self, origin: Origin) -> list[str | int] | None:
        """Return the file of a line, and which of its lines that shows or stands for, ``0`` for the whole file."""
        is_kind = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_kind and origin.source in self._files else None

    def sections(self) -> list[dict[str, Any]]:
        """Return what folds: the sections, and what each holds."""
        rows: list[dict[str, Any]] = []
        segments = self._segments
        starts = [
            i for i, each in enumerate(segments) if not i or each.section != segments[i - 1].section
        ]
        for start, end in zip(starts, [*starts[1:], len(segments)], strict=False):
            title, kind = _SECTIONS[segments[start].section]
            rows.append(self._row(title, "section", start, end))
            for i in range(start, end):
                is_turn = segments[i].section is Section.HISTORY and i > start
                if segments[i].source or is_turn:
                    rows.append(self._row(_title(segments[i]), kind, i, i + 1))
        return rows

    def _row(self, title: str, kind: str, start: int, end: int) -> dict[str, Any]:
        is_section = kind == "section"
        return {
            "title": title,
            "kind": kind,
            "source": "" if is_section else self._segments[start].source,
            "first": int(self._starts[start]),
            "last": self.last_line(end - 1),
            "tokens": sum(self._tokens.segments[start:end]),
            "depth": 0 if is_section else 1,
        }


def _title(segment: Segment) -> str:
    if segment.section in (Section.FILES, Section.CHANGED):
        return segment.source
    heading = next((line for line in segment.text.split("\n") if line.startswith("#")), "")
    return heading.lstrip("# ") or segment.source


# Stands for all budgets, for which files are ranked in one way; without any some are selected in another.
_ANY_BUDGET = Budget(0)


@dataclass(frozen=True, slots=True)
class ComposedDraft:
    draft: Draft
    project: Project
    request: Request
    composition: Composition
    tokens: PromptTokens
    lines: PromptLines
    selected: Mapping[str, ResolvedFile]  # the files that its entries stand for, by their paths
    choices: Mapping[str, FileChoice] = field(default_factory=dict)  # with a task or a budget


class _Selected(NamedTuple):
    disk: int
    asked: tuple[object, ...]
    selection: Selection


class _Ranked(NamedTuple):
    request: Request
    disk: int
    ranked: RankedFiles
    candidates: Candidates | None


class Composer:
    """Composes drafts of one project, one at a time."""

    def __init__(self, index: Index, now: Callable[[], int] = time.time_ns) -> None:
        self.index = index
        self.lock = threading.Lock()
        self._selecting = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._entries: Sequence[Entry] = ()
        self._selected: _Selected | None = None
        self._open = OpenFiles(now)
        self._ranked: _Ranked | None = None
        self._live: LivePrompt | None = None
        self._last: Request | None = None
        self._disk = 0

    def select(self, draft: Draft, project: Project, *, disk: int) -> Mapping[str, ResolvedFile]:
        """Return the files that a draft asks for, by their paths; on any thread, with or without the lock."""
        request = draft.request(project)
        return _by_path(self._selection(request, disk).files if request.entries else ())

    def compose(
        self, draft: Draft, project: Project, *, disk: int, changed: Iterable[str] | None = None
    ) -> ComposedDraft:
        """Return a draft with its prompt; hold the lock."""
        request = draft.request(project)
        self._disk = disk
        if request.budget is not None:
            ranked = self._rank(request, disk)
            files = ranked.candidates or Candidates(request, ranked.ranked, index=self.index)
            composition = fit_prompt(request, files)
            selection = ranked.ranked.files.selection
        else:
            composition, selection = self._unlimited(request, changed)
        tokens = count_prompt(composition.prompt, index=self.index)
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
        """Return the files of a request; what is as in the last one is the same object, which is quick to compare."""
        with self._selecting:
            before: dict[str, list[Entry]] = {}
            for entry in self._entries:
                before.setdefault(entry.item.path, []).append(entry)
            entries = self._entries = tuple(
                next((known for known in before.get(entry.item.path, ()) if known == entry), entry)
                for entry in request.entries
            )
            asked = (  # all of what ``select_files`` looks at
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
            last = self._selected
            if last is not None and last.disk == disk and last.asked == asked:
                return last.selection
            if self._listing is None or self._listing[:2] != (disk, request.scope):
                self._listing = disk, request.scope, FolderListing(request.scope)
            selection = select_files(replace(request, entries=entries), listing=self._listing[2])
            self._selected = _Selected(disk, asked, selection)
            return selection

    def _rank(self, request: Request, disk: int) -> _Ranked:
        """Return the files of a request, ranked; as they were where nothing but budget or views are other ones."""
        # What neither the files nor their ranking depend on.
        budget = None if request.budget is None else _ANY_BUDGET
        question = replace(request, budget=budget, history=(), results=(), kept=(), doubts=())
        last = self._ranked
        if last is not None and last.disk == disk:
            if last.request == question:
                return last
            if replace(last.request, entries=()) == replace(question, entries=()):
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
        if not (files.corpus.analysed or files.corpus.grouped):
            self._ranked = ranked_now
        return ranked_now

    def _shown_otherwise(
        self, last: _Ranked, request: Request, question: Request
    ) -> _Ranked | None:
        """Return what was ranked with some of the files to be shown in another way, ``None`` where more has changed."""
        before = last.ranked.files
        selection = self._selection(request, last.disk)
        before.corpus.trim()
        files = before.shown_as(selection)
        if files is None:
            return None
        ranked = replace(last.ranked, files=files)
        candidates = last.candidates
        if candidates:
            candidates = Candidates(request, ranked, index=self.index, before=candidates)
        return _Ranked(question, last.disk, ranked, candidates)

    def _unlimited(
        self, request: Request, changed: Iterable[str] | None
    ) -> tuple[Composition, Selection]:
        is_another = request != self._last
        if self._live is None:
            self._live = LivePrompt(
                request, index=self.index, select=lambda asked: self._selection(asked, self._disk)
            )
        elif is_another:
            self._live.ask(request)
        composition = self._live.compose(None if is_another else changed)
        self._last = request
        if request.task is not None:
            choices, missing = scores_of(self._rank(request, self._disk).ranked)
            composition = replace(composition, choices=choices, missing=missing)
        return composition, self._live.selection


def listed_files(request: Request) -> Mapping[str, ResolvedFile]:
    """Return all files that could enter the prompt, in order of their paths: those that git would take."""
    everything = replace(
        request,
        entries=(Entry(FileItem(ALL_FILES)),),
        exclude=(),
        task=None,
        focus_files=(),
        tier=None,
    )
    return _by_path(select_files(everything).files)


def _by_path(files: Iterable[ResolvedFile]) -> dict[str, ResolvedFile]:
    return {file.path: file for file in files if not file.is_remark}
