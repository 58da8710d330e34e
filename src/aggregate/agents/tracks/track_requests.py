"""What the tickets of a track are shown of their project: one request for each way to show files, made once."""

from dataclasses import replace
from functools import cache, cached_property

from aggregate.agents.tracks.shared_files import TIER3
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track_spec import TrackSpec
from aggregate.base.values import Segment
from aggregate.project.configuration import PersonaTable, Project
from aggregate.prompt import FOCUS_TIER, RenderedFiles, Request, Strategy, assemble, request_for


class TrackRequests:
    """The requests of a track, by the strategy that shows what is not in focus.

    Args:
        project: Whose files, screenshots, beads and discussion are shown.
        spec: The track's ``spec.md``.
    """

    def __init__(self, project: Project, spec: TrackSpec) -> None:
        self._project = project
        self._spec = spec
        self.of = cache(self._of)
        self.whole = cache(self._whole)

    @property
    def focused(self) -> Request:
        """The request of most tickets: focus files in full, of the others the structure."""
        return self.of(TIER3)

    @cached_property
    def other_sections(self) -> tuple[Segment, ...]:
        """What stands behind the files in each context."""
        return assemble(self.whole(TIER3), RenderedFiles(())).prompt.segments

    def _of(self, strategy: str) -> Request:
        if strategy == TIER3:
            return request_for(self._project, tier=FOCUS_TIER, sending=True)
        return request_for(self._project, strategy=strategy, sending=True)

    def _whole(self, strategy: str) -> Request:
        """Return what shows all files that the project names, and what its track is for."""
        request = replace(self.of(strategy), task=None, budget=None)
        return self._spec.added_to(request)


def strategy_of(ticket: Ticket, persona: PersonaTable) -> str:
    """Return how files that are not in focus are shown: as the ticket says, else its persona."""
    named = persona.aggregation_strategy
    return ticket.aggregation_strategy or (Strategy.parse(named).value if named else "") or TIER3
