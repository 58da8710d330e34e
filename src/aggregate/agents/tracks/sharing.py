"""Which tickets of a run begin alike, and with what: all files of the project, or those that fit into their budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aggregate.agents.tracks.budgeted_context import BudgetedContexts
from aggregate.agents.tracks.shared_files import SHARED_CHARACTERS
from aggregate.agents.tracks.ticket_parts import TicketParts, plain_task
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, FileChoice, Level, Prompt, Section, Segment, Stability
from aggregate.prompt import Composition, Request

LEAST_ROOM: Final = 0.5
"""The part of its budget that a ticket's own files and task must leave, so that it shares a beginning with others: a
larger focus would make the beginning small for all."""
_CHARACTERS: Final = 12
"""A text with so many characters for each token of a budget exceeds it: real ones have three to five. It is not
counted."""


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
        late = {one.source: one for one in files if one.source in self.late_paths} | dict(in_full)
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

    @property
    def shares_much(self) -> bool:
        """Whether a provider's cache can hold what all tickets begin with."""
        shared = (
            len(segment.text)
            for segment in self.composition.prompt.segments
            if segment.section is Section.FILES and segment.source not in self.late_paths
        )
        return sum(shared) >= SHARED_CHARACTERS


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """Which tickets begin alike.

    Attributes:
        alone: The ids of tickets whose contexts begin like no other's.
        beginnings: By the ids of the others, the beginning that fits into their budget; one that is not here shows all
            files.
        any_focus: Whether tickets with different focus files share enough for a provider's cache.
    """

    alone: frozenset[str] = frozenset()
    beginnings: Mapping[str, SharedBeginning] = field(default_factory=dict)
    any_focus: bool = False


def plan_sharing(
    tickets: Sequence[Ticket], parts: TicketParts, contexts: BudgetedContexts
) -> SharingPlan:
    """Decide which of a run's tickets begin alike.

    A ticket whose budget is its own or its persona's gets files of its own, as does one whose focus fills most of its
    budget. The others show all files where these fit, else those that matter for all of them.

    Raises:
        BudgetError: What must be shown exceeds a budget.
        ScopeError: A file may not be read.
    """
    shares_much = parts.files.share(tickets)
    alone = {ticket.id for ticket in tickets if parts.granted(ticket).is_own}
    beginnings: dict[str, SharedBeginning] = {}
    groups: dict[object, list[Ticket]] = {}
    for ticket in tickets:
        if ticket.id not in alone:
            asked = parts.asked(ticket)
            key = (parts.granted(ticket).budget, asked.strategy, asked.tier)
            groups.setdefault(key, []).append(ticket)
    for group in groups.values():
        exceeding = [ticket for ticket in group if _exceeds(ticket, parts)]
        sharing = _sharing(group, parts) if 2 * len(exceeding) > len(group) else []
        alone |= {ticket.id for ticket in exceeding if ticket not in sharing}
        if sharing:
            beginning = _compose_beginning(sharing, parts, contexts)
            beginnings |= dict.fromkeys((ticket.id for ticket in sharing), beginning)
    any_focus = shares_much and all(each.shares_much for each in beginnings.values())
    return SharingPlan(frozenset(alone), beginnings, any_focus)


def prompt_exceeds(prompt: Prompt, tokens: int) -> bool:
    """Tell whether a prompt has more than so many tokens; no more of it is counted than is needed to know."""
    if sum(len(segment.text) for segment in prompt.segments) > max(tokens, 0) * _CHARACTERS:
        return True
    left = tokens
    for segment in prompt.segments:
        left -= _tokens(segment)
        if left < 0:
            return True
    return False


def _exceeds(ticket: Ticket, parts: TicketParts) -> bool:
    """Tell whether files are chosen for a ticket: its context with all of them exceeds its budget, or is to fill it.

    What nobody has named, no files or no budget, is no reason to look through the project.
    """
    granted = parts.granted(ticket)
    if granted.is_named or not parts.asked(ticket).entries:
        return granted.is_named
    room = granted.budget.tokens - parts.around(ticket) - _for_results(ticket, parts)
    return prompt_exceeds(parts.whole_prompt(ticket), room)


def _sharing(group: Sequence[Ticket], parts: TicketParts) -> list[Ticket]:
    """Return the tickets of a group that leave room enough for a beginning; none where that is but one."""
    sharing = [
        ticket
        for ticket in group
        if _room(ticket, parts) >= LEAST_ROOM * parts.granted(ticket).budget.tokens
    ]
    return sharing if len(sharing) > 1 else []


def _compose_beginning(
    tickets: Sequence[Ticket], parts: TicketParts, contexts: BudgetedContexts
) -> SharedBeginning:
    """Return the beginning of tickets with one budget: what matters for the tasks of all, within the least room."""
    request, granted = parts.asked(tickets[0]), parts.granted(tickets[0])
    room = min(_room(ticket, parts) for ticket in tickets)
    budget = replace(granted.budget, tokens=max(room, 1))
    words = "\n\n".join("\n".join((plain_task(one), *one.focus_files)) for one in tickets)
    composition = contexts.compose_shared(request, words, granted._replace(budget=budget))
    return SharedBeginning(request, composition, parts.files.late_paths)


def _room(ticket: Ticket, parts: TicketParts) -> int:
    """Return the tokens of its budget that a ticket's focus files, its task and others' results leave."""
    own = sum(map(_tokens, parts.files.in_full(ticket.focus_files).values()))
    tokens = parts.granted(ticket).budget.tokens
    return tokens - parts.around(ticket) - own - _for_results(ticket, parts)


def _for_results(ticket: Ticket, parts: TicketParts) -> int:
    budget = parts.granted(ticket).budget
    return int(budget.tokens * budget.results) if ticket.depends_on else 0


def _pinned(choice: FileChoice, segment: Segment) -> FileChoice:
    return choice._replace(level=Level.FULL, pinned=True, tokens=_tokens(segment), next=None)


def _tokens(segment: Segment) -> int:
    return count(f"{segment.text}{SEPARATOR}")
