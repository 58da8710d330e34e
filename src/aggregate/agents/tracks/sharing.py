"""Which tickets of a run begin alike, and with what: all files of the project, or those that fit into their budget."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from aggregate.agents.tracks.budgeted_context import BudgetedContexts
from aggregate.agents.tracks.shared_beginning import SharedBeginning, compose_beginning, room_left
from aggregate.agents.tracks.shared_files import SHARED_CHARACTERS, SharedFiles
from aggregate.agents.tracks.ticket_budget import GrantedBudget
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, Prompt, Section
from aggregate.prompt import Request

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
