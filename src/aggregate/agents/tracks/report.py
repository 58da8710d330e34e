"""The report of a run: every ticket once, every failure, and the merged variables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.text import fence, first_of, heading_text
from aggregate.base.values import THRESHOLD, AggregatedResult, Prompt, RunStatus
from aggregate.prompt import NOTE_CHARACTERS, NOTES_SHOWN
from aggregate.prompt.sections import one_line, results_segments

_STATES: dict[RunStatus | None, str] = {
    RunStatus.SUCCESS: "done",
    RunStatus.ERROR: "failed",
    RunStatus.TIMEOUT: "timed out",
}

_MOST_EDGES = 500
"""Mermaid draws no more, and of more nobody could follow any."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What a report says of one ticket.

    Attributes:
        status: How it ended, ``None`` where it was not run or is not over.
        attempts: How often a worker was asked.
        tokens: What all attempts have taken.
        errors: Why attempts failed, or why it was not run.
        cost: What they have cost in US dollars, ``None`` where that is not known.
        seconds: How long they took.
        left_out: Its condition was not met, so that nobody was asked; that is no failure.
    """

    ticket: Ticket
    status: RunStatus | None = None
    attempts: int = 0
    tokens: int = 0
    errors: tuple[str, ...] = ()
    cost: float | None = None
    seconds: float = 0.0
    left_out: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is missing: it has an answer, or was not to be asked."""
        return self.left_out or self.status is RunStatus.SUCCESS

    @property
    def state(self) -> str:
        """One or two words for tables."""
        if self.left_out:
            return "left out"
        return _STATES.get(self.status, "not run")

    @classmethod
    def of(cls, ticket: Ticket, outcome: TicketOutcome) -> "ReportLine":
        """Return what an outcome says, without its text."""
        return cls(
            ticket,
            outcome.status,
            outcome.attempts if ticket.asks else 0,
            outcome.tokens,
            outcome.errors,
            outcome.cost,
            outcome.seconds,
        )


def report_text(
    title: str,
    lines: Sequence[ReportLine],
    results: Mapping[str, AggregatedResult],
    warnings: Sequence[str] = (),
    *,
    names: Callable[[str], Mapping[str, str]] = lambda _ticket: {},
    earlier_cost: float = 0.0,
    waits_for: Mapping[str, Sequence[str]] = {},
) -> str:
    """Return the report as markdown; the same outcomes give the same bytes.

    Args:
        title: What the track is about.
        lines: One for each ticket, in order.
        results: The merged variables.
        warnings: What is doubtful about the files that the workers saw.
        names: Returns the files of a ticket beside the report, by what they hold.
        earlier_cost: US dollars that rounds before a retry have cost.
        waits_for: The ids that each ticket waits for, which are drawn.
    """
    failures = [
        f"{line.ticket.id}: {error}" for line in lines for error in line.errors if not line.left_out
    ]
    parts = [
        f"# Report: {heading_text(title)}",
        f"{totals(lines, earlier_cost)}.",
        _table(lines, names),
    ]
    parts += _graph(lines, waits_for)
    parts += _section("## Failures", failures)
    if _is_long(failures):
        parts.append("What failed tickets said stands whole in their own files of this folder.")
    parts += _section("## Warnings", warnings)
    if results:
        parts.append(Prompt(results_segments(results)).markdown)
    return "\n\n".join(parts) + "\n"


def totals(lines: Sequence[ReportLine], earlier_cost: float = 0.0) -> str:
    """Return how many tickets are done, and what they took: ``3 of 4 tickets done, 1 left out, 512 tokens, $0.02``."""
    done = sum(line.status is RunStatus.SUCCESS for line in lines)
    left_out = sum(line.left_out for line in lines)
    words = [f"{done:,} of {len(lines):,} tickets done"]
    if left_out:
        words.append(f"{left_out:,} left out")
    return ", ".join([*words, account(lines, earlier_cost)])


def account(lines: Sequence[ReportLine], earlier_cost: float = 0.0) -> str:
    """Return what tickets took, such as ``512 tokens, $0.0200``, and with what rounds before a retry have cost."""
    words = [f"{sum(line.tokens for line in lines):,} tokens"]
    cost = sum(line.cost or 0.0 for line in lines) + earlier_cost
    if cost > 0:
        words.append(dollars(cost))
    if earlier_cost > 0:
        words.append(f"of which {dollars(earlier_cost)} before a retry")
    return ", ".join(words)


def dollars(amount: float | None) -> str:
    """Return an amount of US dollars as a person reads it, ``""`` for nothing and for one that is not known."""
    return f"${amount:.4f}" if amount else ""


def duration(seconds: float) -> str:
    """Return a time as a person reads it: ``0 s``, ``12 s``, ``3 min 5 s``, ``2 h 4 min``."""
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _table(lines: Sequence[ReportLine], names: Callable[[str], Mapping[str, str]]) -> str:
    head = ("#", "ticket", "title", "state", "attempts", "time", "tokens", "cost", "files")
    rows = [
        (
            str(i),
            line.ticket.id,
            _cell(line.ticket.title),
            line.state,
            str(line.attempts),
            duration(line.seconds) if line.attempts else "",
            f"{line.tokens:,}",
            dollars(line.cost),
            _links(names(line.ticket.id)),
        )
        for i, line in enumerate(lines, 1)
    ]
    rule = "|--:|---|---|---|--:|--:|--:|--:|---|"
    return "\n".join([_row(head), rule, *map(_row, rows)])


def _graph(lines: Sequence[ReportLine], waits_for: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tickets of the track and what they wait for as a block that many viewers of markdown draw."""
    own = [
        line
        for line in lines
        if line.ticket.id in waits_for and line.ticket.id == parent_of(line.ticket.id)
    ]
    names = {line.ticket.id: f"t{i}" for i, line in enumerate(own, 1)}
    edges = [f"{names[needed]} --> {names[each]}" for each in names for needed in waits_for[each]]
    if not 0 < len(edges) <= _MOST_EDGES:
        return []
    boxes = [f'{names[line.ticket.id]}["{line.ticket.id}: {line.state}"]' for line in own]
    return [fence("\n    ".join(["flowchart LR", *boxes, *edges]), "mermaid")]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _links(names: Mapping[str, str]) -> str:
    # A child's brackets would end the link.
    return ", ".join(f"[{kind}]({quote(name)})" for kind, name in names.items())


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")


def _is_long(sentences: Sequence[str]) -> bool:
    return sum(map(len, sentences)) >= THRESHOLD


def _section(heading: str, sentences: Sequence[str]) -> list[str]:
    """Return a section of sentences, or the first ones shortened where they are long together; nothing for none."""
    if not sentences:
        return []
    if _is_long(sentences):
        sentences = first_of(sentences, NOTES_SHOWN, NOTE_CHARACTERS)
    return [heading, fence("\n".join(map(one_line, sentences)), "text")]
