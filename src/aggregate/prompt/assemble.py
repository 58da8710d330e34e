"""From rendered files and everything else that a request names to the prompt."""

from collections.abc import Iterable, Iterator, Sequence
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
    Segment,
)
from aggregate.project.files import read_file
from aggregate.prompt.file_messages import check_refused
from aggregate.prompt.file_rendering import RenderedFiles
from aggregate.prompt.prompt_stream import PromptStream
from aggregate.prompt.request import Request

if TYPE_CHECKING:
    from aggregate.base.values import Origin, SourceMap
    from aggregate.prompt.sections.subagent_results import Results


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
