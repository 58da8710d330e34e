"""What each ticket's worker is asked, and what of the project it may be shown: known before a context is composed."""

from dataclasses import replace
from functools import cache, cached_property

from aggregate.agents.tracks.shared_files import TIER3, SharedFiles
from aggregate.agents.tracks.terms import (
    GrantedBudget,
    Recipient,
    TicketLimits,
    WorkerTerms,
    grant_budget,
    recipient_of,
)
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Track
from aggregate.base.disk import is_file
from aggregate.base.text import fence, heading_text, leaves_open
from aggregate.base.tokens import count
from aggregate.base.values import Entry, FileItem, Prompt, Section, Segment
from aggregate.project.configuration import Project
from aggregate.project.files import display_path
from aggregate.prompt import (
    FOCUS_TIER,
    RenderedFiles,
    Request,
    Strategy,
    assemble,
    find_persona,
    request_for,
)

_SEPARATOR_TOKENS = 1  # at the most, where it does not join the last token


class TicketParts:
    def __init__(self, project: Project, track: Track | None, terms: WorkerTerms) -> None:
        self._project = project
        self._terms = terms
        self._track = track
        # A provider's cache begins with what goes before everything, so that only tickets with the same instructions
        # of their roles may have them first.
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
        return assemble(self._whole_request(TIER3), RenderedFiles(())).prompt.segments

    @cached_property
    def spec(self) -> str:
        """The path of the track's ``spec.md`` as a prompt shows it, ``""`` where there is none or it is empty."""
        path = self._track.folder / "spec.md" if self._track else None
        if path is None or not is_file(path) or not path.stat().st_size:
            return ""
        return display_path(str(path), str(self.focused.base_dir))

    @property
    def spec_entries(self) -> tuple[Entry, ...]:
        return (Entry(FileItem(self.spec, force_full=True)),) if self.spec else ()

    def asked(self, ticket: Ticket) -> Request:
        return self._request(self._strategy(ticket))

    def whole_prompt(self, ticket: Ticket, results: tuple[Segment, ...] = ()) -> Prompt:
        files = self.files.section(ticket.focus_files, self._strategy(ticket))
        history = [one for one in self.other_sections if one.section is Section.HISTORY]
        stable = [one for one in self.other_sections if one.section is not Section.HISTORY]
        return Prompt((*files, *stable, *results, *history))

    def limits(self, ticket: Ticket) -> TicketLimits:
        limits = self._terms.limits
        for each in (self._project.config.conduct, ticket):
            limits = limits.lowered(each.max_tokens, each.max_steps, each.max_seconds)
        return limits

    def recipient(self, ticket: Ticket) -> Recipient:
        return self._recipient(ticket.persona)

    def asks(self, ticket: Ticket) -> Recipient:
        recipient = self.recipient(ticket)
        return recipient if recipient.provider else self._terms.recipient

    def granted(self, ticket: Ticket) -> GrantedBudget:
        return grant_budget(
            ticket,
            self._project.config.budget,
            persona=self._persona(ticket.persona).budget,
            recipient=self.asks(ticket),
            max_tokens=self.limits(ticket).max_tokens,
        )

    def instructions(self, ticket: Ticket) -> str:
        return self._persona(ticket.persona).system_prompt.strip()

    def instructions_first(self, ticket: Ticket) -> str:
        """Return the instructions that go before the context, ``""`` where they go behind it."""
        goes_last = self.instructions_last and not self.granted(ticket).is_own
        return "" if goes_last else self.instructions(ticket)

    def message(self, ticket: Ticket) -> str:
        return task_message(
            ticket,
            track=self._track.description if self._track else "",
            spec=self.spec,
            instructions="" if self.instructions_first(ticket) else self.instructions(ticket),
        )

    def around(self, ticket: Ticket) -> int:
        first = self.instructions_first(ticket)
        return count(self.message(ticket)) + _SEPARATOR_TOKENS + (count(first) if first else 0)

    def _strategy(self, ticket: Ticket) -> str:
        named = self._persona(ticket.persona).aggregation_strategy
        of_persona = Strategy.parse(named).value if named else ""
        return ticket.aggregation_strategy or of_persona or TIER3

    def _make_request(self, strategy: str) -> Request:
        if strategy == TIER3:
            return request_for(self._project, tier=FOCUS_TIER, sending=True)
        return request_for(self._project, strategy=strategy, sending=True)

    def _make_whole_request(self, strategy: str) -> Request:
        request = self._request(strategy)
        entries = (*request.entries, *self.spec_entries)
        return replace(request, entries=entries, task=None, budget=None)


def task_message(ticket: Ticket, *, track: str = "", spec: str = "", instructions: str = "") -> str:
    if leaves_open(instructions):  # the task would stand in it
        instructions = fence(instructions, "text")
    parts = ["## Instructions", instructions] if instructions else []
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
