"""The files of a run: each worker's prompt and reply under its number, and the report."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregate.conductor.assignment import Assignment, TicketOutcome
from aggregate.conductor.tickets import Ticket
from aggregate.disk.writing import confined, replace_own


def last_number(output_dir: Path, track_id: str) -> int:
    """Return the number of a track's last run that has a folder, 0 for none; its database may be another one."""
    folders = output_dir.glob(f"{glob.escape(track_id)}_*")
    numbers = [folder.name.removeprefix(f"{track_id}_") for folder in folders]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Writes into a run's own folder.

    A file's number is its ticket's place in the track, so that writing it again after a kill gives the same file: none
    is doubled and none is torn.

    Attributes:
        folder: ``<output_dir>/<track>_<NNN>``.
        numbers: The place of each ticket, from 1.
    """

    folder: Path
    numbers: dict[str, int]

    @classmethod
    def of(
        cls, output_dir: Path, track_id: str, number: int, tickets: Sequence[Ticket]
    ) -> "RunFiles":
        """Return the files of a track's run.

        Raises:
            OutputError: The run's folder is a link that leads out of ``output_dir``.
        """
        folder = confined(output_dir / f"{track_id}_{number:03d}", output_dir)
        return cls(folder, {ticket.id: i for i, ticket in enumerate(tickets, 1)})

    def write_prompt(self, assignment: Assignment) -> Path:
        """Write what a worker is shown, and return the file."""
        path = self._path(assignment.ticket, "prompt")
        replace_own(path, assignment.pieces())
        return path

    def write_reply(self, outcome: TicketOutcome) -> None:
        """Write what a worker answered, or why it did not."""
        if outcome.failure is None:
            replace_own(self._path(outcome.ticket, "reply"), outcome.text)
            return
        errors = "\n".join(f"- attempt {i}: {error}" for i, error in enumerate(outcome.errors, 1))
        replace_own(self._path(outcome.ticket, "failed"), errors)

    def has_reply(self, ticket: str) -> bool:
        """Tell whether the reply or the failure is there."""
        return any(self._path(ticket, kind).exists() for kind in ("reply", "failed"))

    def write_report(self, text: str) -> Path:
        """Write the report and return its path."""
        path = self.folder / "report.md"
        replace_own(path, text, durable=True)
        return path

    def _path(self, ticket: str, kind: str) -> Path:
        digits = max(3, len(str(len(self.numbers))))
        return self.folder / f"{self.numbers[ticket]:0{digits}d}_{ticket}.{kind}.md"
