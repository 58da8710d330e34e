"""One beginning within a budget for many tickets: the files that matter for all of their tasks, chosen once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aggregate.agents.tracks.budgeted_context import BudgetedContexts
from aggregate.agents.tracks.ticket_budget import GrantedBudget
from aggregate.agents.tracks.ticket_message import plain_task
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, FileChoice, Level, Prompt, Section, Segment, Stability
from aggregate.prompt import Composition, Request


@dataclass(frozen=True, slots=True)
class SharedBeginning:
    """A context that many tickets begin with, and what each shows behind it.

    Attributes:
        request: What was composed.
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
    """Return what a ticket is about, the files that it focuses on named."""
    return "\n".join((plain_task(ticket), *ticket.focus_files))


def _pinned(choice: FileChoice, segment: Segment) -> FileChoice:
    return choice._replace(level=Level.FULL, pinned=True, tokens=_tokens(segment), next=None)


def _tokens(segment: Segment) -> int:
    return count(f"{segment.text}{SEPARATOR}")
