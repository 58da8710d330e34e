"""The end of a run: its variables merged, and its report written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.report import ReportLine, report_text
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_outcomes import RunOutcomes
from aggregate.agents.tracks.track import Track
from aggregate.agents.tracks.track_events import TrackResult
from aggregate.base.values import FailurePolicy


@dataclass(frozen=True, slots=True)
class ReportWriting:
    """Writes the report of a run that has ended.

    Attributes:
        track: What was run.
        outcomes: What its tickets came to.
        files: Where the report is written.
        warnings: What is doubtful about the files that the workers saw.
    """

    track: Track
    outcomes: RunOutcomes
    files: RunFiles
    warnings: Sequence[str]

    def write(
        self,
        lines: tuple[ReportLine, ...],
        *,
        waits_for: Mapping[str, Sequence[str]],
        earlier_cost: float,
        cancelled: bool,
    ) -> TrackResult:
        """Write the report of these lines, and return what the run came to.

        Args:
            lines: One for each ticket, in order.
            waits_for: The ids that each ticket waits for.
            earlier_cost: US dollars that rounds before a retry have cost.
            cancelled: Whether the run was stopped before its end.
        """
        ended = [line.ticket.id for line in lines if line.status is not None]
        results = self.outcomes.merge(
            [ticket_id for ticket_id in ended if parent_of(ticket_id) == ticket_id],
            on_error=FailurePolicy.REPORT,
        )
        text = report_text(
            self.track.description,
            lines,
            results,
            self.warnings,
            names=self.files.names,
            earlier_cost=earlier_cost,
            waits_for=waits_for,
        )
        # A result's errors beyond those of its failed tickets are the merging's own.
        unmerged = [name for name, merged in results.items() if len(merged.errors) > merged.failed]
        return TrackResult(self.files.write_report(text), lines, cancelled, tuple(unmerged))
