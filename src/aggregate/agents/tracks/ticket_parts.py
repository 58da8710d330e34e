"""Parts of tickets' contexts: requests, budgets, messages and shared files.

The project's files are read and rendered once. Contexts begin with the same files, those that no ticket focuses on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

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
from aggregate.base.disk.reading import is_file
from aggregate.base.files import Entry, FileItem, RenderedFile
from aggregate.base.task import Level
from aggregate.base.text import fence, heading_text, leaves_open
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.project.files import display_path
from aggregate.project.index import user_index
from aggregate.prompt import (
    FOCUS_TIER,
    Composition,
    FoundSecrets,
    RenderedFiles,
    Request,
    Strategy,
    assemble,
    find_persona,
    focus_paths,
    render_files,
    request_for,
)
from aggregate.prompt.document import SEPARATOR, Prompt, Section, Segment, Stability
from aggregate.prompt.layout import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    Tier3Files,
    files_segments,
    tier3_segments,
)

TIER3 = "tier3"  # the default strategy
# Of a beginning worth a warm-up: more than 4,096 tokens, the largest minimum of a provider's cache
SHARED_CHARACTERS = 20_000
REMEMBERED_FOCUS = (
    16  # sets of focus files, each perhaps of megabytes; tickets with one mostly follow each other
)
_SEPARATOR_TOKENS = 1  # at the most, where it does not join the last token


class TicketParts:
    def __init__(self, project: Project, track: Track | None, terms: WorkerTerms) -> None:
        self._project = project
        self._terms = terms
        self._track = track
        # A provider's cache begins with the instructions, so that only equal ones may go first.
        self.instructions_last = False
        self._persona = cache(lambda name: find_persona(project, name))
        self._recipient = cache(lambda name: recipient_of(project, name, terms))
        self._request = cache(self._make_request)
        self._whole_request = cache(self._make_whole_request)
        self.files = SharedFiles(self._whole_request)

    @property
    def focused(self) -> Request:
        """The default request: focus files in full, the structure of the others."""
        return self._request(TIER3)

    @cached_property
    def other_sections(self) -> tuple[Segment, ...]:
        return assemble(self._whole_request(TIER3), RenderedFiles(())).prompt.segments

    @cached_property
    def spec(self) -> str:
        """The path of the track's ``spec.md`` in a prompt, ``""`` if it is missing or empty."""
        path = self._track.folder / "spec.md" if self._track else None
        if path is None or not is_file(path) or not path.stat().st_size:
            return ""
        return display_path(str(path), str(self.focused.base_dir))

    @property
    def spec_entries(self) -> tuple[Entry, ...]:
        return (Entry(FileItem(self.spec, force_full=True)),) if self.spec else ()

    def asked(self, ticket: Ticket) -> Request:
        return self._request(self._strategy(ticket))

    def whole_prompt(self, ticket: Ticket, results: Sequence[Segment] = ()) -> Prompt:
        strategy = self._strategy(ticket)
        in_full = self.files.in_full(ticket.focus_files, strategy)
        beginning = self.files.beginning(strategy)
        if strategy != TIER3:  # there a focus file replaces its structure
            beginning = beginning.without(in_full)
        if in_full and not beginning.early:
            beginning = replace(beginning, early=(self.files.title(strategy),))
        return beginning.prompt(in_full, self.other_sections, results)

    def limits(self, ticket: Ticket) -> TicketLimits:
        limits = self._terms.limits
        for each in (self._project.config.conduct, ticket):
            limits = limits.lowered(each.max_tokens, each.max_turns, each.max_seconds)
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
        """Return the instructions before the context, ``""`` if they come after it."""
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
    if leaves_open(instructions):  # the task would be part of it
        instructions = fence(instructions, "text")
    parts = ["## Instructions", instructions] if instructions else []
    parts.append(f"## Task: {heading_text(ticket.name)}")
    if spec:
        name = f'the track "{heading_text(track)}"' if track else "a track"
        parts.append(f"This is one ticket of {name}; {_code(spec)} above states its purpose.")
    if ticket.focus_files:
        shown = ", ".join(map(_code, ticket.focus_files))
        parts.append(f"In focus, shown in full above: {shown}.")
    parts.append(ticket.prompt.strip())
    return "\n\n".join(parts)


def plain_task(ticket: Ticket) -> str:
    """Return title and prompt of a ticket, for the ranking of files."""
    return "\n\n".join(part for part in (ticket.title.strip(), ticket.prompt.strip()) if part)


def _code(path: str) -> str:
    return f"`{heading_text(path)}`"


@dataclass(frozen=True, slots=True)
class Beginning:
    """Files shared by all tickets, then the focus files of single tickets."""

    early: tuple[Segment, ...]
    late: Mapping[str, Segment]

    @classmethod
    def of(cls, segments: Iterable[Segment], late_paths: frozenset[str]) -> "Beginning":
        files = [segment for segment in segments if segment.section is Section.FILES]
        late = {each.source: _changing(each) for each in files if each.source in late_paths}
        return cls(tuple(each for each in files if each.source not in late_paths), late)

    def without(self, paths: Mapping[str, Segment]) -> "Beginning":
        return Beginning(
            tuple(segment for segment in self.early if segment.source not in paths),
            {path: segment for path, segment in self.late.items() if path not in paths},
        )

    @property
    def shares_much(self) -> bool:
        """Whether the shared part is long enough for a provider's cache."""
        return sum(len(segment.text) for segment in self.early) >= SHARED_CHARACTERS

    def prompt(
        self, in_full: Mapping[str, Segment], others: Iterable[Segment], results: Sequence[Segment]
    ) -> Prompt:
        """Return a context: files, other stable sections, results, the discussion."""
        early = {segment.source for segment in self.early}
        late = {**self.late, **{path: one for path, one in in_full.items() if path not in early}}
        beside = [segment for segment in others if segment.section is not Section.FILES]
        return Prompt(
            (
                *(in_full.get(segment.source, segment) for segment in self.early),
                *late.values(),
                *(segment for segment in beside if segment.section is not Section.HISTORY),
                *results,
                *(segment for segment in beside if segment.section is Section.HISTORY),
            )
        )


def _changing(segment: Segment) -> Segment:
    return replace(segment, stability=Stability.SLOW)


class SharedFiles:
    """The project's files in the layout of each ticket, read at the first use.

    ``late_paths`` are the focus files of some tickets, which come last.
    """

    def __init__(self, request: Callable[[str], Request]) -> None:
        self._request = request  # of a strategy
        self.late_paths: frozenset[str] = frozenset()
        # Cleared by ``share``, which sets ``late_paths``
        self.beginning = cache(self._make_beginning)
        self.in_full = lru_cache(maxsize=REMEMBERED_FOCUS)(self._make_in_full)

    @cached_property
    def _files(self) -> RenderedFiles:
        rendered = render_files(self._request(TIER3), index=user_index())
        rendered.check_refused()
        return rendered

    @cached_property
    def _tier3_files(self) -> Tier3Files:
        return Tier3Files(self._files.files, as_rendered=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        if "_files" not in self.__dict__:  # asking for warnings reads nothing
            return ()
        secrets = FoundSecrets(self._request(TIER3).redaction)
        for file in self._files.files:
            secrets.note_file(file.path, file.secrets)
        return (*self._files.warnings, *secrets.warnings)

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Share the files without focus; return whether a provider's cache accepts so few tokens."""
        files = self._files.files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self.late_paths = focus_paths(((file.path, file.entry) for file in files), focus_files)
        self.beginning.cache_clear()
        self.in_full.cache_clear()
        shared = (len(file.content) for file in files if file.path not in self.late_paths)
        return sum(shared) >= SHARED_CHARACTERS

    def named(self, focus: str) -> list[str]:
        return [file.path for file in self._tier3_files.named(focus)]

    def has(self, focus: str) -> bool:
        return any(not file.error for file in self._tier3_files.named(focus))

    def title(self, strategy: str) -> Segment:
        title = FILES_SUMMARY if self._request(strategy).is_summary else FILES
        text = FILES_TIER3 if strategy == TIER3 else title
        return Segment(Section.FILES, text, Stability.STABLE)

    def _make_beginning(self, strategy: str) -> Beginning:
        if strategy == TIER3:
            return Beginning.of(self._tier3_files.section(()), self.late_paths)
        section = _lay_out(self._request(strategy), self._files.files)
        return Beginning.of(section, self.late_paths)

    def _make_in_full(self, focus_files: tuple[str, ...], strategy: str) -> dict[str, Segment]:
        """Return the segments of focus files in full, including files outside the configuration."""
        own: dict[str, Segment] = {}
        entries = [Entry(FileItem(focus)) for focus in focus_files if not self.named(focus)]
        if strategy == TIER3:
            shown = self._tier3_files.in_full(focus_files)
            own = {
                path: _changing(one) if path in self.late_paths else one
                for path, one in shown.items()
            }
        else:
            paths = (path for focus in focus_files for path in self.named(focus) or [focus])
            entries = [Entry(FileItem(path, force_full=True)) for path in dict.fromkeys(paths)]
        if entries:
            request = replace(self._request(strategy), entries=tuple(entries))
            rendered = render_files(request, index=user_index())
            rendered.check_refused()
            if strategy == TIER3:
                section = tier3_segments(rendered.files, focus_files)
            else:
                section = _lay_out(request, rendered.files)
            own |= {segment.source: _changing(segment) for segment in section[1:]}
        return own


def _lay_out(request: Request, files: Sequence[RenderedFile]) -> tuple[Segment, ...]:
    return tuple(files_segments(files, is_summary=request.is_summary))


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    """Files that were chosen once for the tasks of many tickets."""

    request: Request
    composition: Composition
    beginning: Beginning

    def account(self, in_full: Mapping[str, Segment]) -> Composition:
        choices = tuple(
            choice._replace(
                level=Level.FULL, pinned=True, tokens=tokens_of(in_full[choice.path]), next=None
            )
            if choice.path in in_full
            else choice
            for choice in self.composition.choices
        )
        return replace(self.composition, choices=choices)


def tokens_of(segment: Segment) -> int:
    return count(f"{segment.text}{SEPARATOR}")
