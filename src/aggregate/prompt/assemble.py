"""From rendered files and everything else that a request names to the prompt."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from aggregate.base.monitor import get_monitor
from aggregate.base.values import (
    THRESHOLD,
    Cut,
    Decided,
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
from aggregate.prompt.file_rendering import RenderedFiles, check_refused
from aggregate.prompt.focus import unknown_focus
from aggregate.prompt.layout import files_segments, section_segments
from aggregate.prompt.redact_prompt import FoundSecrets
from aggregate.prompt.request import Request
from aggregate.prompt.screenshots import find_screenshots
from aggregate.prompt.sections.discussion import OmittedTurns
from aggregate.prompt.sections.screenshots import screenshots_section
from aggregate.prompt.tier3 import is_focus, tier3_segments

if TYPE_CHECKING:
    from aggregate.base.values import Origin, SourceMap
    from aggregate.prompt.sections.subagent_results import OmittedResults, Results


class FileSource(Protocol):
    """Files for a prompt: read already, or while they are iterated; what it tells is complete after that."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each."""
        ...

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        ...

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files in the order of the prompt."""
        ...


class PromptStream:
    """A prompt while it is composed: its segments are made one after another, and it keeps none of their texts.

    Args:
        request: What to compose.
        files: The request's files.
        lay_out: Makes the Files section of them; by default as the request's strategy says.
        omitted_turns: The turns before those of the request, which are left out.
        omitted_results: The results before those of the request, which are left out.

    Attributes:
        choices: With a task or a budget: what was decided about each candidate; complete as ``rows`` is.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
    """

    def __init__(
        self,
        request: Request,
        files: FileSource,
        *,
        lay_out: Callable[[Iterable[RenderedFile]], Iterable[Segment]] | None = None,
        omitted_turns: OmittedTurns | None = None,
        omitted_results: "OmittedResults | None" = None,
    ) -> None:
        self.choices: Sequence[FileChoice] = ()
        self.cut: Sequence[Cut] = ()
        self.missing: Sequence[Missing] = ()
        self._rows: list[FileRow] = []
        self._lay_out = lay_out
        self._omitted_turns = omitted_turns
        self._omitted_results = omitted_results
        self._request = request
        self._files = files
        self._images: Sequence[Screenshot] = ()
        self._secrets = FoundSecrets(request.redaction)

    @property
    def rows(self) -> list[FileRow]:
        """What is told of each file; complete once all segments were made."""
        return self._rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each; complete once all segments were made."""
        images = (
            f"screenshot {image.path}: {image.problem}" for image in self._images if image.problem
        )
        doubts = *self._files.warnings, *self._unknown_focus()
        return (*doubts, *images, *self._secrets.warnings)

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        refused = [
            f"screenshot {image.path}: {image.refused}" for image in self._images if image.refused
        ]
        return (*self._files.refused, *refused)

    def __iter__(self) -> Iterator[Segment]:
        """Make the prompt's segments, in order; once."""
        request = self._request
        self._images = find_screenshots(
            request.screenshot_dir,
            request.screenshots,
            shown_from=request.shown_from,
            listing=FolderListing(request.scope),
        )
        segments = section_segments(
            self._files_section(),
            screenshots=screenshots_section(self._images),
            beads=_request_beads(request),
            results=request.results,
            history=request.history,
            omitted_turns=self._omitted_turns,
            omitted_results=self._omitted_results,
        )
        yield from map(self._secrets.shown_segment, segments)

    def _files_section(self) -> Iterable[Segment]:
        request = self._request
        if self._lay_out is not None:
            return self._lay_out(self._noted_files())
        if request.is_tier3:
            return iter(tier3_segments(self._noted_files(), request.focus_files))
        return files_segments(
            self._noted_files(), summary_only=request.summary_only, strategy=request.strategy
        )

    def _noted_files(self) -> Iterator[RenderedFile]:
        """Yield the files, and keep a row of each."""
        for file in self._files:
            self._rows.append(file.row)
            self._secrets.note_file(file.path, file.secrets)
            yield file

    def _unknown_focus(self) -> Iterator[str]:
        """Yield a warning for each focus file that names no file of the prompt; with a budget the pins tell of them."""
        request = self._request
        for focus in request.focus_paths if request.budget is None else request.focus_files:
            if not any(is_focus(row, [focus]) for row in self._rows):
                yield unknown_focus(focus, [row.path for row in self._rows])


def beads_text(execution_mode: str, base_dir: str | Path | None, *, root: str = "") -> str:
    """Return the section of beads, ``""`` in any other mode than ``"beads"``."""
    if execution_mode != BEADS_MODE:
        return ""
    # Its readers take 15 ms, and few projects have beads.
    from aggregate.prompt.beads_reading import build_beads_section

    return build_beads_section(base_dir or Path(), root=root)


def _request_beads(request: Request) -> str:
    mode = BEADS_MODE if request.beads else ""
    root = "" if request.scope.allow_outside else request.scope.root
    return beads_text(mode, request.base_dir, root=root)


class ComposedPrompt(Decided, Protocol):
    """A prompt as its writers see it, composed already or while its segments are iterated."""

    @property
    def rows(self) -> list[FileRow]:
        """What is told of each file, once all segments were made."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each, once all segments were made."""
        ...

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        ...

    def __iter__(self) -> Iterator[Segment]:
        """Yield the prompt's segments, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Composition:
    """A prompt and what it was made of.

    Attributes:
        prompt: The segments in order.
        files: The files, rendered.
        warnings: What was left out or is doubtful, one sentence each.
        refused: Those of the warnings that say what the scope does not allow.
        choices: With a task or a budget: what was decided about each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        base_dir: Where the files' paths begin.
    """

    prompt: Prompt
    files: tuple[RenderedFile, ...]
    warnings: tuple[str, ...]
    refused: tuple[str, ...] = ()
    choices: tuple[FileChoice, ...] = ()
    cut: tuple[Cut, ...] = ()
    missing: tuple[Missing, ...] = ()
    base_dir: Path = Path()
    _map: "SourceMap | None" = field(default=None, init=False, repr=False, compare=False)

    @property
    def source_map(self) -> "SourceMap":
        """Where each line of the prompt comes from (rule L-1); made when it is first asked for."""
        made = self._map
        if made is None:
            from aggregate.prompt.source_map import map_sources  # few ask

            made = map_sources(self.prompt.segments)
            object.__setattr__(self, "_map", made)  # a slotted class has no cached_property
        return made

    def origin(self, line: int) -> "Origin | None":
        """Return where the 1-based ``line`` of the prompt comes from, ``None`` where it has no such line."""
        return self.source_map.origin(line)

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a line of a file, else that stands for it, else ``None``.

        Args:
            path: The file, as the prompt shows its path.
            line: The 1-based line of the file.
        """
        return self.source_map.find(path, line)

    def shows(self, path: str, lines: Iterable[int]) -> bool:
        """Tell whether the prompt shows lines of a file as the file has them now.

        Args:
            path: The file, as the prompt shows its path.
            lines: 1-based lines, such as ``range(3, 9)``; none at all are not shown.
        """
        wanted = frozenset(lines)
        shown = self.source_map.verbatim_lines(path)
        file = next((file for file in self.files if file.path == path), None)
        if file is None or not wanted or not wanted <= shown:
            return False
        then, now = (
            text.split("\n") for text in (file.source, read_file(self.base_dir / path).text)
        )
        return all(line <= len(now) and then[line - 1] == now[line - 1] for line in wanted)

    @property
    def rows(self) -> list[FileRow]:
        """What is told of each file."""
        return [file.row for file in self.files]

    def __iter__(self) -> Iterator[Segment]:
        """Yield the prompt's segments."""
        return iter(self.prompt.segments)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """A record per file, as ``build_file_items`` returns them."""
        return tuple(file.to_record() for file in self.files)

    def check_scope(self) -> None:
        """Make sure that the prompt asks for nothing that its scope does not allow.

        Raises:
            ScopeError: It does; the message names the first file.
        """
        check_refused(self.refused)


@get_monitor().scope("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    """Lay out the prompt that ``request`` asks for from files that were read before."""
    stream = PromptStream(request, rendered)
    prompt = Prompt(tuple(stream))
    return Composition(
        prompt,
        rendered.files,
        stream.warnings,
        stream.refused,
        tuple(stream.choices),
        tuple(stream.cut),
        tuple(stream.missing),
        base_dir=request.base_dir,
    )


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results, each with its value below ``cache_dir`` where it is large.

    Args:
        results: What sub-agents found.
        cache_dir: Where large values are written.
        threshold: Bytes of JSON from which a value is large.
    """
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    from aggregate.prompt.references import compact_all  # 70 ms, needed only with results

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)
