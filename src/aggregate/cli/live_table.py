"""What a run of a track shows while it runs: a live table on a terminal, lines otherwise."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from aggregate.agents.tracks import Ticket, TicketEvent, TicketState, account, dollars, duration
from aggregate.base.text import printable
from aggregate.cli.output import is_terminal, say
from aggregate.prompt.sections import one_line

_ROWS = 20
"""Tickets that are shown: they fit onto a terminal of 24 lines."""
_WAITING = "waiting"
_NUMBERS = ("time", "tokens", "cost")
_COLOURS = {
    TicketState.STARTED: "yellow",
    TicketState.DONE: "green",
    TicketState.FAILED: "red",
    TicketState.SKIPPED: "red",
    TicketState.WAITING: "blue",
    TicketState.LEFT_OUT: "dim",
}


@contextmanager
def watch(tickets: Sequence[Ticket], *, plain: bool) -> Iterator[Callable[[TicketEvent], None]]:
    """Yield what to call with each event; everything goes to standard error."""
    if plain or not is_terminal(err=True):
        yield _print
        return
    states: dict[str, TicketEvent] = {}
    begun: dict[str, float] = {}
    known = {ticket.id: ticket for ticket in tickets}

    def observe(event: TicketEvent) -> None:
        known.setdefault(event.ticket.id, event.ticket)  # a child of one of them
        begun.setdefault(event.ticket.id, monotonic())
        states[event.ticket.id] = event

    with Live(
        console=Console(stderr=True),
        refresh_per_second=8,
        get_renderable=lambda: _table(list(known.values()), dict(states), begun, monotonic()),
    ):
        yield observe


def _print(event: TicketEvent) -> None:
    detail = f": {one_line(event.detail)}" if event.detail else ""
    say(f"{event.state.value:<8} {event.ticket.id}{detail}")


def _table(
    tickets: Sequence[Ticket],
    states: dict[str, TicketEvent],
    begun: Mapping[str, float],
    now: float,
) -> Table:
    """Return the tickets that a person wants to see: what is under way or failed, then the rest, as far as rows go."""
    counts = Counter(
        states[ticket.id].state.value if ticket.id in states else _WAITING for ticket in tickets
    )
    summary = ", ".join(f"{number:,} {state}" for state, number in sorted(counts.items()))
    lines = [event.line for event in states.values() if event.line]
    if lines:
        summary += f"; {account(lines)}"
    table = Table(caption=summary, box=None, pad_edge=False)
    for column in ("ticket", "title", "time", "tokens", "cost", "state"):
        table.add_column(column, justify="right" if column in _NUMBERS else "left")
    for ticket in sorted(tickets, key=lambda ticket: _urgency(states.get(ticket.id)))[:_ROWS]:
        event = states.get(ticket.id)
        state = Text(_WAITING)
        if event:
            state = Text.assemble(
                (event.state.value, _COLOURS[event.state]), f" {printable(one_line(event.detail))}"
            )
        title = Text(printable(one_line(ticket.title)))
        numbers = _numbers(event, now - begun.get(ticket.id, now))
        table.add_row(Text(printable(ticket.id)), title, *numbers, state)
    return table


def _numbers(event: TicketEvent | None, seconds: float) -> tuple[str, str, str]:
    if event is None:
        return "", "", ""
    if event.line is None:
        running = event.state in (TicketState.STARTED, TicketState.WAITING)
        return duration(seconds) if running else "", "", ""
    line = event.line
    return duration(line.seconds), f"{line.tokens:,}", dollars(line.cost)


def _urgency(event: TicketEvent | None) -> int:
    order = (
        TicketState.WAITING,
        TicketState.FAILED,
        TicketState.STARTED,
        None,
        TicketState.SKIPPED,
        TicketState.LEFT_OUT,
        TicketState.DONE,
    )
    return order.index(event.state if event else None)
