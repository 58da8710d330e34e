"""One beginning within a budget for many tickets: the files that matter for all of their tasks, chosen once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

from aggregate.agents.tracks.budgeted_context import BudgetedContexts
from aggregate.agents.tracks.shared_files import SHARED_CHARACTERS, SharedFiles
from aggregate.agents.tracks.ticket_budget import GrantedBudget
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track_requests import plain_task
from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, FileChoice, Level, Prompt, Section, Segment, Stability
from aggregate.prompt import Composition, Request


@dataclass(frozen=True, slots=True)
class SharedBeginning:
    """A context that many tickets begin with, and what each shows behind it.

    Attributes:
        composition: The context, chosen for the tasks of all.
        late_paths: The files that some tickets focus on: they stand behind the shared ones.
    """

    request: Request
    composition: Composition
    late_paths: frozenset[str]

    def prompt(self, in_full: Mapping[str, Segment], results: Sequence[Segment]) -> Prompt:
        """Return the context of one ticket.

        Args:
            in_full: Its focus files as they are, by their paths.
            results: What others have found for it.
        """
        segments = self.composition.prompt.segments
        files = [segment for segment in segments if segment.section is Section.FILES]
        shared = [segment for segment in files if segment.source not in self.late_paths]
        late = {
            segment.source: segment for segment in files if segment.source in self.late_paths
        } | dict(in_full)
        changing = [replace(segment, stability=Stability.SLOW) for segment in late.values()]
        others = [segment for segment in segments if segment.section is not Section.FILES]
        stable = [segment for segment in others if segment.section is not Section.HISTORY]
        history = [segment for segment in others if segment.section is Section.HISTORY]
        return Prompt((*shared, *changing, *stable, *results, *history))

    def account(self, in_full: Mapping[str, Segment]) -> Composition:
        """Return the composition as one ticket shows it, its focus files as pins."""
        choices = tuple(
            _pinned(choice, in_full[choice.path]) if choice.path in in_full else choice
            for choice in self.composition.choices
        )
        return replace(self.composition, choices=choices)


def compose_beginning(
    contexts: BudgetedContexts,
    request: Request,
    tickets: Sequence[Ticket],
    granted: GrantedBudget,
    *,
    room: int,
    late_paths: frozenset[str],
) -> SharedBeginning:
    """Return the beginning of tickets whose own parts leave ``room`` tokens of their budget.

    Raises:
        BudgetError: What must be shown exceeds that.
        ScopeError: A file may not be read.
    """
    budget = replace(granted.budget, tokens=max(room, 1))
    words = "\n\n".join(map(_words, tickets))
    composition = contexts.compose_shared(request, words, granted._replace(budget=budget))
    return SharedBeginning(request, composition, late_paths)


def room_left(
    ticket: Ticket, granted: GrantedBudget, in_full: Mapping[str, Segment], *, around: int
) -> int:
    """Return the tokens of its budget that a ticket's focus files, its task and others' results leave."""
    budget = granted.budget
    own = sum(_tokens(segment) for segment in in_full.values())
    results = int(budget.tokens * budget.results) if ticket.depends_on else 0
    return budget.tokens - around - own - results


def _words(ticket: Ticket) -> str:
    return "\n".join((plain_task(ticket), *ticket.focus_files))


def _pinned(choice: FileChoice, segment: Segment) -> FileChoice:
    return choice._replace(level=Level.FULL, pinned=True, tokens=_tokens(segment), next=None)


def _tokens(segment: Segment) -> int:
    return count(f"{segment.text}{SEPARATOR}")


LEAST_ROOM: Final = 0.5
"""The part of its budget that a ticket's own files and task must leave, so that it shares a beginning with others: a
larger focus would make the beginning small for all."""
_CHARACTERS: Final = 12
"""A text with so many characters for each token of a budget exceeds it: real ones have three to five. It is not
counted."""


class TicketParts(Protocol):
    """What is known of each ticket before its context is composed."""

    def granted(self, ticket: Ticket) -> GrantedBudget:
        """Return its budget."""
        ...

    def around(self, ticket: Ticket) -> int:
        """Return the tokens of its task and instructions."""
        ...

    def asked(self, ticket: Ticket) -> Request:
        """Return what it is shown, without its focus files and its task."""
        ...

    def whole_prompt(self, ticket: Ticket) -> Prompt:
        """Return the context with all files, as long as it may be."""
        ...


class SharingPlan(NamedTuple):
    """Which tickets begin alike.

    Attributes:
        alone: The ids of tickets whose contexts begin like no other's.
        beginnings: By the ids of the others, the beginning that fits into their budget; one that is not here shows all
            files.
        any_focus: Whether tickets with different focus files share enough for a provider's cache.
    """

    alone: frozenset[str] = frozenset()
    beginnings: Mapping[str, SharedBeginning] = {}
    any_focus: bool = False


def plan_sharing(
    tickets: Sequence[Ticket], files: SharedFiles, contexts: BudgetedContexts, parts: TicketParts
) -> SharingPlan:
    """Decide which of a run's tickets begin alike.

    A ticket whose budget is its own or its persona's gets files of its own, as does one whose focus fills most of its
    budget. The others show all files where these fit, else those that matter for all of them.

    Raises:
        BudgetError: What must be shown exceeds a budget.
        ScopeError: A file may not be read.
    """
    shares_much = files.share(tickets)
    alone = {ticket.id for ticket in tickets if parts.granted(ticket).is_own}
    beginnings: dict[str, SharedBeginning] = {}
    groups: dict[object, list[Ticket]] = {}
    for ticket in tickets:
        if ticket.id not in alone:
            key = (
                parts.granted(ticket).budget,
                parts.asked(ticket).strategy,
                parts.asked(ticket).tier,
            )
            groups.setdefault(key, []).append(ticket)
    for group in groups.values():
        exceeding = [ticket for ticket in group if exceeds(ticket, parts)]
        sharing = _sharing(group, files, parts) if 2 * len(exceeding) > len(group) else []
        alone |= {ticket.id for ticket in exceeding if ticket not in sharing}
        if sharing:
            room = min(_room(ticket, files, parts) for ticket in sharing)
            beginning = compose_beginning(
                contexts,
                parts.asked(sharing[0]),
                sharing,
                parts.granted(sharing[0]),
                room=room,
                late_paths=files.late_paths,
            )
            beginnings |= dict.fromkeys((ticket.id for ticket in sharing), beginning)
    any_focus = shares_much and all(map(_shares_much, beginnings.values()))
    return SharingPlan(frozenset(alone), beginnings, any_focus)


def exceeds(ticket: Ticket, parts: TicketParts) -> bool:
    """Tell whether files are chosen for a ticket: its context with all of them exceeds its budget, or is to fill it.

    What nobody has named, no files or no budget, is no reason to look through the project.
    """
    budget, _, is_named = parts.granted(ticket)
    if is_named or not parts.asked(ticket).entries:
        return is_named
    room = budget.tokens - parts.around(ticket)
    if ticket.depends_on:
        room -= int(budget.tokens * budget.results)
    return prompt_exceeds(parts.whole_prompt(ticket), room)


def prompt_exceeds(prompt: Prompt, tokens: int) -> bool:
    """Tell whether a prompt has more than so many tokens; no more of it is counted than is needed to know."""
    if sum(len(segment.text) for segment in prompt.segments) > max(tokens, 0) * _CHARACTERS:
        return True
    left = tokens
    for segment in prompt.segments:
        left -= count(f"{segment.text}{SEPARATOR}")
        if left < 0:
            return True
    return False


def _sharing(group: Sequence[Ticket], files: SharedFiles, parts: TicketParts) -> list[Ticket]:
    """Return the tickets of a group that leave room enough for a beginning; none where that is but one."""
    sharing = [
        ticket
        for ticket in group
        if _room(ticket, files, parts) >= LEAST_ROOM * parts.granted(ticket).budget.tokens
    ]
    return sharing if len(sharing) > 1 else []


def _room(ticket: Ticket, files: SharedFiles, parts: TicketParts) -> int:
    in_full = files.in_full(ticket.focus_files)
    return room_left(ticket, parts.granted(ticket), in_full, around=parts.around(ticket))


def _shares_much(beginning: SharedBeginning) -> bool:
    segments = beginning.composition.prompt.segments
    shared = (
        len(segment.text)
        for segment in segments
        if segment.section is Section.FILES and segment.source not in beginning.late_paths
    )
    return sum(shared) >= SHARED_CHARACTERS
