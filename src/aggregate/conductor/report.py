"""The report of a run: every ticket once, every failure, and the merged variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregate.conductor.assignment import TicketOutcome
from aggregate.conductor.tickets import Ticket
from aggregate.models.group import RunStatus
from aggregate.models.prompt import Prompt
from aggregate.models.reference import THRESHOLD
from aggregate.models.result import AggregatedResult
from aggregate.results.references import NOTE_CHARACTERS, NOTES_SHOWN
from aggregate.sections.subagent_results import one_line, results_segments
from aggregate.text.fences import fence, heading_text
from aggregate.text.shorten import first_of

_STATES: dict[RunStatus | None, str] = {
    RunStatus.SUCCESS: "done",
    RunStatus.ERROR: "failed",
    RunStatus.TIMEOUT: "timed out",
}


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What a report says of one ticket.

    Attributes:
        ticket: The ticket.
        status: How it ended, ``None`` where it was not run or is not over.
        attempts: How often a worker was asked.
        tokens: What the answer has cost.
        errors: Why attempts failed, or why it was not run.
    """

    ticket: Ticket
    status: RunStatus | None = None
    attempts: int = 0
    tokens: int = 0
    errors: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """One or two words for tables."""
        return _STATES.get(self.status, "not run")

    @classmethod
    def of(cls, ticket: Ticket, outcome: TicketOutcome) -> "ReportLine":
        """Return what an outcome says, without its text."""
        return cls(ticket, outcome.status, outcome.attempts, outcome.tokens, outcome.errors)


def report_text(
    title: str,
    lines: Sequence[ReportLine],
    results: Mapping[str, AggregatedResult],
    warnings: Sequence[str] = (),
) -> str:
    """Return the report as markdown; the same outcomes give the same bytes.

    Args:
        title: What the track is about.
        lines: One for each ticket, in order.
        results: The merged variables.
        warnings: What is doubtful about the files that the workers saw.
    """
    done = sum(line.status is RunStatus.SUCCESS for line in lines)
    tokens = sum(line.tokens for line in lines)
    failures = [f"{line.ticket.id}: {error}" for line in lines for error in line.errors]
    parts = [
        f"# Report: {heading_text(title)}",
        f"{done:,} of {len(lines):,} tickets done, {tokens:,} tokens.",
        _table(lines),
        *_section("## Failures", failures),
    ]
    if _is_long(failures):
        parts.append("What failed tickets said stands whole in their own files of this folder.")
    parts += _section("## Warnings", warnings)
    if results:
        parts.append(Prompt(results_segments(results)).markdown)
    return "\n\n".join(parts) + "\n"


def _table(lines: Sequence[ReportLine]) -> str:
    rows = [
        f"| {i} | {line.ticket.id} | {_cell(line.ticket.title)} | {line.state} | {line.attempts} | {line.tokens:,} |"
        for i, line in enumerate(lines, 1)
    ]
    return "\n".join(
        ["| # | ticket | title | state | attempts | tokens |", "|--:|---|---|---|--:|--:|", *rows]
    )


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
