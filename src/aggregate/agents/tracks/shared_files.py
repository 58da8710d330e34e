"""The files of tickets without a budget: read and rendered once, so that the workers' contexts begin alike."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.values import Entry, FileItem, RenderedFile, Segment, Stability
from aggregate.project.index import user_index
from aggregate.prompt import (
    FoundSecrets,
    RenderedFiles,
    Request,
    Tier3Files,
    check_refused,
    files_segments,
    focus_paths,
    render_files,
    tier3_segments,
)

TIER3 = "tier3"
"""The strategy of tickets that name no other."""
SHARED_CHARACTERS = 20_000
"""What workers share if one is sent ahead for all: more than the 4,096 tokens of the largest minimum of a provider's
cache."""
REMEMBERED_FOCUS = 16
"""Sets of focus files whose own segments are remembered for tickets with the same, which mostly follow each other; each
may have megabytes."""


class SharedFiles:
    """Lays out the files of each ticket from those of the project, which are read when they are first needed.

    Args:
        request: Returns what tickets of a strategy ask for.
    """

    def __init__(self, request: Callable[[str], Request]) -> None:
        self._request = request
        self._rendered: RenderedFiles | None = None
        self._late_paths: frozenset[str] = frozenset()
        # What depends on which files stand late; see ``share``.
        self._tier3_files = cache(self._make_tier3_files)
        self._strategy_section = cache(self._make_strategy_section)
        self._focus_section = lru_cache(maxsize=REMEMBERED_FOCUS)(self._make_focus_section)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of the files or is doubtful, one sentence each."""
        if self._rendered is None:
            return ()
        secrets = FoundSecrets(self._request(TIER3).redaction)
        for file in self._rendered.files:
            secrets.note_file(file.path, file.secrets)
        return (*self._rendered.warnings, *secrets.warnings)

    def share(self, tickets: Sequence[Ticket]) -> bool:
        """Let the workers of these tickets share their beginning: the files that none of them focuses on go first.

        Returns whether these are so many that a provider's cache can hold them.
        """
        files = self._files().files
        focus_files = (focus for ticket in tickets for focus in ticket.focus_files)
        self._late_paths = focus_paths(((file.path, file.entry) for file in files), focus_files)
        for made in (self._tier3_files, self._strategy_section, self._focus_section):
            made.cache_clear()
        shared = (len(file.content) for file in files if file.path not in self._late_paths)
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
        late_paths = self._late_paths | {segment.source for segment in added[1:]}
        return tuple(sorted(section, key=lambda segment: segment.source in late_paths))

    @property
    def late_paths(self) -> frozenset[str]:
        """The paths of the files that stand late: those that some tickets focus on."""
        return self._late_paths

    def in_full(self, focus_files: tuple[str, ...]) -> dict[str, Segment]:
        """Return the focus files as they are, by their paths, those of the project first."""
        own = self._tier3_files().in_full(focus_files)
        _, added = self._focus_section(focus_files, TIER3)
        return {**own, **{segment.source: segment for segment in added[1:]}}

    def has(self, focus: str) -> bool:
        """Tell whether a focus file names one of the project that can be read."""
        return any(not file.error for file in self._tier3_files().named(focus))

    def _make_tier3_files(self) -> Tier3Files:
        return Tier3Files(self._files().files, as_rendered=True, finish=self._finish)

    def _make_strategy_section(self, strategy: str) -> tuple[Segment, ...]:
        return self._finish(_lay_out(self._request(strategy), self._files().files))

    def _make_focus_section(
        self, focus_files: tuple[str, ...], strategy: str
    ) -> tuple[frozenset[str], tuple[Segment, ...]]:
        """Return the section of focus files that the project's own section does not show, or not in full.

        Returns:
            The paths that it stands for in the project's own section, and the section; ``()`` for none.
        """
        entries = self._entries_to_add(focus_files, full=strategy != TIER3)
        if not entries:
            return frozenset(), ()
        request = replace(self._request(strategy), entries=entries)
        rendered = render_files(request, index=user_index())
        check_refused(rendered.refused)
        if strategy == TIER3:
            section = tier3_segments(rendered.files, focus_files)
        else:
            section = _lay_out(request, rendered.files)
        paths = frozenset(segment.source for segment in section[1:])
        replaced = frozenset(entry.item.path for entry in entries)
        return replaced, self._finish(section, late_paths=paths)

    def _entries_to_add(self, focus_files: Iterable[str], *, full: bool) -> tuple[Entry, ...]:
        """Return entries for focus files that the project does not name, or, with ``full``, for all of them."""
        entries: dict[str, Entry] = {}
        for focus in focus_files:
            paths = [file.path for file in self._tier3_files().named(focus)]
            if full:
                for path in paths or [focus]:
                    entries[path] = Entry(FileItem(path, force_full=True))
            elif not paths:
                entries[focus] = Entry(FileItem(focus))
        return tuple(entries.values())

    def _finish(
        self, segments: Sequence[Segment], *, late_paths: frozenset[str] | None = None
    ) -> tuple[Segment, ...]:
        late = self._late_paths if late_paths is None else late_paths
        return tuple(
            replace(segment, stability=Stability.SLOW) if segment.source in late else segment
            for segment in segments
        )

    def _files(self) -> RenderedFiles:
        """Read the project's files, once: how they are shown depends on their entries alone."""
        if self._rendered is None:
            self._rendered = render_files(self._request(TIER3), index=user_index())
            check_refused(self._rendered.refused)
        return self._rendered


def _lay_out(request: Request, files: Sequence[RenderedFile]) -> tuple[Segment, ...]:
    return tuple(
        files_segments(files, summary_only=request.summary_only, strategy=request.strategy)
    )
