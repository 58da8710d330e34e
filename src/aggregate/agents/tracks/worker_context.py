"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.budgeted_context import BudgetedContexts, Compose
from aggregate.agents.tracks.recipients import recipient_of
from aggregate.agents.tracks.shared_files import SharedFiles
from aggregate.agents.tracks.sharing import SharingPlan, plan_sharing, prompt_exceeds
from aggregate.agents.tracks.terms import USUAL, Recipient, TicketLimits, WorkerTerms, check_tools
from aggregate.agents.tracks.ticket_budget import GrantedBudget, fits_surely, grant_budget
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track
from aggregate.agents.tracks.track_requests import (
    TrackRequests,
    TrackSpec,
    plain_task,
    strategy_of,
    task_message,
)
from aggregate.base.disk import confined
from aggregate.base.errors import ConfigError, ScopeError
from aggregate.base.tokens import count
from aggregate.base.values import CACHE_DIR, AggregatedResult, FileChoice, Prompt, Section, Segment
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.prompt import Request, find_persona, with_references
from aggregate.prompt.sections import Results, results_segments


class WorkerContexts:
    """Composes workers' contexts from a project that is read once, so that a fan-out shares its bytes.

    Files, screenshots, beads and discussion are read when the first context needs them, and each
    file is rendered once: a ticket's context selects and joins what is there. Another run reads
    everything anew.

    Args:
        project: Whose files, screenshots, beads and discussion the workers see.
        compose: Makes prompts within budgets; by default from the project's files.
        track: Whose ``spec.md`` the workers see.
        terms: What the user allows the workers.
    """

    def __init__(
        self,
        project: Project,
        *,
        compose: Compose | None = None,
        track: Track | None = None,
        terms: WorkerTerms | None = None,
    ) -> None:
        self._project = project
        self._spec = TrackSpec.of(track)
        self._terms = terms or WorkerTerms()
        self._budgeted = BudgetedContexts(compose, spec=self._spec)
        self._plan = SharingPlan()
        self._instructions_last = False
        self._persona = cache(lambda name: find_persona(project, name))
        self._recipient = cache(lambda name: recipient_of(project, name, self._terms))
        self._requests = TrackRequests(project, self._spec)
        self._files = SharedFiles(self._requests.whole)

    @property
    def output_dir(self) -> Path:
        """The folder that the project's prompts are written to; the runs' folders lie in it.

        Raises:
            OutputError: It leads out of the project.
        """
        request = self._requests.focused
        return confined(request.output_dir, request.written_in)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of the files or is doubtful, one sentence each."""
        return tuple(dict.fromkeys((*self._files.warnings, *self._budgeted.warnings)))

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Let the workers of these tickets share their beginning, as far as their budgets and focus files allow.

        The files that none of them focuses on go first. The instructions of roles go behind the context, unless all
        have the same: a provider's cache begins with what goes before everything.

        Returns whether tickets with different focus files share so much that a provider's cache can hold it.

        Raises:
            BudgetError: What must be shown exceeds a budget.
        """
        roles = {self._instructions(ticket) for ticket in tickets}
        self._instructions_last = len(roles) > 1
        self._plan = plan_sharing(tickets, self._files, self._budgeted, self)
        return self._plan.any_focus

    def alone(self, tickets: Sequence[Ticket]) -> frozenset[str]:
        """Return the ids of the tickets whose contexts begin like no other's."""
        own = {ticket.id for ticket in tickets if self.granted(ticket).is_own}
        return frozenset(own | self._plan.alone)

    def prefix(self, ticket: Ticket) -> tuple[object, ...]:
        """Return what decides how a ticket's request begins, its focus files aside, once ``share`` was called."""
        request = self.asked(ticket)
        first = "" if self._goes_last(ticket) else self._instructions(ticket)
        beginning = id(self._plan.beginnings.get(ticket.id))
        return self.recipient(ticket), first, request.strategy, request.tier, beginning

    def check(self, ticket: Ticket) -> None:
        """Make sure that the ticket's persona, model, tools and focus files exist, and fit into its budget.

        Raises:
            ConfigError: There is no such persona, model or tool, or a file is neither among the project's nor on disk.
            ClientSetupError: The persona names a provider that does not exist.
            ScopeError: A file may not be read.
            BudgetError: What must be shown exceeds the budget.
        """
        self.recipient(ticket)
        check_tools(ticket, self._terms.tools)
        request = self._requests.focused
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
        limits = self.limits(ticket)
        seconds = ticket.timeout if limits.max_seconds is None else limits.max_seconds
        recipient = self.recipient(ticket)
        return Assignment(
            key=key,
            ticket=ticket.id,
            prompt=self._prompt(ticket, found),
            message=self._message(ticket),
            persona="" if self._goes_last(ticket) else self._instructions(ticket),
            tools=ticket.tools,
            timeout=min(ticket.timeout, seconds),
            retries=ticket.retries,
            provider=recipient.provider,
            model=recipient.model,
            base_url=recipient.base_url,
            max_tokens=None if limits.max_tokens == USUAL.max_tokens else limits.max_tokens,
            max_steps=None if limits.max_steps == USUAL.max_steps else limits.max_steps,
            task=plain_task(ticket) if ticket.tools else "",
        )

    def write_account(self, path: Path, assignment: Assignment) -> None:
        """Write beside a worker's prompt at ``path`` what was decided about its files, if they had to be chosen.

        Raises:
            OutputError: The file cannot be written.
        """
        self._budgeted.write_account(path, assignment)

    def choices(self, ticket: Ticket) -> tuple[FileChoice, ...]:
        """Return what was decided about each file for the last assignment; none where all are shown as configured."""
        return self._budgeted.choices(ticket.id)

    def limits(self, ticket: Ticket) -> TicketLimits:
        """Return what one attempt at a ticket may use."""
        return self._terms.limits.lowered(self._project.config.conduct).lowered(ticket)

    def recipient(self, ticket: Ticket) -> Recipient:
        """Return whom the ticket's persona names, the run's own model for nobody."""
        return self._recipient(ticket.persona)

    def asks(self, ticket: Ticket) -> Recipient:
        """Return whom a ticket asks; no model for the scripted worker."""
        recipient = self.recipient(ticket)
        return recipient if recipient.provider else self._terms.recipient

    def granted(self, ticket: Ticket) -> GrantedBudget:
        """Return the budget of a ticket."""
        return grant_budget(
            ticket,
            self._project.config.budget,
            persona=self._persona(ticket.persona).budget,
            recipient=self.asks(ticket),
            max_tokens=self.limits(ticket).max_tokens,
        )

    def around(self, ticket: Ticket) -> int:
        """Return the tokens of a ticket's task and instructions."""
        around = count(self._message(ticket)) + _SEPARATOR_TOKENS
        if self._goes_last(ticket) or not self._instructions(ticket):
            return around
        return around + count(self._instructions(ticket))

    def asked(self, ticket: Ticket) -> Request:
        """Return what a ticket is shown, without its focus files and its task."""
        return self._requests.of(strategy_of(ticket, self._persona(ticket.persona)))

    def whole_prompt(self, ticket: Ticket, results: "tuple[Results, ...]" = ()) -> Prompt:
        """Return the context with all that the project names, as long as it may be."""
        files = self._files.section(
            ticket.focus_files, strategy_of(ticket, self._persona(ticket.persona))
        )
        others = self._requests.other_sections
        stable = tuple(segment for segment in others if segment.section is not Section.HISTORY)
        history = tuple(segment for segment in others if segment.section is Section.HISTORY)
        return Prompt(files + stable + _merged(results) + history)

    def _prompt(self, ticket: Ticket, results: "tuple[Results, ...]") -> Prompt:
        """Return the context of a ticket; one that exceeds its budget with others' results is chosen for it alone."""
        granted, around = self.granted(ticket), self.around(ticket)
        room = granted.budget.tokens - around
        beginning = self._plan.beginnings.get(ticket.id)
        if beginning is not None:
            in_full = self._files.in_full(ticket.focus_files)
            prompt = beginning.prompt(in_full, _merged(results))
            if not prompt_exceeds(prompt, room):
                self._budgeted.note(ticket.id, beginning.request, beginning.account(in_full))
                return prompt
        elif not granted.is_named:
            prompt = self.whole_prompt(ticket, results)
            if not self.asked(ticket).entries or not prompt_exceeds(prompt, room):
                return prompt
        request = replace(
            self.asked(ticket), results=results, results_dir=self._project.folder / CACHE_DIR
        )
        return self._budgeted.compose(request, ticket, granted, around=around).prompt

    def _check_budget(self, ticket: Ticket, request: Request) -> None:
        """Make sure that a ticket's budget is large enough, before any other ticket is begun."""
        granted = self.granted(ticket)
        if not granted.is_named:  # it is raised to what must be shown
            return
        sections = self._requests.other_sections
        # Of the discussion only the last turn is shown in any case.
        kept = [segment for segment in sections if segment.section is not Section.HISTORY]
        others = sum(len(segment.text.encode()) for segment in (*kept, *sections[-1:]))
        has_pins = any(entry.item.force_full or entry.tier for entry in request.entries)
        is_sure = not (has_pins or self._spec.path) and fits_surely(
            granted.budget,
            ticket,
            request.base_dir,
            message=self._message(ticket),
            persona=self._instructions(ticket),
            others=others,
        )
        if not is_sure:
            around = self.around(ticket)
            self._budgeted.compose(self.asked(ticket), ticket, granted, around=around)

    def _message(self, ticket: Ticket) -> str:
        spec = self._spec.shown_path(self._requests.focused)
        instructions = self._instructions(ticket) if self._goes_last(ticket) else ""
        return task_message(
            ticket, track=self._spec.description, spec=spec, instructions=instructions
        )

    def _goes_last(self, ticket: Ticket) -> bool:
        """Tell whether the instructions of a ticket's role go behind the context: where others share its beginning."""
        return self._instructions_last and not self.granted(ticket).is_own

    def _instructions(self, ticket: Ticket) -> str:
        return self._persona(ticket.persona).system_prompt.strip()

    def _exists(self, focus: str, request: Request) -> bool:
        if Path(request.base_dir, focus).is_file():
            return True
        return self._files.has(focus)


_SEPARATOR_TOKENS = 1
"""Of the separator between the context and the task: it never takes more, and where it joins the last token none."""


def _merged(results: "tuple[Results, ...]") -> tuple[Segment, ...]:
    return results_segments(results) if results else ()
