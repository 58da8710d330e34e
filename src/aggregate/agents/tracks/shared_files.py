"""The project's files in the contexts of tickets.

Shared files come first, focus files last. A focus file is named by a ticket. The files are read and rendered once, at
the first use.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from aggregate.agents.tracks.assignment import tokens_of
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.disk.reading import is_file
from aggregate.base.files import FOCUS_TIER, Entry, FileItem
from aggregate.base.task_budget import Level
from aggregate.project.configuration import Project
from aggregate.project.files import display_path
from aggregate.project.index import user_index
from aggregate.prompt import AskedViews, Composition, File, assemble, request_for
from aggregate.prompt.asking import FoundSecrets, Request, focus_paths
from aggregate.prompt.document import Cut, Prompt, Section, Segment, Stability
from aggregate.prompt.files import RenderedFiles, render_files
from aggregate.prompt.files.markdown_and_xml import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    Tier3Files,
    files_segments,
    tier3_segments,
)

TIER3 = "tier3"  # the default strategy
# Of a beginning worth a warm-up: more than 4,096 tokens, the largest minimum of a provider's cache
SHARED_CHARACTERS = 20_000
# Sets of focus files, each perhaps of megabytes; tickets with the same set mostly follow each other
_REMEMBERED_FOCUS = 16


class Layout(NamedTuple):
    """A context without results: what stands before them, and the discussion after them."""

    before: tuple[Segment, ...]
    after: tuple[Segment, ...]

    def prompt(self, results: Sequence[Segment] = ()) -> Prompt:
        return Prompt((*self.before, *results, *self.after))


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first files of a context: shared, then focus files."""

    early: tuple[Segment, ...]
    late: Mapping[str, Segment]

    @classmethod
    def of(cls, segments: Iterable[Segment], late_paths: frozenset[str]) -> "Beginning":
        files = [segment for segment in segments if segment.section is Section.FILES]
        early = tuple(segment for segment in files if segment.source not in late_paths)
        late = {one.source: _changing(one) for one in files if one.source in late_paths}
        return cls(early, late)

    def without(self, paths: Mapping[str, Segment]) -> "Beginning":
        early = tuple(segment for segment in self.early if segment.source not in paths)
        late = {path: segment for path, segment in self.late.items() if path not in paths}
        return Beginning(early, late)

    @property
    def characters(self) -> int:
        return sum(len(segment.text) for segment in self.early)

    def layout(self, in_full: Mapping[str, Segment], others: Iterable[Segment]) -> Layout:
        """Return the layout of these files, some ``in_full``, and other sections."""
        early = {segment.source for segment in self.early}
        more = {path: segment for path, segment in in_full.items() if path not in early}
        before = [in_full.get(segment.source, segment) for segment in self.early]
        before += {**self.late, **more}.values()
        after = []
        for segment in others:
            if segment.section is Section.HISTORY:
                after.append(segment)
            elif segment.section is not Section.FILES:
                before.append(segment)
        return Layout(tuple(before), tuple(after))


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    """Files chosen once for the tasks of many tickets together."""

    request: Request
    composition: Composition
    beginning: Beginning

    def account(self, in_full: Mapping[str, Segment], cuts: Sequence[Cut]) -> Composition:
        """Return the composition for a ticket's audit, with its focus files in full and its cuts."""
        choices = list(self.composition.choices)
        for i, choice in enumerate(choices):
            if choice.path in in_full:
                tokens = tokens_of(in_full[choice.path])
                choices[i] = choice._replace(
                    level=Level.FULL, pinned=True, tokens=tokens, next=None
                )
        cut = (*self.composition.cut, *cuts)
        return replace(self.composition, choices=tuple(choices), cut=cut)


class SharedFiles:
    """The project's files, laid out for each ticket."""

    def __init__(self, project: Project, spec_file: Path | None) -> None:
        self._project = project
        self._spec_file = spec_file
        # The focus files of some tickets, which come last
        self.late_paths: frozenset[str] = frozenset()
        self.request = cache(self._make_request)  # by strategy
        # Cleared by ``share``, which sets ``late_paths``
        self.beginning = cache(self._make_beginning)
        self.in_full = lru_cache(maxsize=_REMEMBERED_FOCUS)(self._make_in_full)

    @property
    def focused(self) -> Request:
        """The default request: focus files in full, only the structure of others."""
        return self.request(TIER3)

    @cached_property
    def spec(self) -> str:
        """The path of ``spec.md`` in prompts, ``""`` if missing or empty."""
        path = self._spec_file
        if path is None or not is_file(path) or not path.stat().st_size:
            return ""
        return display_path(str(path), str(self.focused.base_dir))

    @property
    def spec_entries(self) -> tuple[Entry, ...]:
        return (Entry(FileItem(self.spec, force_full=True)),) if self.spec else ()

    @cached_property
    def other_sections(self) -> tuple[Segment, ...]:
        return assemble(self._request_of(TIER3), RenderedFiles(())).prompt.segments

    @property
    def warnings(self) -> tuple[str, ...]:
        if "_files" not in self.__dict__:  # asking for warnings reads nothing
            return ()
        secrets = FoundSecrets(self.focused.redaction)
        for file in self._files.files:
            secrets.note_file(file.path, file.source.secrets)
        return (*self._files.warnings, *secrets.warnings)

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Put these tickets' focus files last; return whether the others suffice for a provider's cache."""
        files = self._files.files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self.late_paths = focus_paths(((file.path, file.item.path) for file in files), focus_files)
        self.beginning.cache_clear()
        self.in_full.cache_clear()
        shared = (len(file.view.text) for file in files if file.path not in self.late_paths)
        return sum(shared) >= SHARED_CHARACTERS

    def named(self, focus: str) -> list[str]:
        return [file.path for file in self._tier3_files.named(focus)]

    def has(self, focus: str) -> bool:
        return any(not file.is_error for file in self._tier3_files.named(focus))

    def layout(self, focus_files: tuple[str, ...], strategy: str) -> Layout:
        """Return the layout of a ticket's context with all files of the project."""
        in_full = self.in_full(focus_files, strategy)
        beginning = self.beginning(strategy)
        if strategy != TIER3:  # there a focus file replaces its structure
            beginning = beginning.without(in_full)
        if in_full and not beginning.early:
            title = FILES_SUMMARY if self.request(strategy).is_summary else FILES
            text = FILES_TIER3 if strategy == TIER3 else title
            heading = Segment(Section.FILES, text, Stability.STABLE)
            beginning = replace(beginning, early=(heading,))
        return beginning.layout(in_full, self.other_sections)

    @cached_property
    def _files(self) -> RenderedFiles:
        return _rendered(self._request_of(TIER3))

    @cached_property
    def _tier3_files(self) -> Tier3Files:
        return Tier3Files(self._files.files, as_rendered=True)

    def _make_request(self, strategy: str) -> Request:
        views = AskedViews(tier=FOCUS_TIER) if strategy == TIER3 else AskedViews(strategy)
        return request_for(self._project, views=views, sending=True)

    def _request_of(self, strategy: str, entries: Sequence[Entry] | None = None) -> Request:
        """Return a request without a task, by default for all files and the specification."""
        request = self.request(strategy)
        if entries is None:
            entries = (*request.entries, *self.spec_entries)
        return replace(request, entries=tuple(entries), task=None, budget=None)

    def _make_beginning(self, strategy: str) -> Beginning:
        if strategy == TIER3:
            return Beginning.of(self._tier3_files.section(()), self.late_paths)
        section = self._laid_out(self._files.files, strategy)
        return Beginning.of(section, self.late_paths)

    def _make_in_full(self, focus_files: tuple[str, ...], strategy: str) -> dict[str, Segment]:
        """Return the segments of focus files, also of files outside the configuration."""
        if strategy == TIER3:
            in_full = dict(self._tier3_files.in_full(focus_files))
            for path in in_full.keys() & self.late_paths:
                in_full[path] = _changing(in_full[path])
            entries = [Entry(FileItem(focus)) for focus in focus_files if not self.named(focus)]
        else:
            in_full = {}
            paths = [path for focus in focus_files for path in self.named(focus) or [focus]]
            entries = [Entry(FileItem(path, force_full=True)) for path in dict.fromkeys(paths)]
        if entries:
            rendered = _rendered(self._request_of(strategy, entries))
            if strategy == TIER3:
                section: Sequence[Segment] = tuple(tier3_segments(rendered.files, focus_files))
            else:
                section = self._laid_out(rendered.files, strategy)
            in_full |= {segment.source: _changing(segment) for segment in section[1:]}
        return in_full

    def _laid_out(self, files: Sequence[File], strategy: str) -> tuple[Segment, ...]:
        return tuple(files_segments(files, is_summary=self.request(strategy).is_summary))


def _rendered(request: Request) -> RenderedFiles:
    rendered = render_files(request, index=user_index())
    rendered.check_refused()
    return rendered


def _changing(segment: Segment) -> Segment:
    return replace(segment, stability=Stability.SLOW)
