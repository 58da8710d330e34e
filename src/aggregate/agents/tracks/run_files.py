"""The files of a run: each worker's prompt and reply under its number, and the report."""

import glob
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregate.agents.tracks.assignment import Assignment, TicketOutcome
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.disk import confined, replace_own

MOST_NUMBER = 999_999_999
"""Of a run: a folder, or a row, with a larger one is somebody else's, and the next one might fit into no column."""


def last_number(output_dir: Path, track_id: str) -> int:
    """Return the number of a track's last run that has a folder, 0 for none; its database may be another one."""
    folders = output_dir.glob(f"{glob.escape(track_id)}_*")
    names = [folder.name.removeprefix(f"{track_id}_") for folder in folders]
    short = (name for name in names if name.isdecimal() and len(name) <= len(str(MOST_NUMBER)))
    return max(map(int, short), default=0)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Writes into a run's own folder.

    A file's number is its ticket's place in the track, so that writing it again after a kill gives the same file: none
    is doubled and none is torn.

    Attributes:
        folder: ``<output_dir>/<track>_<NNN>``.
        numbers: The place of each ticket, from 1; a ticket's children have theirs.
        retried: The tickets of which an earlier round may have left files.
    """

    folder: Path
    numbers: dict[str, int]
    retried: Collection[str] = ()

    @classmethod
    def of(
        cls,
        output_dir: Path,
        track_id: str,
        number: int,
        tickets: Sequence[Ticket],
        *,
        retried: Collection[str] = (),
    ) -> "RunFiles":
        """Return the files of a track's run.

        Raises:
            OutputError: The run's folder is a link that leads out of ``output_dir``.
        """
        folder = confined(output_dir / f"{track_id}_{number:03d}", output_dir)
        return cls(folder, {ticket.id: i for i, ticket in enumerate(tickets, 1)}, retried)

    def write_prompt(self, assignment: Assignment) -> Path:
        """Write what a worker is shown, and return the file."""
        path = self._path(assignment.ticket, "prompt")
        replace_own(path, assignment.pieces())
        return path

    def write_reply(self, outcome: TicketOutcome) -> None:
        """Write what a worker answered, or why it did not; what an earlier round came to is replaced."""
        if outcome.failure is None:
            replace_own(self._path(outcome.ticket, "reply"), outcome.text)
        else:
            errors = (f"- attempt {i}: {error}" for i, error in enumerate(outcome.errors, 1))
            replace_own(self._path(outcome.ticket, "failed"), "\n".join(errors))
        other = "failed" if outcome.failure is None else "reply"
        if outcome.ticket in self.retried:
            self._path(outcome.ticket, other).unlink(missing_ok=True)

    def has_reply(self, outcome: TicketOutcome) -> bool:
        """Tell whether what ``write_reply`` writes is there; after a retry it may be that of an earlier round."""
        kind = "reply" if outcome.failure is None else "failed"
        return outcome.ticket not in self.retried and self._path(outcome.ticket, kind).exists()

    def names(self, ticket: str) -> dict[str, str]:
        """Return the names of the files that there are of a ticket, by what they hold."""
        paths = {kind: self._path(ticket, kind) for kind in ("prompt", "reply", "failed")}
        return {kind: path.name for kind, path in paths.items() if path.exists()}

    def write_report(self, text: str) -> Path:
        """Write the report and return its path."""
        path = self.folder / "report.md"
        replace_own(path, text, durable=True)
        return path

    def _path(self, ticket: str, kind: str) -> Path:
        digits = max(3, len(str(len(self.numbers))))
        return self.folder / f"{self.numbers[parent_of(ticket)]:0{digits}d}_{ticket}.{kind}.md"
