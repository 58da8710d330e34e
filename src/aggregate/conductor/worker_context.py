"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from aggregate.compose.assemble import Composition, assemble, with_references
from aggregate.compose.file_rendering import RenderedFiles
from aggregate.compose.focus import FOCUS_TIER
from aggregate.compose.project import find_persona, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.conductor.assignment import Assignment
from aggregate.conductor.budgeted_context import (
    BudgetedContexts,
    Compose,
    fits_surely,
    ticket_budget,
)
from aggregate.conductor.shared_files import TIER3, SharedFiles
from aggregate.conductor.tickets import Ticket
from aggregate.config.load import Project
from aggregate.disk.writing import confined
from aggregate.errors import ConfigError, ScopeError
from aggregate.models.budget import Budget
from aggregate.models.prompt import Prompt, Section, Segment
from aggregate.models.reference import CACHE_DIR
from aggregate.models.result import AggregatedResult
from aggregate.sections.subagent_results import Results, results_segments
from aggregate.sources.path_resolution import FolderListing
from aggregate.text.fences import heading_text


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
        self._persona = cache(lambda name: find_persona(project, name))
        self._asked = cache(self._make_asked)
        self._request = cache(self._make_request)
        self._other_sections = cache(self._make_other_sections)
        self._files = SharedFiles(self._request)

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
        return self._files.warnings

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Let the workers of these tickets share their beginning: the files that none of them focuses on go first.

        Returns whether these are so many that a provider's cache can hold them.
        """
        return self._files.share(tickets)

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
        files = self._files.section(ticket.focus_files, self._strategy(ticket))
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
                self._asked(self._strategy(ticket)),
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

    def _strategy(self, ticket: Ticket) -> str:
        """Return how files that are not in focus are shown: as the ticket says, else its persona."""
        persona = self._persona(ticket.persona)
        return ticket.aggregation_strategy or persona.aggregation_strategy or TIER3

    def _instructions(self, ticket: Ticket) -> str:
        return self._persona(ticket.persona).system_prompt.strip()

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

    def _exists(self, focus: str, request: Request) -> bool:
        if Path(request.base_dir, focus).is_file():
            return True
        return self._files.has(focus)


def _message(ticket: Ticket) -> str:
    return f"## Task: {heading_text(ticket.name)}\n\n{ticket.prompt.strip()}"
