"""From rendered files and everything else that a request names to the prompt."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Union

from aggregate.base.monitor import get_monitor
from aggregate.base.values import (
    THRESHOLD,
    Cut,
    FileChoice,
    FileRecord,
    FileRow,
    Missing,
    Prompt,
    RenderedFile,
    Screenshot,
    Segment,
)
from aggregate.project.configuration import BEADS_MODE
from aggregate.project.files import FolderListing, read_file
from aggregate.prompt.file_rendering import FileStream, RenderedFiles, check_refused
from aggregate.prompt.focus import is_named, unknown_focus
from aggregate.prompt.layout import files_segments, section_segments
from aggregate.prompt.redact_prompt import FoundSecrets
from aggregate.prompt.request import Request
from aggregate.prompt.screenshots import find_screenshots
from aggregate.prompt.sections.discussion import Omitted
from aggregate.prompt.sections.screenshots import screenshots_section
from aggregate.prompt.tier3 import tier3_segments

if TYPE_CHECKING:
    from aggregate.base.values import Origin, SourceMap
    from aggregate.prompt.sections.subagent_results import Results


@dataclass(slots=True, eq=False)
class Composition:
    """A prompt, and what it was made of.

    It is iterated once for its segments, which are made one after another; what it tells is complete after that. None
    of their texts is kept, unless it is ``composed``.

    Attributes:
        source: The request's files, read already or while they are iterated.
        choices: With a task or a budget: what was decided about each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        rows: What is told of each file.
    """

    request: Request
    source: Union["RenderedFiles", "FileStream"]
    choices: Sequence[FileChoice] = ()
    cut: Sequence[Cut] = ()
    missing: Sequence[Missing] = ()
    lay_out: Callable[[Iterable[RenderedFile]], Iterable[Segment]] | None = None
    omitted: tuple[Omitted | None, Omitted | None] = (None, None)
    rows: list[FileRow] = field(default_factory=list)
    _images: Sequence[Screenshot] = ()
    _secrets: FoundSecrets | None = None
    _prompt: Prompt | None = None
    _map: "SourceMap | None" = None

    def composed(self) -> "Composition":
        """Make all segments, keep them, and return this."""
        self._prompt = Prompt(tuple(self))
        return self

    @property
    def prompt(self) -> Prompt:
        """The segments in order."""
        return self._prompt or self.composed().prompt

    @property
    def files(self) -> tuple[RenderedFile, ...]:
        """The files, rendered; none of a prompt that keeps no texts."""
        return self.source.files if isinstance(self.source, RenderedFiles) else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each."""
        request = self.request
        # With a budget the pins tell of the task's places.
        focus_files = request.focus_paths if request.budget is None else request.focus_files
        unknown = (
            unknown_focus(focus, [row.path for row in self.rows])
            for focus in focus_files
            if not any(is_named(row.path, row.entry, [focus]) for row in self.rows)
        )
        images = (
            f"screenshot {image.path}: {image.problem}" for image in self._images if image.problem
        )
        secrets = self._secrets.warnings if self._secrets else ()
        return (*self.source.warnings, *unknown, *images, *secrets)

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        refused = (
            f"screenshot {image.path}: {image.refused}" for image in self._images if image.refused
        )
        return (*self.source.refused, *refused)

    def __iter__(self) -> Iterator[Segment]:
        """Yield the prompt's segments."""
        return iter(self._prompt.segments) if self._prompt else self._segments()

    def _segments(self) -> Iterator[Segment]:
        request = self.request
        secrets = self._secrets = FoundSecrets(request.redaction)
        self._images = find_screenshots(
            request.screenshot_dir,
            request.screenshots,
            shown_from=request.shown_from,
            listing=FolderListing(request.scope),
        )
        root = "" if request.scope.allow_outside else request.scope.root
        segments = section_segments(
            self._files_section(secrets),
            screenshots=screenshots_section(self._images),
            beads=beads_text(BEADS_MODE if request.beads else "", request.base_dir, root=root),
            results=request.results,
            history=request.history,
            omitted=self.omitted,
        )
        yield from map(secrets.shown_segment, segments)

    def _files_section(self, secrets: FoundSecrets) -> Iterable[Segment]:
        """Lay out the files, and keep a row of each."""

        def noted() -> Iterator[RenderedFile]:
            for file in self.source:
                self.rows.append(file.row)
                secrets.note_file(file.path, file.secrets)
                yield file

        request = self.request
        if self.lay_out is not None:
            return self.lay_out(noted())
        if request.is_tier3:
            return tier3_segments(noted(), request.focus_files)
        is_summary, strategy = request.summary_only, request.strategy
        return files_segments(noted(), summary_only=is_summary, strategy=strategy)

    @property
    def source_map(self) -> "SourceMap":
        """Where each line of the prompt comes from (rule L-1); made when it is first asked for."""
        if self._map is None:
            from aggregate.prompt.source_map import map_sources  # few ask

            self._map = map_sources(self.prompt.segments)
        return self._map

    def origin(self, line: int) -> "Origin | None":
        """Return where the 1-based ``line`` of the prompt comes from, ``None`` where it has no such line."""
        return self.source_map.origin(line)

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a file's 1-based line, else that stands for it."""
        return self.source_map.find(path, line)

    def shows(self, path: str, lines: Iterable[int]) -> bool:
        """Tell whether the prompt shows 1-based lines of a file as the file has them now; none at all are not shown."""
        wanted = frozenset(lines)
        if not wanted or not wanted <= self.source_map.verbatim_lines(path):
            return False
        then = next(file.source for file in self.files if file.path == path).split("\n")
        now = read_file(self.request.base_dir / path).text.split("\n")
        return all(line <= len(now) and then[line - 1] == now[line - 1] for line in wanted)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """A record per file, as ``build_file_items`` returns them."""
        return tuple(file.to_record() for file in self.files)

    def check_scope(self) -> None:
        """Raise a ``ScopeError`` with the first file that the prompt asks for and its scope does not allow."""
        check_refused(self.refused)


PromptStream = Composition
"""What ``stream_prompt`` returns."""


@get_monitor().scope("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    """Lay out the prompt that ``request`` asks for from files that were read before."""
    return Composition(request, rendered).composed()


def beads_text(execution_mode: str, base_dir: str | Path | None, *, root: str = "") -> str:
    """Return the section of beads, ``""`` in any other mode than ``"beads"``."""
    if execution_mode != BEADS_MODE:
        return ""
    # Its readers take 15 ms, and few projects have beads.
    from aggregate.prompt.beads_reading import build_beads_section

    return build_beads_section(base_dir or Path(), root=root)


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results, each with its value below ``cache_dir`` where its JSON has ``threshold`` bytes."""
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    from aggregate.prompt.references import compact_all  # 70 ms, needed only with results

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)
