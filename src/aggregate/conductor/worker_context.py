"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from aggregate.compose.assemble import assemble, with_references
from aggregate.compose.file_rendering import RenderedFiles, check_refused, render_files
from aggregate.compose.project import find_persona, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.compose.tier3 import FOCUS_TIER, focus_paths, is_focus
from aggregate.conductor.assignment import Assignment
from aggregate.conductor.tickets import Ticket
from aggregate.config.load import Project
from aggregate.disk.writing import confined
from aggregate.errors import ConfigError, ScopeError
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.models.prompt import Prompt, Section, Stability
from aggregate.models.reference import CACHE_DIR
from aggregate.models.result import AggregatedResult
from aggregate.sections.subagent_results import results_segments
from aggregate.sources.path_resolution import FolderListing
from aggregate.text.fences import heading_text

TIER3 = "tier3"
MUCH = 20_000
"""Characters that workers share if one is sent ahead for all: more than the 4,096 tokens of the largest minimum."""
KEPT = 16
"""Contexts that are kept for tickets with the same focus."""


class WorkerContexts:
    """Composes workers' contexts from files that are read once, so that a fan-out shares its bytes.

    Args:
        project: Whose files, screenshots, beads and discussion the workers see.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._gathered: RenderedFiles | None = None
        self._focused: frozenset[str] = frozenset()
        self._context = lru_cache(maxsize=KEPT)(self._compose)
        self._system = lru_cache(maxsize=KEPT)(lambda name: find_persona(project, name).system_prompt.strip())

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
        return self._gathered.warnings if self._gathered else ()

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Let the workers of these tickets share their beginning: the files that none of them focuses on go first.

        Returns whether these are so many that a provider's cache can hold them.
        """
        files = self._files(self._request(TIER3)).files
        self._focused = focus_paths(files, (focus for ticket in tickets for focus in ticket.focus_files))
        self._context.cache_clear()
        return sum(len(file.content) for file in files if file.path not in self._focused) >= MUCH

    def check(self, ticket: Ticket) -> None:
        """Make sure that the ticket's persona and focus files exist.

        Raises:
            ConfigError: There is no such persona, or a file is neither among the project's nor on disk.
            ScopeError: A file may not be read.
        """
        self._system(ticket.persona)
        request = self._request(TIER3)
        listing = FolderListing(request.scope)
        for focus in ticket.focus_files:
            if refused := listing.resolve(request.base_dir, focus).refused:
                raise ScopeError(f'{refused}: {focus}, a focus file of the ticket "{ticket.id}"')
            if not self._is_there(focus, request):
                raise ConfigError(
                    f'the ticket "{ticket.id}" has the focus file {focus}, which is not there: correct its path, '
                    f"relative to {request.base_dir}"
                )

    def assignment(self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str) -> Assignment:
        """Return what a worker gets for ``ticket``; the stable part comes first, the task last (rule M-53)."""
        context = self._context(ticket.focus_files, ticket.aggregation_strategy)
        folded = results_segments(with_references(results, self._project.folder / CACHE_DIR)) if results else ()
        stable = tuple(one for one in context.segments if one.section is not Section.HISTORY)
        history = tuple(one for one in context.segments if one.section is Section.HISTORY)
        message = f"## Task: {heading_text(ticket.name)}\n\n{ticket.prompt.strip()}"
        return Assignment(
            key=key,
            ticket=ticket.id,
            prompt=Prompt(stable + folded + history),
            message=message,
            persona=self._system(ticket.persona),
            tools=ticket.tools,
            timeout=ticket.timeout,
            retries=ticket.retries,
        )

    def _compose(self, focus_files: tuple[str, ...], strategy: str) -> Prompt:
        request = replace(self._request(strategy), focus_files=focus_files if strategy == TIER3 else ())
        gathered = self._files(request)
        added = self._added(focus_files, gathered, full=strategy != TIER3)
        own = self._focused
        if added:
            shown = {entry.item.path for entry in added}
            more = render_files(replace(request, entries=added))
            check_refused(more.refused)
            kept = tuple(file for file in gathered.files if file.path not in shown)
            gathered = RenderedFiles((*kept, *more.files), gathered.warnings)
            own |= {file.path for file in more.files}
        return self._ordered(request, gathered, own)

    def _ordered(self, request: Request, gathered: RenderedFiles, own: frozenset[str]) -> Prompt:
        """Lay out a context whose beginning is the same for all workers; what only some focus on is marked so."""
        files = sorted(gathered.files, key=lambda file: file.path in own)
        prompt = assemble(request, RenderedFiles(tuple(files), gathered.warnings)).prompt
        return Prompt(
            tuple(
                replace(one, stability=Stability.SLOW) if one.section is Section.FILES and one.source in own else one
                for one in prompt.segments
            )
        )

    def _request(self, strategy: str) -> Request:
        tier3 = strategy == TIER3
        request = request_for(self._project, strategy=None if tier3 else strategy, tier=FOCUS_TIER if tier3 else None)
        return replace(request, redaction=redaction_for(self._project, sending=True))

    def _files(self, request: Request) -> RenderedFiles:
        """Read the project's files, once: how they are shown depends on their entries alone."""
        if self._gathered is None:
            self._gathered = render_files(request)
            check_refused(self._gathered.refused)
        return self._gathered

    def _added(self, focus_files: Iterable[str], gathered: RenderedFiles, *, full: bool) -> tuple[Entry, ...]:
        """Return entries for focus files that the project does not name, or, with ``full``, for all of them."""
        entries: dict[str, Entry] = {}
        for focus in focus_files:
            paths = [file.path for file in gathered.files if is_focus(file, [focus])] or [focus]
            if full or paths == [focus]:
                entries |= {path: Entry(FileItem(path, force_full=full)) for path in paths}
        known = {file.path for file in gathered.files}
        return tuple(entry for path, entry in entries.items() if full or path not in known)

    def _is_there(self, focus: str, request: Request) -> bool:
        if Path(request.base_dir, focus).is_file():
            return True
        return any(is_focus(file, [focus]) and not file.error for file in self._files(request).files)
