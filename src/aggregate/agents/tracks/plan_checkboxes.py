"""The plan's checkboxes while a run goes on."""

from dataclasses import dataclass, field
from time import monotonic

from aggregate.agents.tracks.checkboxes import Checkbox
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track

MARK_SECONDS = 0.5
"""The plan's checkboxes are written at most this often, for a person looks at them; the last ones always."""


@dataclass(slots=True)
class PlanCheckboxes:
    """The checkboxes of a run's tickets, written into the plan a few at a time."""

    track: Track
    unwritten: dict[tuple[str, str], Checkbox] = field(default_factory=dict)
    written_at: float = 0.0

    def set(self, ticket: Ticket, checkbox: Checkbox) -> None:
        """Note a ticket's checkbox; children of a list stand in no plan."""
        if parent_of(ticket.id) != ticket.id:
            return
        self.unwritten[ticket.id, ticket.name] = checkbox

    def write(self, *, last: bool = False) -> None:
        """Write what has changed, if it is time or the last time."""
        if self.unwritten and (last or monotonic() - self.written_at >= MARK_SECONDS):
            self.track.mark_plan(self.unwritten)
            self.unwritten.clear()
            self.written_at = monotonic()
