"""The contexts of tickets.

A context has shared files, then focus files, results and the task. It shows all files of the project if they fit. Else
files are chosen once for the tasks of all tickets with the same budget, so their contexts begin alike. A ticket with a
budget of its own, or with large focus files, is composed alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregate.agents.limits import USUAL, TicketLimits
from aggregate.agents.tracks.assignment import Assignment, tokens_of
from aggregate.agents.tracks.shared_files import (
    SHARED_CHARACTERS,
    TIER3,
    Beginning,
    ChosenFiles,
    Layout,
    SharedFiles,
)
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track
from aggregate.agents.tracks.worker_terms import (
    Recipient,
    WorkerTerms,
    check_tools,
    default_tokens,
    recipient_of,
    select_client,
)
from aggregate.base.disk.writing import confined
from aggregate.base.errors import BudgetError, ConfigError, ScopeError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import AUTO, Budget, FileOrder, Place, Task
from aggregate.base.text import fence, heading_text, leaves_open
from aggregate.base.tokens import count
from aggregate.project.configuration import Project, user_config
from aggregate.project.files import FolderListing
from aggregate.project.index import user_index
from aggregate.prompt import Composition, auto_budget
from aggregate.prompt.asking import ALL_FILES, Request, Strategy, find_persona
from aggregate.prompt.asking.results import AggregatedResult, Results
from aggregate.prompt.audit import record_audit
from aggregate.prompt.document import Cut, Prompt, Section, Segment, Stability
from aggregate.prompt.files import own_output_filter
from aggregate.prompt.sections.subagent_results import result_texts, results_within
from aggregate.sending import context_window, look_again, shipped_ratio
from aggregate.sending.clients import ChatRequest
from aggregate.sending.models import SCRIPTED

if TYPE_CHECKING:
    from aggregate.prompt.corpus import FileCorpus

_ONCE: Final = 0.8  # the context's share of an attempt's tokens; the answer has the others
_LOOPED: Final = 0.2  # the same if each turn sends the context again, mostly from a cache
# Share of a budget beside a ticket's focus files and task; with less it does not share a beginning.
LEAST_ROOM: Final = 0.5
_CHARACTERS: Final = 12  # for each token: a longer text exceeds a budget without being counted
_AROUND_ALL = 1_000  # tokens; more than all headings, notes and separators
_SEPARATOR_TOKENS = 1  # at the most, where it does not join the last token
_REMEMBERED = 4  # sets of files: the project's, and those with focus files beside it


class GrantedBudget(NamedTuple):
    budget: Budget
    is_own: bool = False  # the ticket's or its persona's: files are chosen for it alone
    is_named: bool = False  # else focus files may exceed it


@dataclass(frozen=True, slots=True)
class TicketPlan:
    """The parts of a context except files and results."""

    ticket: Ticket
    strategy: str
    request: Request
    granted: GrantedBudget
    system: str  # instructions before the context
    message: str  # the task, and instructions after the context

    @property
    def around(self) -> int:
        """The tokens of the instructions and the task."""
        system = count(self.system) if self.system else 0
        return count(self.message) + _SEPARATOR_TOKENS + system

    @property
    def room(self) -> int:
        """The tokens left by the budget for files and results."""
        return self.granted.budget.tokens - self.around

    @property
    def room_of_files(self) -> int:
        """The tokens left by the budget for files."""
        budget = self.granted.budget
        return self.room - (int(budget.tokens * budget.results) if self.ticket.depends_on else 0)


# A prompt, the cuts of its results, and the composition of its files if they were chosen
_Shown = tuple[Prompt, tuple[Cut, ...], tuple[Request, Composition] | None]


@dataclass(frozen=True, slots=True)
class TicketContext:
    """A ticket's assignment, and the composition of its files if they were chosen."""

    assignment: Assignment
    chosen: tuple[Request, Composition] | None = None

    def write_account(self, path: Path) -> None:
        """Write the audit of the chosen files beside the prompt at ``path`` (A-1)."""
        if self.chosen:
            task = Segment(Section.HISTORY, self.assignment.message, Stability.VOLATILE)
            visible = Prompt((*self.assignment.prompt.segments, task))
            record_audit(path, *self.chosen, visible)


class WorkerContexts:
    """Composes the contexts of all tickets of a run. The project's files are read once."""

    def __init__(
        self, project: Project, *, track: Track | None = None, terms: WorkerTerms | None = None
    ) -> None:
        self.project = project
        self._track = track
        self._terms = terms or WorkerTerms()
        self._files = SharedFiles(project, track.folder / "spec.md" if track else None)
        self._persona = cache(lambda name: find_persona(project, name))
        self._recipient = cache(lambda name: recipient_of(project, name, self._terms))
        self._warnings: dict[str, None] = {}
        # Set by ``share``. A provider's cache begins with the instructions: only equal ones may go first.
        self._instructions_last = False
        self._chosen: dict[str, ChosenFiles] = {}
        # Whether several tickets' contexts begin alike, with enough for a provider's cache
        self.shares_beginning = False
        # By the entries as texts, since items are not hashable
        self._read: dict[str, FileCorpus] = {}

    @property
    def output_dir(self) -> Path:
        request = self._files.focused
        return confined(request.output_dir, request.written_in)

    def own_outputs(self, base_dir: Path) -> Callable[[str], bool]:
        """Return a function that recognizes the program's own output by paths below ``base_dir``."""
        request = self._files.focused
        return own_output_filter(
            base_dir, request.output_dir, request.namespace, request.shown_from
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._files.warnings, *self._warnings)))

    def limits(self, ticket: Ticket) -> TicketLimits:
        limits = self._terms.limits
        for lower in (self.project.config.conduct, ticket):
            limits = limits.lowered(lower.max_tokens, lower.max_turns, lower.max_seconds)
        return limits

    def asks(self, ticket: Ticket) -> Recipient:
        """Return a ticket's model: its persona's, else the worker's."""
        recipient = self._recipient(ticket.persona)
        return recipient if recipient.provider else self._terms.recipient

    def granted(self, ticket: Ticket) -> GrantedBudget:
        """Return a ticket's budget: its own, its persona's, the configured, or half a window (B-1, B-11)."""
        table, recipient = self.project.config.budget, self.asks(ticket)
        of_persona = self._persona(ticket.persona).budget
        configured = of_persona if ticket.budget is None else ticket.budget
        usual = table.tokens if table.tier3 is None else table.tier3
        amount = usual if configured is None else configured
        if amount is None:
            tokens = default_tokens(recipient, most=table.most)
        elif amount == AUTO:
            answer = ChatRequest().max_output  # stays free
            tokens = auto_budget(context_window(recipient.model), answer, most=table.most)
        else:
            tokens = amount
        most = int(self.limits(ticket).max_tokens * (_LOOPED if ticket.tools else _ONCE))
        ratio = shipped_ratio(recipient.provider, recipient.model)
        tokens = max(1, min(tokens, ratio.own_tokens(most)))
        budget = Budget(tokens, table.history, table.results, FileOrder(table.order))
        return GrantedBudget(budget, is_own=configured is not None, is_named=amount is not None)

    def check(self, ticket: Ticket) -> None:
        """Check that a ticket's persona, model, tools and focus files exist, and its budget suffices."""
        self._recipient(ticket.persona)
        check_tools(ticket, self._terms)
        request = self._files.focused
        listing = FolderListing(request.scope)
        for focus in ticket.focus_files:
            if refused := listing.resolve(request.base_dir, focus).refused:
                raise ScopeError(f'{refused}: {focus}, a focus file of the ticket "{ticket.id}"')
            if not Path(request.base_dir, focus).is_file() and not self._files.has(focus):
                raise ConfigError(
                    f'the ticket "{ticket.id}" has the focus file {focus}, which does not exist: correct its path, '
                    f"relative to {request.base_dir}"
                )
        plan = self._plan(ticket)
        # A default budget is raised to the least prompt.
        if plan.granted.is_named and not self._fits_surely(plan):
            self._compose_alone(plan)

    def share(self, tickets: Sequence[Ticket]) -> None:
        """Lay out these tickets' contexts with the same beginning.

        Focus files come after all other files. Instructions of personas come after the context, unless they are equal.
        """
        self._instructions_last = len(set(map(self._instructions, tickets))) > 1
        shares_much = self._files.share(tickets)
        plans = [self._plan(ticket) for ticket in tickets]
        alone = {plan.ticket.id for plan in plans if plan.granted.is_own}
        self._chosen = {}
        groups: dict[object, list[TicketPlan]] = {}
        for plan in plans:
            if not plan.granted.is_own:
                key = (plan.granted.budget, plan.request.is_summary, plan.request.tier)
                groups.setdefault(key, []).append(plan)
        for group in groups.values():
            exceeding = [plan for plan in group if self._needs_choice(plan)]
            if 2 * len(exceeding) > len(group):
                self._choose_for_group(group)
            alone |= {plan.ticket.id for plan in exceeding} - self._chosen.keys()
        sizes = [chosen.beginning.characters for chosen in self._chosen.values()]
        shares_much = shares_much and all(size >= SHARED_CHARACTERS for size in sizes)
        self.shares_beginning = shares_much and len(plans) - len(alone) > 1

    def assignment(
        self, ticket: Ticket, results: Mapping[str, AggregatedResult], key: str
    ) -> Assignment:
        return self.context(ticket, results, key).assignment

    def context(
        self,
        ticket: Ticket,
        results: Mapping[str, AggregatedResult],
        key: str,
        *,
        asks: bool = False,
    ) -> TicketContext:
        """Return a ticket's context, with the task last (M-53).

        With ``asks`` the ticket's model may pick files, if the ticket has its own budget (rule T-17).
        """
        plan, merged = self._plan(ticket), tuple(results.values())
        prompt, cuts, chosen = self._show(plan, merged, asks=asks)
        limits = self.limits(ticket)
        seconds = ticket.timeout if limits.max_seconds is None else limits.max_seconds
        recipient = self._recipient(ticket.persona)
        assignment = Assignment(
            key=key,
            ticket=ticket.id,
            prompt=prompt,
            message=plan.message,
            persona=plan.system,
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
            whole_results=_whole_results(merged, cuts) if ticket.tools else {},
        )
        return TicketContext(assignment, chosen)

    def _plan(self, ticket: Ticket) -> TicketPlan:
        granted, instructions = self.granted(ticket), self._instructions(ticket)
        goes_last = self._instructions_last and not granted.is_own
        named = self._persona(ticket.persona).aggregation_strategy
        of_persona = Strategy.parse(named).value if named else ""
        strategy = ticket.aggregation_strategy or of_persona or TIER3
        message = task_message(
            ticket,
            track=self._track.description if self._track else "",
            spec=self._files.spec,
            instructions=instructions if goes_last else "",
        )
        request = self._files.request(strategy)
        system = "" if goes_last else instructions
        return TicketPlan(ticket, strategy, request, granted, system, message)

    def _instructions(self, ticket: Ticket) -> str:
        return self._persona(ticket.persona).system_prompt.strip()

    def _show(self, plan: TicketPlan, results: tuple[Results, ...], *, asks: bool) -> _Shown:
        """Return the first prompt that fits: the shared choice, all files, or an own choice."""
        shown = None
        if plan.ticket.id in self._chosen or not plan.granted.is_named:
            shown = self._show_shared(plan, results)
        if shown is None:
            request, composition = self._compose_alone(plan, results, asks=asks)
            shown = composition.prompt, tuple(composition.cut), (request, composition)
        return shown

    def _show_shared(self, plan: TicketPlan, results: tuple[Results, ...]) -> _Shown | None:
        """Return a prompt with the shared choice or all files, ``None`` if it exceeds the budget."""
        ticket, chosen = plan.ticket, self._chosen.get(plan.ticket.id)
        layout = self._layout(plan)
        room = plan.room - tokens_of(*layout.prompt().segments)
        fitted = results_within(results, room, count, is_readable=bool(ticket.tools))
        prompt = layout.prompt(fitted.segments)
        if chosen is None:
            # Without configured files a default budget does not look for any.
            is_shown = not plan.request.entries
            is_shown = is_shown or not (fitted.cuts or _exceeds(prompt, plan.room))
            return (prompt, fitted.cuts, None) if is_shown else None
        if _exceeds(prompt, plan.room):
            return None
        in_full = self._files.in_full(ticket.focus_files, TIER3)
        account = chosen.account(in_full, fitted.cuts)
        return prompt, fitted.cuts, (chosen.request, account)

    def _layout(self, plan: TicketPlan) -> Layout:
        focus_files, chosen = plan.ticket.focus_files, self._chosen.get(plan.ticket.id)
        if chosen is None:
            return self._files.layout(focus_files, plan.strategy)
        in_full = self._files.in_full(focus_files, TIER3)
        return chosen.beginning.layout(in_full, chosen.composition.prompt.segments)

    def _needs_choice(self, plan: TicketPlan) -> bool:
        """Return whether files must be chosen: the budget is named, or all files together exceed it."""
        if plan.granted.is_named or not plan.request.entries:
            return plan.granted.is_named
        return _exceeds(self._layout(plan).prompt(), plan.room_of_files)

    def _choose_for_group(self, group: Sequence[TicketPlan]) -> None:
        """Choose files for tickets with the same budget.

        The choice is for the tasks of all these tickets, and fits into the smallest room among them. Tickets with large
        focus files do not take part.
        """
        granted, request = group[0].granted, group[0].request
        rooms = [self._room_beside_focus(plan) for plan in group]
        least = LEAST_ROOM * granted.budget.tokens
        sharing = [plan.ticket for plan, room in zip(group, rooms, strict=True) if room >= least]
        if len(sharing) < 2:
            return
        budget = replace(granted.budget, tokens=min(room for room in rooms if room >= least))
        words = "\n\n".join("\n".join((_plain_task(one), *one.focus_files)) for one in sharing)
        limited = replace(request, entries=self._entries(request), task=Task(words))
        _, composition = self._compose_within(limited, granted._replace(budget=budget))
        beginning = Beginning.of(composition.prompt.segments, self._files.late_paths)
        chosen = ChosenFiles(request, composition, beginning)
        self._chosen |= dict.fromkeys((ticket.id for ticket in sharing), chosen)

    def _room_beside_focus(self, plan: TicketPlan) -> int:
        in_full = self._files.in_full(plan.ticket.focus_files, TIER3)
        return plan.room_of_files - tokens_of(*in_full.values())

    def _fits_surely(self, plan: TicketPlan) -> bool:
        """Return whether a ticket certainly fits its budget, so that nothing need be composed."""
        entries = self._files.focused.entries
        if self._files.spec or any(entry.item.force_full or entry.tier for entry in entries):
            return False
        others = tokens_of(*self._files.other_sections)
        return self._room_beside_focus(plan) > others + _AROUND_ALL

    def _compose_alone(
        self, plan: TicketPlan, results: tuple[Results, ...] = (), *, asks: bool = False
    ) -> tuple[Request, Composition]:
        ticket, request = plan.ticket, plan.request
        if results:
            request = replace(request, results=results, reads_results=bool(ticket.tools))
        named = {focus: self._files.named(focus) for focus in ticket.focus_files}
        paths = tuple(dict.fromkeys(path for focus in named for path in named[focus] or [focus]))
        unnamed = (Entry(FileItem(focus)) for focus in named if not named[focus])
        task = request.task or Task()
        task = replace(task, text=_plain_task(ticket), focus=tuple(map(Place, paths)))
        request = replace(
            request,
            entries=(*self._entries(request), *unnamed),
            focus_files=paths if request.tier is not None else (),
            task=task,
        )
        if asks and user_config().task.pick == AUTO:
            request = self._look_again(plan, request)
        return self._compose_within(request, plan.granted, plan)

    def _look_again(self, plan: TicketPlan, request: Request) -> Request:
        """Let the ticket's model pick files if the ranking is unsure; store its choice."""
        client = select_client(self.project, plan.ticket.persona, self._terms, require_key=False)
        if client.provider == SCRIPTED:
            return request
        look = look_again(
            replace(request, budget=plan.granted.budget),
            client,
            index=user_index(),
            is_auto=True,
            daily=self.project.config.send.most_per_day,
        )
        self._warnings.update(dict.fromkeys((*look.notes, *look.warnings)))
        return look.request

    def _compose_within(
        self, request: Request, granted: GrantedBudget, plan: TicketPlan | None = None
    ) -> tuple[Request, Composition]:
        """Compose within a budget; raise a default budget to the smallest possible prompt."""
        budget, around = granted.budget, plan.around if plan else 0
        limited = replace(request, budget=replace(budget, tokens=max(budget.tokens - around, 1)))
        try:
            composition = self._compose(limited)
        except BudgetError as error:
            smallest = error.smallest + around
            about = f'the ticket "{plan.ticket.id}": {error.reason}' if plan else ""
            if not granted.is_named and smallest > budget.tokens:
                if plan:
                    warning = f"{about}; it is shown anyway, since no budget is set"
                    self._warnings[warning] = None
                raised = granted._replace(budget=replace(budget, tokens=smallest))
                return self._compose_within(request, raised, plan)
            if plan is None:
                raise
            raise BudgetError(
                f"{about}; with its task and instructions ({around:,} tokens) "
                f"a budget of {smallest:,} would suffice",
                smallest=smallest,
            ) from None
        if plan and budget.tokens < around:  # the context alone would fit
            raise BudgetError(
                f'the ticket "{plan.ticket.id}": its task and instructions have {around:,} tokens, more than the '
                f"budget of {budget.tokens:,}: allow {around:,}",
                smallest=around,
            )
        composition.check_scope()
        self._warnings |= dict.fromkeys(composition.warnings)
        return limited, composition

    def _compose(self, request: Request) -> Composition:
        # Tickets without a budget load no ranking.
        from aggregate.prompt import compose_within_budget
        from aggregate.prompt.corpus import read_files

        index = user_index()
        key = repr(request.entries)
        if key not in self._read:
            if len(self._read) >= _REMEMBERED:
                del self._read[next(iter(self._read))]
            self._read[key] = read_files(request, index=index)
        return compose_within_budget(request, index=index, files=self._read[key])

    def _entries(self, request: Request) -> tuple[Entry, ...]:
        # Without files a budget is about all files known to git (rule T-6).
        return (*(request.entries or (Entry(FileItem(ALL_FILES)),)), *self._files.spec_entries)


def task_message(ticket: Ticket, *, track: str = "", spec: str = "", instructions: str = "") -> str:
    if leaves_open(instructions):  # the task would become part of the instructions
        instructions = fence(instructions, "text")
    parts = ["## Instructions", instructions] if instructions else []
    parts.append(f"## Task: {heading_text(ticket.name)}")
    if spec:
        name = f'the track "{heading_text(track)}"' if track else "a track"
        parts.append(
            f"This is one ticket of {name}; `{heading_text(spec)}` above states its purpose."
        )
    if ticket.focus_files:
        focus = ", ".join(f"`{heading_text(path)}`" for path in ticket.focus_files)
        parts.append(f"In focus, shown in full above: {focus}.")
    parts.append(ticket.prompt.strip())
    return "\n\n".join(parts)


def _plain_task(ticket: Ticket) -> str:
    """Return a ticket's title and prompt, for ranking files."""
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)


def _whole_results(results: Sequence[Results], cuts: Sequence[Cut]) -> dict[str, str]:
    """Return the uncut texts of cut results, by name."""
    names = [cut.what for cut in cuts if cut.section == Section.RESULTS.value]
    texts = result_texts(results) if names else {}
    return {name: texts[name] for name in names if name in texts}


def _exceeds(prompt: Prompt, tokens: int) -> bool:
    """Return whether a prompt has more than ``tokens`` tokens."""
    characters = sum(len(segment.text) for segment in prompt.segments)
    return characters > max(tokens, 0) * _CHARACTERS or tokens_of(*prompt.segments) > tokens
