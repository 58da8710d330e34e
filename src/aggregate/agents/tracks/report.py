"""The folder and the report of a run."""

import glob
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from aggregate.agents.tracks.assignment import Assignment, TicketOutcome, TicketStatus
from aggregate.agents.tracks.tickets import Ticket, parent_of
from aggregate.agents.tracks.track import Checkbox
from aggregate.base.disk.writing import confined, replace_own
from aggregate.base.json_forms import first_of
from aggregate.base.text import fence, heading_text
from aggregate.base.values import THRESHOLD
from aggregate.prompt.asking.results import AggregatedResult
from aggregate.prompt.document import Prompt
from aggregate.prompt.sections import results_segments
from aggregate.prompt.sections.subagent_results import one_line

# Of a run; larger ones are foreign, and might not fit into a column.
MOST_NUMBER = 999_999_999
_SENTENCES_SHOWN = 20  # errors and warnings of a long list
_SENTENCE_CHARACTERS = 200  # of each one


def last_number(output_dir: Path, track_id: str) -> int:
    """Return the highest number of a track's run folders, 0 for none."""
    folders = output_dir.glob(f"{glob.escape(track_id)}_*")
    names = [folder.name.removeprefix(f"{track_id}_") for folder in folders]
    short = (name for name in names if name.isdecimal() and len(name) <= len(str(MOST_NUMBER)))
    return max(map(int, short), default=0)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The folder of a run, ``<output_dir>/<track>_<NNN>``.

    A file's number is the position of its ticket, so writing again after a kill replaces the same file.
    """

    folder: Path
    numbers: dict[str, int]  # the position of each ticket, from 1; children share their parent's

    @classmethod
    def of(
        cls, output_dir: Path, track_id: str, number: int, tickets: Sequence[Ticket]
    ) -> "RunFiles":
        folder = confined(output_dir / f"{track_id}_{number:03d}", output_dir)
        return cls(folder, {ticket.id: i for i, ticket in enumerate(tickets, 1)})

    def write_prompt(self, assignment: Assignment) -> Path:
        path = self._path(assignment.ticket, "prompt")
        replace_own(path, assignment.pieces())
        return path

    def write_reply(self, outcome: TicketOutcome) -> None:
        """Write a ticket's answer, or its failures; replace those of earlier rounds."""
        kind, other_kind, text = "reply", "failed", outcome.text
        if outcome.failure is not None:
            kind, other_kind = other_kind, kind
            errors = (f"- attempt {i}: {error}" for i, error in enumerate(outcome.errors, 1))
            text = "\n".join(errors)
        replace_own(self._path(outcome.ticket, kind), text)
        self._path(outcome.ticket, other_kind).unlink(missing_ok=True)

    def write_report(self, text: str) -> Path:
        path = self.folder / "report.md"
        replace_own(path, text, durable=True)
        return path

    def names(self, ticket: str) -> dict[str, str]:
        paths = {kind: self._path(ticket, kind) for kind in ("prompt", "reply", "failed")}
        return {kind: path.name for kind, path in paths.items() if path.exists()}

    def _path(self, ticket: str, kind: str) -> Path:
        digits = max(3, len(str(len(self.numbers))))
        return self.folder / f"{self.numbers[parent_of(ticket)]:0{digits}d}_{ticket}.{kind}.md"


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A line of the report: a ticket and its outcome."""

    ticket: Ticket
    end: TicketOutcome

    @property
    def status(self) -> TicketStatus:
        return self.end.status

    @property
    def has_run(self) -> bool:
        return self.status.has_answer or self.status.has_failed

    @property
    def attempts(self) -> int:
        return len(self.end.replies) if self.ticket.asks and self.has_run else 0

    @property
    def is_done(self) -> bool:
        """Whether the ticket has an answer, or was left out by its condition."""
        return self.status.has_answer or self.status is TicketStatus.LEFT_OUT

    @property
    def state(self) -> str:
        is_done = self.status is TicketStatus.DONE
        is_unverified = is_done and self.ticket.changes_files and not self.end.last.verified
        return f"{self.status.value}{', unverified' if is_unverified else ''}"

    @property
    def account(self) -> str:
        """State, time, tokens and cost: ``done, 12 s, 512 tokens, $0.0200``."""
        end = self.end
        measures = [duration(end.seconds), f"{end.tokens:,} tokens", dollars(end.cost)]
        return ", ".join([self.state, *(filter(None, measures) if self.attempts else ())])


@dataclass(frozen=True, slots=True)
class TrackResult:
    report: Path
    lines: tuple[ReportLine, ...]  # one for each ticket, in order
    cancelled: bool = False
    unmerged: tuple[str, ...] = ()  # variables whose merge failed
    stopped: str = ""  # why ready tickets did not start: the limit of cost

    @property
    def succeeded(self) -> bool:
        return not self.unmerged and all(line.is_done for line in self.lines)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Ids of tickets with edit tools but without changes."""
        return tuple(line.ticket.id for line in self.lines if line.status is TicketStatus.UNCHANGED)

    @property
    def checkbox(self) -> Checkbox:
        """The track's new checkbox in ``tracks.md``; open after a cancelled run."""
        if self.cancelled:
            return Checkbox.OPEN
        return Checkbox.DONE if self.succeeded else Checkbox.STARTED


def report_text(
    title: str,
    lines: Sequence[ReportLine],
    results: Mapping[str, AggregatedResult],
    warnings: Sequence[str] = (),
    *,
    names: Callable[[str], Mapping[str, str]] = lambda _ticket: {},
    earlier_cost: float = 0.0,
) -> str:
    numbers = Counter(line.status for line in lines)
    words = [f"{numbers[TicketStatus.DONE]:,} of {len(lines):,} tickets done"]
    for status in (TicketStatus.UNCHANGED, TicketStatus.LEFT_OUT):
        if numbers[status]:
            words.append(f"{numbers[status]:,} {status.value}")
    failures = [
        f"{line.ticket.id}: {error}"
        for line in lines
        for error in line.end.errors
        if line.status is not TicketStatus.LEFT_OUT
    ]
    parts = [
        f"# Report: {heading_text(title)}",
        f"{', '.join([*words, account(lines, earlier_cost)])}.",
        _table(lines, names),
        *_section("## Failures", failures),
    ]
    if _is_long(failures):
        parts.append("The files of failed tickets in this folder have their whole texts.")
    parts += _section("## Warnings", warnings)
    if results:
        parts.append(Prompt(results_segments(results)).markdown)
    return "\n\n".join(parts) + "\n"


def account(lines: Sequence[ReportLine], earlier_cost: float = 0.0) -> str:
    """Format the sum of tickets' tokens and costs: ``512 tokens, $0.0200``."""
    words = [f"{sum(line.end.tokens for line in lines):,} tokens"]
    cost = sum(line.end.cost or 0.0 for line in lines) + earlier_cost
    if cost > 0:
        words.append(dollars(cost))
    if earlier_cost > 0:
        words.append(f"{dollars(earlier_cost)} of it before a retry")
    return ", ".join(words)


def dollars(amount: float | None) -> str:
    return f"${amount:.4f}" if amount else ""


def duration(seconds: float) -> str:
    """Format a time: ``12 s``, ``3 min 5 s``, ``2 h 4 min``."""
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _table(lines: Sequence[ReportLine], names: Callable[[str], Mapping[str, str]]) -> str:
    rows = ["| # | ticket | title | state | attempts | time | tokens | cost | files |"]
    rows.append("|--:|---|---|---|--:|--:|--:|--:|---|")
    for i, line in enumerate(lines, 1):
        title = one_line(line.ticket.title).replace("|", "\\|")
        took = duration(line.end.seconds) if line.attempts else ""
        # A child's brackets would end the link.
        links = [f"[{kind}]({quote(name)})" for kind, name in names(line.ticket.id).items()]
        rows.append(
            f"| {i} | {line.ticket.id} | {title} | {line.state} | {line.attempts} | {took} | {line.end.tokens:,} "
            f"| {dollars(line.end.cost)} | {', '.join(links)} |"
        )
    return "\n".join(rows)


def _is_long(sentences: Sequence[str]) -> bool:
    return sum(map(len, sentences)) >= THRESHOLD


def _section(heading: str, sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    if _is_long(sentences):
        sentences = first_of(sentences, _SENTENCES_SHOWN, _SENTENCE_CHARACTERS)
    return [heading, fence("\n".join(map(one_line, sentences)), "text")]
