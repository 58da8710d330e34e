"""The context of each worker: the project's files once, the focus files of each ticket, and what others found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.budgeted_context import BudgetedContexts, Compose
from aggregate.agents.tracks.schedule import Schedule
from aggregate.agents.tracks.sharing import SharingPlan, plan_sharing, prompt_exceeds
from aggregate.agents.tracks.terms import USUAL, WorkerTerms, check_tools, fits_surely
from aggregate.agents.tracks.ticket_parts import TicketParts, plain_task
from aggregate.agents.tracks.tickets import Ticket, Tickets
from aggregate.agents.tracks.track import Track
from aggregate.base.disk import confined
from aggregate.base.errors import ConfigError, ScopeError
from aggregate.base.values import CACHE_DIR, AggregatedResult, FileChoice, Prompt, Section
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.prompt import Request, with_references
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
        self._terms = terms or WorkerTerms()
        self._results_dir = project.folder / CACHE_DIR
        self._parts = TicketParts(project, track, self._terms)
        self._budgeted = BudgetedContexts(compose, spec=self._parts.spec)
        self._plan = SharingPlan()
        self.asks = self._parts.asks
        self.granted = self._parts.granted
        self.limits = self._parts.limits

    @property
    def output_dir(self) -> Path:
        """The folder that the project's prompts are written to; the runs' folders lie in it.

        Raises:
            OutputError: It leads out of the project.
        """
        request = self._parts.focused
        return confined(request.output_dir, request.written_in)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of the files or is doubtful, one sentence each."""
        return tuple(dict.fromkeys((*self._parts.files.warnings, *self._budgeted.warnings)))

    def share(self, tickets: Sequence[Ticket]) -> None:
        """Let the workers of these tickets share their beginning, as far as their budgets and focus files allow.

        The files that none of them focuses on go first. The instructions of roles go behind the context, unless all
        have the same.

        Raises:
            BudgetError: What must be shown exceeds a budget.
        """
        self._parts.instructions_last = len(set(map(self._parts.instructions, tickets))) > 1
        self._plan = plan_sharing(tickets, self._parts, self._budgeted)

    def schedule(self, tickets: Tickets, *, warm_up: bool = True) -> Schedule:
        """Return the order of a run whose workers share their beginning.

        Raises:
            BudgetError: What must be shown exceeds a budget.
        """
        self.share(tickets.tickets)
        return Schedule(
            tickets.tickets, on_error=tickets.on_error, warm_up=warm_up, prefix=self._prefix
        )

    def check(self, ticket: Ticket) -> None:
        """Make sure that the ticket's persona, model, tools and focus files exist, and fit into its budget.

        Raises:
            ConfigError: There is no such persona, model or tool, or a file is neither among the project's nor on disk.
            ClientSetupError: The persona names a provider that does not exist.
            ScopeError: A file may not be read.
            BudgetError: What must be shown exceeds the budget.
        """
        self._parts.recipient(ticket)
        check_tools(ticket, self._terms.tools)
        request = self._parts.focused
        listing = FolderListing(request.scope)
        for focus in ticket.focus_files:
            if refused := listing.resolve(request.base_dir, focus).refused:
                raise ScopeError(f'{refused}: {focus}, a focus file of the ticket "{ticket.id}"')
            if not Path(request.base_dir, focus).is_file() and not self._parts.files.has(focus):
                raise ConfigError(
                    f'the ticket "{ticket.id}" has the focus file {focus}, which is not there: correct its path, '
                    f"relative to {request.base_dir}"
                )
        self._check_budget(ticket, request)

    def assignment(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> Assignment:
        """Return what a worker gets for ``ticket``; the stable part comes first, the task last (rule M-53)."""
        found = with_references(results, self._results_dir) if results else ()
        limits = self.limits(ticket)
        seconds = ticket.timeout if limits.max_seconds is None else limits.max_seconds
        recipient = self._parts.recipient(ticket)
        return Assignment(
            key=key,
            ticket=ticket.id,
            prompt=self._prompt(ticket, found),
            message=self._parts.message(ticket),
            persona=self._parts.instructions_first(ticket),
            tools=ticket.tools,
            timeout=min(ticket.timeout, seconds),
            retries=ticket.retries,
            answer=ticket.answer_schema,
            max_cost=ticket.max_cost,
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

    def _prefix(self, ticket: Ticket) -> tuple[object, ...]:
        """Return what decides how a ticket's request begins."""
        if ticket.id in self._plan.alone:
            return (ticket.id,)
        request = self._parts.asked(ticket)
        return (
            self._parts.recipient(ticket),
            self._parts.instructions_first(ticket),
            request.strategy,
            request.tier,
            id(self._plan.beginnings.get(ticket.id)),
            () if self._plan.any_focus else ticket.focus_files,
        )

    def _prompt(self, ticket: Ticket, results: "tuple[Results, ...]") -> Prompt:
        """Return the context of a ticket; one that exceeds its budget with others' results is chosen for it alone."""
        granted, around = self.granted(ticket), self._parts.around(ticket)
        asked = self._parts.asked(ticket)
        room = granted.budget.tokens - around
        merged = results_segments(results) if results else ()
        beginning = self._plan.beginnings.get(ticket.id)
        if beginning is not None:
            in_full = self._parts.files.in_full(ticket.focus_files)
            prompt = beginning.prompt(in_full, merged)
            if not prompt_exceeds(prompt, room):
                self._budgeted.note(ticket.id, beginning.request, beginning.account(in_full))
                return prompt
        elif not granted.is_named:
            prompt = self._parts.whole_prompt(ticket, merged)
            if not asked.entries or not prompt_exceeds(prompt, room):
                return prompt
        request = replace(asked, results=results, results_dir=self._results_dir)
        return self._budgeted.compose(request, ticket, granted, around=around).prompt

    def _check_budget(self, ticket: Ticket, request: Request) -> None:
        """Make sure that a ticket's budget is large enough, before any other ticket is begun."""
        parts, granted = self._parts, self.granted(ticket)
        if not granted.is_named:  # it is raised to what must be shown
            return
        sections = parts.other_sections
        # Of the discussion only the last turn is shown in any case.
        kept = [segment for segment in sections if segment.section is not Section.HISTORY]
        others = sum(len(segment.text.encode()) for segment in (*kept, *sections[-1:]))
        has_pins = any(entry.item.force_full or entry.tier for entry in request.entries)
        is_sure = not (has_pins or parts.spec.path) and fits_surely(
            granted.budget,
            ticket,
            request.base_dir,
            message=parts.message(ticket),
            persona=parts.instructions(ticket),
            others=others,
        )
        if not is_sure:
            around = parts.around(ticket)
            self._budgeted.compose(parts.asked(ticket), ticket, granted, around=around)
