"""The contexts of tickets: shared files first, then focus files, results, and the task.

Contexts show all files of the project if they fit. Else files are chosen once for the tasks of all tickets with one
budget, which then begin alike. A ticket with its own budget, or with a large focus, is composed alone.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.schedule import Schedule
from aggregate.agents.tracks.terms import USUAL, GrantedBudget, WorkerTerms, check_tools
from aggregate.agents.tracks.ticket_parts import (
    TIER3,
    Beginning,
    ChosenFiles,
    TicketParts,
    plain_task,
    tokens_of,
)
from aggregate.agents.tracks.tickets import Ticket, Tickets
from aggregate.agents.tracks.track import Track
from aggregate.base.disk.reading import confined
from aggregate.base.errors import BudgetError, ConfigError, ScopeError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task import Budget, Place, Task
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.index import user_index
from aggregate.prompt import (
    ALL_FILES,
    Composition,
    FittedSection,
    Request,
    fit_results,
    own_output_filter,
    result_texts,
)
from aggregate.prompt.audit import record_audit
from aggregate.prompt.document import Cut, Prompt, Section, Segment, Stability
from aggregate.prompt.results import AggregatedResult, Results
from aggregate.prompt.sections import results_segments

if TYPE_CHECKING:
    from aggregate.prompt.ranked_files import ReadFiles

# Share of a budget that a ticket's files and task must leave to share a beginning: a larger focus makes it small.
LEAST_ROOM: Final = 0.5
_CHARACTERS: Final = 12  # for each token: a longer text exceeds a budget without being counted
_AROUND_FILE = 200  # more than a heading and fences beside a path, which may be escaped
_AROUND_ALL = 1_000  # more than all headings, notes and separators
_REMEMBERED = 4  # sets of files: the project's, and those with focus files beside it


@dataclass(frozen=True, slots=True)
class TicketContext:
    """The assignment of a ticket, and the composition of its files, if they were chosen."""

    assignment: Assignment
    chosen: "tuple[Request, Composition] | None" = None

    def write_account(self, path: Path) -> None:
        """Write the audit of chosen files beside a prompt at ``path`` (rule A-1)."""
        if self.chosen:
            task = Segment(Section.HISTORY, self.assignment.message, Stability.VOLATILE)
            shown = Prompt((*self.assignment.prompt.segments, task))
            record_audit(path, *self.chosen, shown)


class WorkerContexts:
    """Composes contexts from a project that is read once per run, so that a fan-out shares its bytes.

    Each file is read and rendered when the first context needs it.
    """

    def __init__(
        self, project: Project, *, track: Track | None = None, terms: WorkerTerms | None = None
    ) -> None:
        self._terms = terms or WorkerTerms()
        self._parts = TicketParts(project, track, self._terms)
        self._warnings: dict[str, None] = {}
        self._alone: set[str] = set()
        self._chosen: dict[str, ChosenFiles] = {}
        # Whether tickets with different focus files share enough for a provider's cache
        self._any_focus = False
        # By the entries as texts, since items are not hashable
        self._read: dict[str, ReadFiles] = {}
        self.asks = self._parts.asks
        self.granted = self._parts.granted
        self.limits = self._parts.limits

    @property
    def output_dir(self) -> Path:
        request = self._parts.focused
        return confined(request.output_dir, request.written_in)

    def own_outputs(self, base_dir: Path) -> Callable[[str], bool]:
        """Return a test for the program's own output, by paths below ``base_dir``."""
        request = self._parts.focused
        return own_output_filter(
            base_dir, request.output_dir, request.namespace, request.shown_from
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._parts.files.warnings, *self._warnings)))

    def check(self, ticket: Ticket) -> None:
        """Check that the ticket's persona, model, tools and focus files exist and fit its budget."""
        self._parts.recipient(ticket)
        check_tools(ticket, self._terms)
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
        granted = self.granted(ticket)
        # A default budget is raised to the least prompt.
        if granted.is_named and not self._fits_surely(ticket, granted.budget):
            self._compose_alone(ticket, granted, self._parts.asked(ticket))

    def schedule(self, tickets: Tickets, *, warm_up: bool = True) -> Schedule:
        self.share(tickets.tickets)
        return Schedule(
            tickets.tickets, on_error=tickets.on_error, warm_up=warm_up, prefix=self._prefix
        )

    def share(self, tickets: Sequence[Ticket]) -> None:
        """Share the beginning of these tickets' contexts, as far as budgets and focus files allow.

        Files without focus come first. Instructions of roles come after the context, unless they are equal.
        """
        parts = self._parts
        parts.instructions_last = len(set(map(parts.instructions, tickets))) > 1
        shares_much = parts.files.share(tickets)
        self._alone = {ticket.id for ticket in tickets if self.granted(ticket).is_own}
        self._chosen = {}
        groups: dict[object, list[Ticket]] = {}
        for ticket in tickets:
            if ticket.id not in self._alone:
                asked = parts.asked(ticket)
                key = (self.granted(ticket).budget, asked.strategy, asked.tier)
                groups.setdefault(key, []).append(ticket)
        for group in groups.values():
            exceeding = [ticket for ticket in group if self._is_chosen_for(ticket)]
            sharing: list[Ticket] = []
            if 2 * len(exceeding) > len(group):
                least = LEAST_ROOM * self.granted(group[0]).budget.tokens
                sharing = [ticket for ticket in group if self._shared_room(ticket) >= least]
            if len(sharing) > 1:
                chosen = self._choose_for_all(sharing)
                self._chosen |= dict.fromkeys((each.id for each in sharing), chosen)
            self._alone |= {each.id for each in exceeding if each.id not in self._chosen}
        beginnings = (each.beginning for each in self._chosen.values())
        self._any_focus = shares_much and all(each.shares_much for each in beginnings)

    def assignment(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> Assignment:
        return self.context(ticket, results, key).assignment

    def context(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> TicketContext:
        """Return the context of ``ticket``: the stable part first, the task last (rule M-53)."""
        found = tuple(results.values())
        prompt, chosen, cuts = self._prompt(ticket, found)
        limits = self.limits(ticket)
        seconds = ticket.timeout if limits.max_seconds is None else limits.max_seconds
        recipient = self._parts.recipient(ticket)
        assignment = Assignment(
            key=key,
            ticket=ticket.id,
            prompt=prompt,
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
            max_turns=None if limits.max_turns == USUAL.max_turns else limits.max_turns,
            title=ticket.title,
            verify=ticket.verify,
            attempts=ticket.attempts,
            whole_results=_whole_results(found, cuts) if ticket.tools else {},
        )
        return TicketContext(assignment, chosen)

    def _prefix(self, ticket: Ticket) -> tuple[object, ...]:
        if ticket.id in self._alone:
            return (ticket.id,)
        request = self._parts.asked(ticket)
        return (
            self._parts.recipient(ticket),
            self._parts.instructions_first(ticket),
            request.strategy,
            request.tier,
            id(self._chosen.get(ticket.id)),
            () if self._any_focus else ticket.focus_files,
        )

    def _prompt(
        self, ticket: Ticket, results: tuple[Results, ...]
    ) -> "tuple[Prompt, tuple[Request, Composition] | None, tuple[Cut, ...]]":
        """Return the first prompt that fits, its composition, and its cuts of results.

        It is the group's prompt, a prompt with all files, or one composed for this ticket.
        """
        granted, asked = self.granted(ticket), self._parts.asked(ticket)
        room = granted.budget.tokens - self._parts.around(ticket)
        chosen = self._chosen.get(ticket.id)
        if chosen is not None:
            in_full = self._parts.files.in_full(ticket.focus_files, TIER3)
            others = chosen.composition.prompt.segments
            left = room - sum(map(tokens_of, chosen.beginning.prompt(in_full, others, ()).segments))
            fitted = _fit_results(results, left, is_readable=bool(ticket.tools))
            prompt = chosen.beginning.prompt(in_full, others, fitted.segments)
            if not _exceeds(prompt, room):
                account = chosen.account(in_full)
                account = replace(account, cut=(*account.cut, *fitted.cuts))
                return prompt, (chosen.request, account), fitted.cuts
        elif not granted.is_named:
            prompt = self._parts.whole_prompt(ticket, results_segments(results) if results else ())
            if not _exceeds(prompt, room):
                return prompt, None, ()
            if not asked.entries:  # a default budget does not look for files
                left = room - sum(map(tokens_of, self._parts.whole_prompt(ticket).segments))
                fitted = _fit_results(results, left, is_readable=bool(ticket.tools))
                return self._parts.whole_prompt(ticket, fitted.segments), None, fitted.cuts
        request = replace(asked, results=results, reads_results=bool(ticket.tools))
        request, composition = self._compose_alone(ticket, granted, request)
        return composition.prompt, (request, composition), tuple(composition.cut)

    def _is_chosen_for(self, ticket: Ticket) -> bool:
        """Return whether files are chosen for a ticket: it has a named budget, or all files exceed it.

        A default budget without files is no reason to look through the project.
        """
        granted = self.granted(ticket)
        if granted.is_named or not self._parts.asked(ticket).entries:
            return granted.is_named
        return _exceeds(self._parts.whole_prompt(ticket), self._room(ticket))

    def _room(self, ticket: Ticket) -> int:
        """Return a ticket's budget without its task and the results of dependencies."""
        budget = self.granted(ticket).budget
        results = int(budget.tokens * budget.results) if ticket.depends_on else 0
        return budget.tokens - self._parts.around(ticket) - results

    def _shared_room(self, ticket: Ticket) -> int:
        own = self._parts.files.in_full(ticket.focus_files, TIER3).values()
        return self._room(ticket) - sum(map(tokens_of, own))

    def _fits_surely(self, ticket: Ticket, budget: Budget) -> bool:
        """Return whether a ticket certainly fits a budget, without composing it.

        A token has at least one byte. The answer is ``False`` if a size is unknown, such as for a file named by a part
        of its path.
        """
        parts = self._parts
        entries = parts.focused.entries
        if parts.spec or any(entry.item.force_full or entry.tier for entry in entries):
            return False
        others = parts.other_sections
        # Of the discussion only the last turn is always shown.
        kept = [one for one in others if one.section is not Section.HISTORY] + [*others[-1:]]
        texts = (
            *(segment.text for segment in kept),
            parts.message(ticket),
            parts.instructions(ticket),
        )
        size = _AROUND_ALL + sum(len(text.encode(errors="replace")) for text in texts)
        with suppress(OSError, ValueError):
            for focus in ticket.focus_files:
                size += (parts.focused.base_dir / focus).stat().st_size
                size += _AROUND_FILE + 2 * len(focus.encode(errors="replace"))
            return size < budget.tokens
        return False

    def _compose_alone(
        self, ticket: Ticket, granted: GrantedBudget, request: Request
    ) -> tuple[Request, Composition]:
        named = {focus: self._parts.files.named(focus) for focus in ticket.focus_files}
        paths = tuple(dict.fromkeys(path for each in named for path in named[each] or [each]))
        unnamed = (Entry(FileItem(focus)) for focus in named if not named[focus])
        task = replace(
            request.task or Task(), text=plain_task(ticket), focus=tuple(map(Place, paths))
        )
        request = replace(
            request,
            entries=(*self._entries(request), *unnamed),
            focus_files=paths if request.tier is not None else (),
            task=task,
        )
        around = self._parts.around(ticket)
        return self._compose_within(request, granted, around=around, ticket=ticket)

    def _choose_for_all(self, tickets: Sequence[Ticket]) -> ChosenFiles:
        """Choose files for the tasks of all tickets with one budget, within the smallest room."""
        request, granted = self._parts.asked(tickets[0]), self.granted(tickets[0])
        budget = replace(granted.budget, tokens=min(map(self._shared_room, tickets)))
        words = "\n\n".join("\n".join((plain_task(one), *one.focus_files)) for one in tickets)
        asked = replace(request, entries=self._entries(request), task=Task(words))
        _, composition = self._compose_within(asked, granted._replace(budget=budget))
        beginning = Beginning.of(composition.prompt.segments, self._parts.files.late_paths)
        return ChosenFiles(request, composition, beginning)

    def _compose_within(
        self,
        request: Request,
        granted: GrantedBudget,
        *,
        around: int = 0,
        ticket: Ticket | None = None,
    ) -> tuple[Request, Composition]:
        """Compose for a budget without ``around``.

        A default budget is raised to the smallest possible prompt.
        """
        budget = granted.budget
        asked = replace(request, budget=replace(budget, tokens=max(budget.tokens - around, 1)))
        try:
            composition = self._compose(asked)
        except BudgetError as error:
            smallest = error.smallest + around
            what = f'the ticket "{ticket.id}": {error.reason}' if ticket else ""
            if not granted.is_named and smallest > budget.tokens:
                if ticket:
                    warning = f"{what}; it is shown all the same, since no budget is set"
                    self._warnings[warning] = None
                raised = granted._replace(budget=replace(budget, tokens=smallest))
                return self._compose_within(request, raised, around=around, ticket=ticket)
            if ticket is None:
                raise
            raise BudgetError(
                f"{what}; with its task and instructions ({around:,} tokens) "
                f"a budget of {smallest:,} would do",
                smallest=smallest,
            ) from None
        if ticket and budget.tokens < around:  # the context alone would fit
            raise BudgetError(
                f'the ticket "{ticket.id}": its task and instructions have {around:,} tokens, more than the budget of '
                f"{budget.tokens:,}: allow {around:,}",
                smallest=around,
            )
        composition.check_scope()
        self._warnings |= dict.fromkeys(composition.warnings)
        return asked, composition

    def _compose(self, request: Request) -> Composition:
        # Tickets without a budget load no ranking.
        from aggregate.prompt import compose_within_budget
        from aggregate.prompt.ranked_files import read_files

        index = user_index()
        key = repr(request.entries)
        if key not in self._read:
            if len(self._read) >= _REMEMBERED:
                del self._read[next(iter(self._read))]
            self._read[key] = read_files(request, index=index)
        return compose_within_budget(request, index=index, files=self._read[key])

    def _entries(self, request: Request) -> tuple[Entry, ...]:
        # Without files a budget is about all files that git does not ignore (rule T-6).
        return (*(request.entries or (Entry(FileItem(ALL_FILES)),)), *self._parts.spec_entries)


def _fit_results(results: Sequence[Results], room: int, *, is_readable: bool) -> FittedSection:
    """Fit the results into ``room`` tokens, at least their names."""
    if not results:
        return FittedSection()
    least = fit_results(results, 0, count, is_readable=is_readable)
    return fit_results(results, max(room - least.tokens, 0), count, is_readable=is_readable)


def _whole_results(results: Sequence[Results], cuts: Sequence[Cut]) -> dict[str, str]:
    """Return the whole texts of cut results by name."""
    names = [cut.what for cut in cuts if cut.section == Section.RESULTS.value]
    texts = result_texts(results) if names else {}
    return {name: texts[name] for name in names if name in texts}


def _exceeds(prompt: Prompt, tokens: int) -> bool:
    """Return whether a prompt has more than ``tokens``; stop counting beyond."""
    if sum(len(segment.text) for segment in prompt.segments) > max(tokens, 0) * _CHARACTERS:
        return True
    left = tokens
    for segment in prompt.segments:
        left -= tokens_of(segment)
        if left < 0:
            return True
    return False
