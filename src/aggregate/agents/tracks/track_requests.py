"""What a ticket's worker is asked, and what of the project it is shown."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple, Self

from aggregate.agents.tracks.shared_files import TIER3
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track
from aggregate.base.disk import is_file
from aggregate.base.errors import TrackError
from aggregate.base.text import fence, heading_text, leaves_open
from aggregate.base.values import Entry, FileItem, Segment
from aggregate.project.configuration import PersonaTable, Project
from aggregate.prompt import (
    FOCUS_TIER,
    RenderedFiles,
    Request,
    Strategy,
    assemble,
    display_path,
    request_for,
)

INSTRUCTIONS = "## Instructions"


def task_message(ticket: Ticket, *, track: str = "", spec: str = "", instructions: str = "") -> str:
    """Return the last message to a worker; the ticket's own words end it.

    Args:
        ticket: Whose task.
        track: What its track is about.
        spec: The path of the track's specification, as the context shows it; ``""`` for none.
        instructions: Of its persona, where they do not go before the context.
    """
    if leaves_open(instructions):  # the task would stand in it
        instructions = fence(instructions, "text")
    parts = [INSTRUCTIONS, instructions] if instructions else []
    parts.append(f"## Task: {heading_text(ticket.name)}")
    if spec:
        what = f'the track "{heading_text(track)}"' if track else "a track"
        parts.append(f"This is one ticket of {what}; {_code(spec)} above says what it is for.")
    if ticket.focus_files:
        parts.append(f"In focus, shown in full above: {_listed(ticket.focus_files)}.")
    parts.append(ticket.prompt.strip())
    return "\n\n".join(parts)


def plain_task(ticket: Ticket) -> str:
    """Return the ticket's own words, as files are chosen for them and goals are made of them."""
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(map(_code, paths))


def _code(path: str) -> str:
    return f"`{heading_text(path)}`"


SPEC = "spec.md"
SPEC_BYTES = 4_000_000
"""About a million tokens, as much as the largest windows hold."""


class TrackSpec(NamedTuple):
    """What a track is for.

    Attributes:
        description: What ``tracks.md`` says.
        path: Where ``spec.md`` is, ``""`` where there is none or it is empty.
    """

    description: str = ""
    path: str = ""

    @classmethod
    def of(cls, track: Track | None) -> Self:
        """Return the specification of a track, an empty one for none.

        Raises:
            TrackError: It is larger than what any worker can be shown.
        """
        if track is None:
            return cls()
        path = track.folder / SPEC
        size = path.stat().st_size if is_file(path) else 0
        if size > SPEC_BYTES:
            raise TrackError(
                f"{path}: has {size:,} bytes, and each worker is shown all of it: shorten it to {SPEC_BYTES:,} or less"
            )
        return cls(track.description, str(path) if size else "")

    def entry(self, base_dir: str) -> tuple[Entry, ...]:
        """Return the specification as a file that is shown in full, none where there is none."""
        if not self.path:
            return ()
        return (Entry(FileItem(display_path(self.path, base_dir), force_full=True)),)

    def added_to(self, request: Request) -> Request:
        """Return a request that shows the specification too."""
        return replace(request, entries=(*request.entries, *self.entry(str(request.base_dir))))

    def shown_path(self, request: Request) -> str:
        """Return the path as a prompt shows it, ``""`` for no specification."""
        return display_path(self.path, request.base_dir) if self.path else ""


NO_SPEC = TrackSpec()
"""Of tickets that belong to no track."""


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
