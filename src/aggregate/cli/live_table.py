"""What a run of a track shows while it runs: a live table on a terminal, lines otherwise."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from aggregate.cli.output import is_terminal, say
from aggregate.conductor.tickets import Ticket
from aggregate.conductor.track_run import TicketEvent, TicketState
from aggregate.sections.subagent_results import one_line
from aggregate.text.terminal import printable

_ROWS = 20
"""Tickets that are shown: they fit onto a terminal of 24 lines."""
_WAITING = "waiting"
_COLOURS = {
    TicketState.STARTED: "yellow",
    TicketState.DONE: "green",
    TicketState.FAILED: "red",
    TicketState.SKIPPED: "red",
}


@contextmanager
def watch(tickets: Sequence[Ticket], *, plain: bool) -> Iterator[Callable[[TicketEvent], None]]:
    """Yield what to call with each event; everything goes to standard error."""
    if plain or not is_terminal(err=True):
        yield _print
        return
    states: dict[str, TicketEvent] = {}

    def observe(event: TicketEvent) -> None:
        states[event.ticket.id] = event

    with Live(
        console=Console(stderr=True),
        refresh_per_second=8,
        get_renderable=lambda: _table(tickets, states),
    ):
        yield observe


def _print(event: TicketEvent) -> None:
    detail = f": {one_line(event.detail)}" if event.detail else ""
    say(f"{event.state.value:<8} {event.ticket.id}{detail}")


def _table(tickets: Sequence[Ticket], states: dict[str, TicketEvent]) -> Table:
    """Return the tickets that a person wants to see: what is under way or failed, then the rest, as far as rows go."""
    counts = Counter(
        states[ticket.id].state.value if ticket.id in states else _WAITING for ticket in tickets
    )
    summary = ", ".join(f"{number:,} {state}" for state, number in sorted(counts.items()))
    table = Table(caption=summary, box=None, pad_edge=False)
    for column in ("ticket", "title", "state"):
        table.add_column(column)
    for ticket in sorted(tickets, key=lambda ticket: _urgency(states.get(ticket.id)))[:_ROWS]:
        event = states.get(ticket.id)
        state = Text(_WAITING)
        if event:
            state = Text.assemble(
                (event.state.value, _COLOURS[event.state]), f" {printable(one_line(event.detail))}"
            )
        table.add_row(Text(printable(ticket.id)), Text(printable(one_line(ticket.title))), state)
    return table


def _urgency(event: TicketEvent | None) -> int:
    order = (TicketState.FAILED, TicketState.STARTED, None, TicketState.SKIPPED, TicketState.DONE)
    return order.index(event.state if event else None)
