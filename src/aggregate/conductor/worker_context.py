"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from aggregate.compose.assemble import assemble, with_references
from aggregate.compose.file_rendering import RenderedFiles, check_refused, render_files
from aggregate.compose.focus import FOCUS_TIER
from aggregate.compose.project import find_persona, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.compose.tier3 import focus_paths, is_focus
from aggregate.conductor.assignment import Assignment
from aggregate.conductor.tickets import Ticket
from aggregate.config.load import Project
from aggregate.disk.writing import confined
from aggregate.errors import ConfigError, ScopeError
from aggregate.index.shared import user_index
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.models.reference import CACHE_DIR
from aggregate.models.result import AggregatedResult
from aggregate.sections.subagent_results import results_segments
from aggregate.sources.path_resolution import FolderListing
from aggregate.text.fences import heading_text

TIER3 = "tier3"
SHARED_CHARACTERS = 20_000
"""What workers share if one is sent ahead for all: more than the 4,096 tokens of the largest minimum of a provider's
cache."""
CACHED_CONTEXTS = 16
"""Contexts that are remembered for tickets with the same focus, which mostly follow each other; each may have
megabytes."""


class WorkerContexts:
    """Composes workers' contexts from files that are read once, so that a fan-out shares its bytes.

    Args:
        project: Whose files, screenshots, beads and discussion the workers see.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._rendered: RenderedFiles | None = None
        self._focus_paths: frozenset[str] = frozenset()
        self._context = lru_cache(maxsize=CACHED_CONTEXTS)(self._compose)
        self._persona = lru_cache(maxsize=CACHED_CONTEXTS)(self._find_persona)

    @property
    def output_dir(self) -> Path:
        """The folder that the project's prompts are written to; the runs' folders lie in it.

        Raises:
            OutputError: It leads out of the project.
        """
        request = self._request(TIER3)
        return confined(request.output_dir, request.written_in)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of the files or is doubtful, one sentence each."""
        return self._rendered.warnings if self._rendered else ()

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Let the workers of these tickets share their beginning: the files that none of them focuses on go first.

        Returns whether these are so many that a provider's cache can hold them.
        """
        files = self._project_files(self._request(TIER3)).files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self._focus_paths = focus_paths(files, focus_files)
        self._context.cache_clear()
        shared = (len(file.content) for file in files if file.path not in self._focus_paths)
        return sum(shared) >= SHARED_CHARACTERS

    def check(self, ticket: Ticket) -> None:
        """Make sure that the ticket's persona and focus files exist.

        Raises:
            ConfigError: There is no such persona, or a file is neither among the project's nor on disk.
            ScopeError: A file may not be read.
        """
        self._persona(ticket.persona)
        request = self._request(TIER3)
        listing = FolderListing(request.scope)
        for focus in ticket.focus_files:
            if refused := listing.resolve(request.base_dir, focus).refused:
                raise ScopeError(f'{refused}: {focus}, a focus file of the ticket "{ticket.id}"')
            if not self._exists(focus, request):
                raise ConfigError(
                    f'the ticket "{ticket.id}" has the focus file {focus}, which is not there: correct its path, '
                    f"relative to {request.base_dir}"
                )

    def assignment(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> Assignment:
        """Return what a worker gets for ``ticket``; the stable part comes first, the task last (rule M-53)."""
        context = self._context(ticket.focus_files, ticket.aggregation_strategy)
        stable = tuple(
            segment for segment in context.segments if segment.section is not Section.HISTORY
        )
        history = tuple(
            segment for segment in context.segments if segment.section is Section.HISTORY
        )
        merged: tuple[Segment, ...] = ()
        if results:
            merged = results_segments(with_references(results, self._project.folder / CACHE_DIR))
        return Assignment(
            key=key,
            ticket=ticket.id,
            prompt=Prompt(stable + merged + history),
            message=f"## Task: {heading_text(ticket.name)}\n\n{ticket.prompt.strip()}",
            persona=self._persona(ticket.persona),
            tools=ticket.tools,
            timeout=ticket.timeout,
            retries=ticket.retries,
        )

    def _find_persona(self, name: str) -> str:
        return find_persona(self._project, name).system_prompt.strip()

    def _compose(self, focus_files: tuple[str, ...], strategy: str) -> Prompt:
        tier3 = strategy == TIER3
        request = replace(self._request(strategy), focus_files=focus_files if tier3 else ())
        rendered = self._project_files(request)
        late_paths = self._focus_paths
        entries = _entries_to_add(focus_files, rendered, full=not tier3)
        if entries:
            added = render_files(replace(request, entries=entries), index=user_index())
            check_refused(added.refused)
            replaced = {entry.item.path for entry in entries}
            others = tuple(file for file in rendered.files if file.path not in replaced)
            rendered = RenderedFiles((*others, *added.files), rendered.warnings)
            late_paths |= {file.path for file in added.files}
        return _lay_out(request, rendered, late_paths)

    def _request(self, strategy: str) -> Request:
        if strategy == TIER3:
            request = request_for(self._project, tier=FOCUS_TIER)
        else:
            request = request_for(self._project, strategy=strategy)
        return replace(request, redaction=redaction_for(self._project, sending=True))

    def _project_files(self, request: Request) -> RenderedFiles:
        """Read the project's files, once: how they are shown depends on their entries alone."""
        if self._rendered is None:
            self._rendered = render_files(request, index=user_index())
            check_refused(self._rendered.refused)
        return self._rendered

    def _exists(self, focus: str, request: Request) -> bool:
        if Path(request.base_dir, focus).is_file():
            return True
        files = self._project_files(request).files
        return any(is_focus(file, [focus]) and not file.error for file in files)


def _entries_to_add(
    focus_files: Iterable[str], rendered: RenderedFiles, *, full: bool
) -> tuple[Entry, ...]:
    """Return entries for focus files that the project does not name, or, with ``full``, for all of them."""
    known = {file.path for file in rendered.files}
    entries: dict[str, Entry] = {}
    for focus in focus_files:
        paths = [file.path for file in rendered.files if is_focus(file, [focus])]
        if full:
            for path in paths or [focus]:
                entries[path] = Entry(FileItem(path, force_full=True))
        elif not paths and focus not in known:
            entries[focus] = Entry(FileItem(focus))
    return tuple(entries.values())


def _lay_out(request: Request, rendered: RenderedFiles, late_paths: frozenset[str]) -> Prompt:
    """Return a context whose beginning is the same for all workers: what only some focus on stands late, marked so."""
    files = sorted(rendered.files, key=lambda file: file.path in late_paths)
    prompt = assemble(request, RenderedFiles(tuple(files), rendered.warnings)).prompt

    def with_stability(segment: Segment) -> Segment:
        if segment.section is Section.FILES and segment.source in late_paths:
            return replace(segment, stability=Stability.SLOW)
        return segment

    return Prompt(tuple(map(with_stability, prompt.segments)))
