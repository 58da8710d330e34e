"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from aggregate.compose.assemble import Composition, assemble, with_references
from aggregate.compose.file_messages import check_refused
from aggregate.compose.file_rendering import RenderedFiles, render_files
from aggregate.compose.focus import FOCUS_TIER
from aggregate.compose.layout import files_segments
from aggregate.compose.project import find_persona, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.compose.tier3 import Tier3Files, focus_paths, tier3_segments
from aggregate.conductor.assignment import Assignment
from aggregate.conductor.budgeted_context import (
    BudgetedContexts,
    Compose,
    fits_surely,
    ticket_budget,
)
from aggregate.conductor.tickets import Ticket
from aggregate.config.load import Project
from aggregate.disk.writing import confined
from aggregate.errors import ConfigError, ScopeError
from aggregate.index.shared import user_index
from aggregate.models.budget import Budget
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.models.reference import CACHE_DIR
from aggregate.models.rendered_file import RenderedFile
from aggregate.models.result import AggregatedResult
from aggregate.sections.subagent_results import Results, results_segments
from aggregate.sources.path_resolution import FolderListing
from aggregate.text.fences import heading_text

TIER3 = "tier3"
SHARED_CHARACTERS = 20_000
"""What workers share if one is sent ahead for all: more than the 4,096 tokens of the largest minimum of a provider's
cache."""
REMEMBERED_FOCUS = 16
"""Sets of focus files whose own segments are remembered for tickets with the same, which mostly follow each other; each
may have megabytes."""


class WorkerContexts:
    """Composes workers' contexts from a project that is read once, so that a fan-out shares its bytes.

    Files, screenshots, beads and discussion are read when the first context needs them, and each
    file is rendered once: a ticket's context selects and joins what is there. Another run reads
    everything anew.

    Args:
        project: Whose files, screenshots, beads and discussion the workers see.
        compose: Makes the prompts of tickets with a budget; by default from the project's files.
    """

    def __init__(self, project: Project, *, compose: Compose | None = None) -> None:
        self._project = project
        self._budgeted = BudgetedContexts(compose)
        self._rendered: RenderedFiles | None = None
        self._late_paths: frozenset[str] = frozenset()
        self._persona = cache(lambda name: find_persona(project, name))
        self._asked = cache(self._make_asked)
        self._request = cache(self._make_request)
        self._other_sections = cache(self._make_other_sections)
        # What depends on which files stand late; see ``share``.
        self._tier3_files = cache(self._make_tier3_files)
        self._strategy_section = cache(self._make_strategy_section)
        self._focus_section = lru_cache(maxsize=REMEMBERED_FOCUS)(self._make_focus_section)

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
        files = self._project_files().files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self._late_paths = focus_paths(files, focus_files)
        for made in (self._tier3_files, self._strategy_section, self._focus_section):
            made.cache_clear()
        shared = (len(file.content) for file in files if file.path not in self._late_paths)
        return sum(shared) >= SHARED_CHARACTERS

    def alone(self, tickets: Sequence[Ticket]) -> frozenset[str]:
        """Return the ids of the tickets with a budget, whose contexts begin like no other's."""
        return frozenset(ticket.id for ticket in tickets if self._budget(ticket) is not None)

    def check(self, ticket: Ticket) -> None:
        """Make sure that the ticket's persona and focus files exist, and fit into its budget.

        Raises:
            ConfigError: There is no such persona, or a file is neither among the project's nor on disk.
            ScopeError: A file may not be read.
            BudgetError: What must be shown exceeds the budget.
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
        self._check_budget(ticket, request)

    def assignment(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> Assignment:
        """Return what a worker gets for ``ticket``; the stable part comes first, the task last (rule M-53)."""
        found: tuple[Results, ...] = ()
        if results:
            found = with_references(results, self._project.folder / CACHE_DIR)
        budget = self._budget(ticket)
        prompt = (
            self._whole_prompt(ticket, found)
            if budget is None
            else self._composition(ticket, budget, found).prompt
        )
        return Assignment(
            key=key,
            ticket=ticket.id,
            prompt=prompt,
            message=_message(ticket),
            persona=self._instructions(ticket),
            tools=ticket.tools,
            timeout=ticket.timeout,
            retries=ticket.retries,
        )

    def write_account(self, path: Path, assignment: Assignment) -> None:
        """Write beside a worker's prompt at ``path`` what was decided about its files, if it has a budget.

        Raises:
            OutputError: The file cannot be written.
        """
        self._budgeted.write_account(path, assignment)

    def _whole_prompt(self, ticket: Ticket, results: "tuple[Results, ...]") -> Prompt:
        """Return the context of a ticket without a budget: all that the project names."""
        files = self._files_section(ticket.focus_files, ticket.aggregation_strategy)
        others = self._other_sections()
        stable = tuple(segment for segment in others if segment.section is not Section.HISTORY)
        history = tuple(segment for segment in others if segment.section is Section.HISTORY)
        merged = results_segments(results) if results else ()
        return Prompt(files + stable + merged + history)

    def _composition(
        self, ticket: Ticket, budget: Budget, results: "tuple[Results, ...]" = ()
    ) -> Composition:
        """Return the context of a ticket with a budget, chosen for its task."""
        return self._budgeted.compose(
            replace(
                self._asked(ticket.aggregation_strategy),
                results=results,
                results_dir=self._project.folder / CACHE_DIR,
            ),
            ticket,
            budget,
            message=_message(ticket),
            persona=self._instructions(ticket),
        )

    def _check_budget(self, ticket: Ticket, request: Request) -> None:
        """Make sure that a ticket's budget is large enough, before any other ticket is begun."""
        budget = self._budget(ticket)
        if budget is None:
            return
        sections = self._other_sections()
        # Of the discussion only the last turn is shown in any case.
        kept = [segment for segment in sections if segment.section is not Section.HISTORY]
        others = sum(len(segment.text.encode()) for segment in (*kept, *sections[-1:]))
        is_sure = fits_surely(
            budget,
            ticket,
            request.base_dir,
            message=_message(ticket),
            persona=self._instructions(ticket),
            others=others,
        )
        if not is_sure:
            self._composition(ticket, budget)

    def _budget(self, ticket: Ticket) -> Budget | None:
        usual = self._asked(TIER3).budget
        return ticket_budget(usual, ticket, self._persona(ticket.persona).budget)

    def _instructions(self, ticket: Ticket) -> str:
        return self._persona(ticket.persona).system_prompt.strip()

    def _files_section(self, focus_files: tuple[str, ...], strategy: str) -> tuple[Segment, ...]:
        """Return the files of a context; it begins alike for all workers, for what only some focus on stands late."""
        is_tier3 = strategy == TIER3
        section = (
            self._tier3_files().section(focus_files)
            if is_tier3
            else self._strategy_section(strategy)
        )
        replaced, added = self._focus_section(focus_files, strategy)
        if added:
            kept = tuple(segment for segment in section if segment.source not in replaced)
            title, *segments = added
            section = (*(kept or (title,)), *segments)
        late_paths = self._late_paths | {segment.source for segment in added[1:]}
        return tuple(sorted(section, key=lambda segment: segment.source in late_paths))

    def _make_asked(self, strategy: str) -> Request:
        if strategy == TIER3:
            request = request_for(self._project, tier=FOCUS_TIER)
        else:
            request = request_for(self._project, strategy=strategy)
        return replace(request, redaction=redaction_for(self._project, sending=True))

    def _make_request(self, strategy: str) -> Request:
        """Return what a ticket without a budget asks for, whatever others have."""
        return replace(self._asked(strategy), task=None, budget=None)

    def _make_other_sections(self) -> tuple[Segment, ...]:
        """Return what stands behind the files in each context."""
        return assemble(self._request(TIER3), RenderedFiles(())).prompt.segments

    def _make_tier3_files(self) -> Tier3Files:
        return Tier3Files(self._project_files().files, as_rendered=True, finish=self._finish)

    def _make_strategy_section(self, strategy: str) -> tuple[Segment, ...]:
        return self._finish(_lay_out(self._request(strategy), self._project_files().files))

    def _make_focus_section(
        self, focus_files: tuple[str, ...], strategy: str
    ) -> tuple[frozenset[str], tuple[Segment, ...]]:
        """Return the section of focus files that the project's own section does not show, or not in full.

        Returns:
            The paths that it stands for in the project's own section, and the section; ``()`` for none.
        """
        entries = self._entries_to_add(focus_files, full=strategy != TIER3)
        if not entries:
            return frozenset(), ()
        request = replace(self._request(strategy), entries=entries)
        rendered = render_files(request, index=user_index())
        check_refused(rendered.refused)
        if strategy == TIER3:
            section = tier3_segments(rendered.files, focus_files)
        else:
            section = _lay_out(request, rendered.files)
        paths = frozenset(segment.source for segment in section[1:])
        replaced = frozenset(entry.item.path for entry in entries)
        return replaced, self._finish(section, late_paths=paths)

    def _entries_to_add(self, focus_files: Iterable[str], *, full: bool) -> tuple[Entry, ...]:
        """Return entries for focus files that the project does not name, or, with ``full``, for all of them."""
        entries: dict[str, Entry] = {}
        for focus in focus_files:
            paths = [file.path for file in self._tier3_files().named(focus)]
            if full:
                for path in paths or [focus]:
                    entries[path] = Entry(FileItem(path, force_full=True))
            elif not paths:
                entries[focus] = Entry(FileItem(focus))
        return tuple(entries.values())

    def _finish(
        self, segments: Sequence[Segment], *, late_paths: frozenset[str] | None = None
    ) -> tuple[Segment, ...]:
        """Return segments of files without secrets in their names, those that stand late marked so."""
        late = self._late_paths if late_paths is None else late_paths
        clean = self._clean_names(segments)
        return tuple(
            replace(segment, stability=Stability.SLOW) if segment.source in late else segment
            for segment in clean
        )

    def _clean_names(self, segments: Sequence[Segment]) -> Iterable[Segment]:
        redaction = self._request(TIER3).redaction
        if redaction is None:
            return segments
        # Its rules take time to compile.
        from aggregate.compose.redact_prompt import PromptRedaction

        return map(PromptRedaction(redaction, (each.source for each in segments)).clean, segments)

    def _project_files(self) -> RenderedFiles:
        """Read the project's files, once: how they are shown depends on their entries alone."""
        if self._rendered is None:
            self._rendered = render_files(self._request(TIER3), index=user_index())
            check_refused(self._rendered.refused)
        return self._rendered

    def _exists(self, focus: str, request: Request) -> bool:
        if Path(request.base_dir, focus).is_file():
            return True
        return any(not file.error for file in self._tier3_files().named(focus))


def _message(ticket: Ticket) -> str:
    return f"## Task: {heading_text(ticket.name)}\n\n{ticket.prompt.strip()}"


def _lay_out(request: Request, files: Sequence[RenderedFile]) -> tuple[Segment, ...]:
    """Return the section of files by the request's strategy."""
    return tuple(
        files_segments(files, summary_only=request.summary_only, strategy=request.strategy)
    )
