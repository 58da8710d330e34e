"""What each ticket's worker is asked, and what of the project it may be shown: known before a context is composed."""

from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple, Self

from aggregate.agents.tracks.recipients import recipient_of
from aggregate.agents.tracks.shared_files import TIER3, SharedFiles
from aggregate.agents.tracks.terms import (
    GrantedBudget,
    Recipient,
    TicketLimits,
    WorkerTerms,
    grant_budget,
)
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track
from aggregate.base.disk import is_file
from aggregate.base.errors import TrackError
from aggregate.base.text import fence, heading_text, leaves_open
from aggregate.base.tokens import count
from aggregate.base.values import Entry, FileItem, Prompt, Section, Segment
from aggregate.project.configuration import Project
from aggregate.prompt import (
    FOCUS_TIER,
    RenderedFiles,
    Request,
    Strategy,
    assemble,
    display_path,
    find_persona,
    request_for,
)

INSTRUCTIONS = "## Instructions"
SPEC = "spec.md"
SPEC_BYTES = 4_000_000
"""About a million tokens, as much as the largest windows hold."""
_SEPARATOR_TOKENS = 1
"""Of the separator between the context and the task: it never takes more, and where it joins the last token none."""


class TrackSpec(NamedTuple):
    """A track's ``spec.md``: what all its tickets are for, which each worker is shown in full.

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

    def shown_path(self, base_dir: str) -> str:
        """Return the path as a prompt shows it, ``""`` for no specification."""
        return display_path(self.path, base_dir) if self.path else ""

    def entry(self, base_dir: str) -> tuple[Entry, ...]:
        """Return the specification as a file that is shown in full, none where there is none."""
        if not self.path:
            return ()
        return (Entry(FileItem(self.shown_path(base_dir), force_full=True)),)


class TicketParts:
    """Knows of each ticket whom it asks, its budget, its task, and the files that it may be shown.

    Args:
        project: Whose files, screenshots, beads and discussion are shown.
        track: Whose ``spec.md`` is shown, ``None`` for none.

    Attributes:
        instructions_last: Whether the instructions of roles go behind the context. A provider's cache begins with
            what goes before everything, so that only tickets with the same instructions may have them first.
    """

    def __init__(self, project: Project, track: Track | None, terms: WorkerTerms) -> None:
        self._project = project
        self._terms = terms
        self.spec = TrackSpec.of(track)
        self.instructions_last = False
        self._persona = cache(lambda name: find_persona(project, name))
        self._recipient = cache(lambda name: recipient_of(project, name, terms))
        self._request = cache(self._make_request)
        self._whole_request = cache(self._make_whole_request)
        self.files = SharedFiles(self._whole_request)

    @property
    def focused(self) -> Request:
        """What most tickets ask for: focus files in full, of the others the structure."""
        return self._request(TIER3)

    @cached_property
    def other_sections(self) -> tuple[Segment, ...]:
        """What stands behind the files in each context."""
        return assemble(self._whole_request(TIER3), RenderedFiles(())).prompt.segments

    def asked(self, ticket: Ticket) -> Request:
        """Return what a ticket is shown, without its focus files and its task."""
        return self._request(self._strategy(ticket))

    def whole_prompt(self, ticket: Ticket, results: tuple[Segment, ...] = ()) -> Prompt:
        """Return the context with all that the project names, as long as it may be."""
        files = self.files.section(ticket.focus_files, self._strategy(ticket))
        others = self.other_sections
        stable = tuple(segment for segment in others if segment.section is not Section.HISTORY)
        history = tuple(segment for segment in others if segment.section is Section.HISTORY)
        return Prompt(files + stable + results + history)

    def limits(self, ticket: Ticket) -> TicketLimits:
        """Return what one attempt at a ticket may use."""
        table = self._project.config.conduct
        return self._terms.limits.lowered(
            table.max_tokens, table.max_steps, table.max_seconds
        ).lowered(ticket.max_tokens, ticket.max_steps, ticket.max_seconds)

    def recipient(self, ticket: Ticket) -> Recipient:
        """Return whom the ticket's persona names, the run's own model for nobody."""
        return self._recipient(ticket.persona)

    def asks(self, ticket: Ticket) -> Recipient:
        """Return whom a ticket asks; no model for the scripted worker."""
        recipient = self.recipient(ticket)
        return recipient if recipient.provider else self._terms.recipient

    def granted(self, ticket: Ticket) -> GrantedBudget:
        """Return the budget of a ticket."""
        return grant_budget(
            ticket,
            self._project.config.budget,
            persona=self._persona(ticket.persona).budget,
            recipient=self.asks(ticket),
            max_tokens=self.limits(ticket).max_tokens,
        )

    def instructions(self, ticket: Ticket) -> str:
        """Return what the ticket's role says."""
        return self._persona(ticket.persona).system_prompt.strip()

    def instructions_first(self, ticket: Ticket) -> str:
        """Return the instructions that go before the context, ``""`` where they go behind it."""
        goes_last = self.instructions_last and not self.granted(ticket).is_own
        return "" if goes_last else self.instructions(ticket)

    def message(self, ticket: Ticket) -> str:
        """Return what stands behind the context."""
        instructions = self.instructions(ticket)
        return task_message(
            ticket,
            track=self.spec.description,
            spec=self.spec.shown_path(str(self.focused.base_dir)),
            instructions="" if self.instructions_first(ticket) else instructions,
        )

    def around(self, ticket: Ticket) -> int:
        """Return the tokens of a ticket's task and instructions."""
        first = self.instructions_first(ticket)
        return count(self.message(ticket)) + _SEPARATOR_TOKENS + (count(first) if first else 0)

    def _strategy(self, ticket: Ticket) -> str:
        """Return how files that are not in focus are shown: as the ticket says, else its persona."""
        named = self._persona(ticket.persona).aggregation_strategy
        return (
            ticket.aggregation_strategy or (Strategy.parse(named).value if named else "") or TIER3
        )

    def _make_request(self, strategy: str) -> Request:
        if strategy == TIER3:
            return request_for(self._project, tier=FOCUS_TIER, sending=True)
        return request_for(self._project, strategy=strategy, sending=True)

    def _make_whole_request(self, strategy: str) -> Request:
        request = self._request(strategy)
        entries = (*request.entries, *self.spec.entry(str(request.base_dir)))
        return replace(request, entries=entries, task=None, budget=None)


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
        shown = ", ".join(map(_code, ticket.focus_files))
        parts.append(f"In focus, shown in full above: {shown}.")
    parts.append(ticket.prompt.strip())
    return "\n\n".join(parts)


def plain_task(ticket: Ticket) -> str:
    """Return the ticket's own words, as files are chosen for them and goals are made of them."""
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)


def _code(path: str) -> str:
    return f"`{heading_text(path)}`"
