"""The files of tickets without a budget: read and rendered once, so that the workers' contexts begin alike."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache, partial

from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.values import Entry, FileItem, RenderedFile, Segment, Stability
from aggregate.project.index import user_index
from aggregate.prompt import (
    FoundSecrets,
    RenderedFiles,
    Request,
    Tier3Files,
    files_segments,
    focus_paths,
    render_files,
    tier3_segments,
)

TIER3 = "tier3"  # the strategy of tickets that name no other
# What workers share if one is sent ahead for all: more than the 4,096 tokens of the largest minimum of a provider's
# cache.
SHARED_CHARACTERS = 20_000
# Sets of focus files whose own segments are remembered for tickets with the same, which mostly follow each other; each
# may have megabytes.
REMEMBERED_FOCUS = 16


class SharedFiles:
    """Lays out the files of each ticket from those of the project, which are read when they are first needed.

    ``late_paths`` are the files that some tickets focus on: they stand behind the others.
    """

    def __init__(self, request: Callable[[str], Request]) -> None:
        self._request = request  # what tickets of a strategy ask for
        self.late_paths: frozenset[str] = frozenset()
        # What depends on which files stand late; see ``share``.
        self._tier3_files = cache(self._make_tier3_files)
        self._strategy_section = cache(self._make_strategy_section)
        self._focus_section = lru_cache(maxsize=REMEMBERED_FOCUS)(self._make_focus_section)

    @cached_property
    def _files(self) -> RenderedFiles:
        rendered = render_files(self._request(TIER3), index=user_index())
        rendered.check_refused()
        return rendered

    @property
    def warnings(self) -> tuple[str, ...]:
        if "_files" not in self.__dict__:  # to ask for warnings reads nothing
            return ()
        secrets = FoundSecrets(self._request(TIER3).redaction)
        for file in self._files.files:
            secrets.note_file(file.path, file.secrets)
        return (*self._files.warnings, *secrets.warnings)

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Share the files that none of these tickets focuses on; tell whether a provider's cache can hold them."""
        files = self._files.files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self.late_paths = focus_paths(((file.path, file.entry) for file in files), focus_files)
        for made in (self._tier3_files, self._strategy_section, self._focus_section):
            made.cache_clear()
        shared = (len(file.content) for file in files if file.path not in self.late_paths)
        return sum(shared) >= SHARED_CHARACTERS

    def section(self, focus_files: tuple[str, ...], strategy: str) -> tuple[Segment, ...]:
        """Return the files of a context; it begins alike for all workers, for what only some focus on stands late."""
        is_tier3 = strategy == TIER3
        section = (
            self._tier3_files().section(focus_files)
            if is_tier3
            else self._strategy_section(strategy)
        )
        replaced, added = self._focus_section(focus_files, strategy)
        if added:
            kept = tuple(segment for segment in section if segment.source not in replaced)
            title, *segments = added
            section = (*(kept or (title,)), *segments)
        late_paths = self.late_paths | {segment.source for segment in added[1:]}
        return tuple(sorted(section, key=lambda segment: segment.source in late_paths))

    def in_full(self, focus_files: tuple[str, ...]) -> dict[str, Segment]:
        own = self._tier3_files().in_full(focus_files)
        _, added = self._focus_section(focus_files, TIER3)
        return {**own, **{segment.source: segment for segment in added[1:]}}

    def named(self, focus: str) -> list[str]:
        return [file.path for file in self._tier3_files().named(focus)]

    def has(self, focus: str) -> bool:
        return any(not file.error for file in self._tier3_files().named(focus))

    def _make_tier3_files(self) -> Tier3Files:
        finish = partial(_changing, late_paths=self.late_paths)
        return Tier3Files(self._files.files, as_rendered=True, finish=finish)

    def _make_strategy_section(self, strategy: str) -> tuple[Segment, ...]:
        return _changing(_lay_out(self._request(strategy), self._files.files), self.late_paths)

    def _make_focus_section(
        self, focus_files: tuple[str, ...], strategy: str
    ) -> tuple[frozenset[str], tuple[Segment, ...]]:
        """Return what shows focus files that the project's section does not, or not in full, and what it replaces."""
        entries: dict[str, Entry] = {}
        for focus in focus_files:
            paths = self.named(focus)
            if strategy != TIER3:
                for path in paths or [focus]:
                    entries[path] = Entry(FileItem(path, force_full=True))
            elif not paths:
                entries[focus] = Entry(FileItem(focus))
        if not entries:
            return frozenset(), ()
        request = replace(self._request(strategy), entries=tuple(entries.values()))
        rendered = render_files(request, index=user_index())
        rendered.check_refused()
        if strategy == TIER3:
            section = tier3_segments(rendered.files, focus_files)
        else:
            section = _lay_out(request, rendered.files)
        paths_shown = frozenset(segment.source for segment in section[1:])
        return frozenset(entries), _changing(section, paths_shown)


def _changing(segments: Sequence[Segment], late_paths: frozenset[str]) -> tuple[Segment, ...]:
    return tuple(
        replace(segment, stability=Stability.SLOW) if segment.source in late_paths else segment
        for segment in segments
    )


def _lay_out(request: Request, files: Sequence[RenderedFile]) -> tuple[Segment, ...]:
    return tuple(files_segments(files, is_summary=request.is_summary))
