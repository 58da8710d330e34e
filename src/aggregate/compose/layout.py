"""Sections to one prompt, in the order that keeps the changing parts behind the stable ones."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from aggregate.compose.view_pool import render_all
from aggregate.models.prompt import Section, Segment, Stability
from aggregate.models.rendered_file import RenderedFile
from aggregate.models.view import ViewMode, ViewRequest
from aggregate.sections.discussion import OmittedTurns, discussion_segments
from aggregate.sections.files import (
    FILES,
    FILES_SUMMARY,
    files_section,
    rendered_segment,
    view_segment,
)

if TYPE_CHECKING:
    from aggregate.sections.subagent_results import OmittedResults, Results


class Strategy(StrEnum):
    """How files are rendered: each by its own view, or all by summaries (rule M-30)."""

    AUTO = "auto"
    SUMMARIZE = "summarize"
    FULL = "full"

    @classmethod
    def parse(cls, value: object) -> "Strategy":
        """Return the strategy that ``value`` names; any other value behaves like ``AUTO``."""
        try:
            return cls(str(value))
        except ValueError:
            return cls.AUTO


def files_segments(
    files: Iterable[RenderedFile],
    *,
    summary_only: bool = False,
    strategy: Strategy = Strategy.AUTO,
) -> Iterator[Segment]:
    """Yield the Files section: the strategy picks which one, each file's own view stays in force.

    Files with ``auto_aggregate`` off are left out.
    """
    in_prompt = (file for file in files if file.auto_aggregate)
    if is_summarized(strategy, summary_only=summary_only):
        return files_section(FILES_SUMMARY, _summary_segments(in_prompt))
    return files_section(FILES, map(rendered_segment, in_prompt))


def is_summarized(strategy: Strategy, *, summary_only: bool) -> bool:
    """Tell whether files are shown by their summaries, which are made of their own texts."""
    return strategy is Strategy.SUMMARIZE or (strategy is Strategy.AUTO and summary_only)


def section_segments(
    files: Iterable[Segment],
    *,
    screenshots: str,
    beads: str,
    history: Sequence[object],
    results: "Sequence[Results]" = (),
    omitted_turns: OmittedTurns | None = None,
    omitted_results: "OmittedResults | None" = None,
) -> Iterator[Segment]:
    """Yield the segments of all sections in their order, each only if not empty (rule M-9)."""
    yield from files
    yield from _section_segment(Section.SCREENSHOTS, screenshots, Stability.STABLE)
    yield from _section_segment(Section.BEADS, beads, Stability.SLOW)
    yield from _results_segments(results, omitted_results)
    yield from discussion_segments(history, omitted_turns)


def _summary_segments(files: Iterable[RenderedFile]) -> Iterator[Segment]:
    """Yield the files' digests, made from the raw texts (rule M-X2).

    Files forced to full (rule M-X3), errors and files excluded on purpose are shown as they are.
    """
    waiting: deque[tuple[RenderedFile, ViewRequest]] = deque()

    def requests() -> Iterator[ViewRequest]:
        for file in files:
            is_as_it_is = file.force_full or file.error or file.view_mode is ViewMode.NONE
            mode = ViewMode.NONE if is_as_it_is else ViewMode.SUMMARY
            waiting.append((file, ViewRequest(file.path, file.source, mode)))
            yield waiting[-1][1]

    for view in render_all(requests()):
        file, request = waiting.popleft()
        if request.mode is ViewMode.NONE:
            yield rendered_segment(file)
        else:
            yield view_segment(file, request.mode, view)


def _section_segment(section: Section, text: str, stability: Stability) -> tuple[Segment, ...]:
    """Return a whole section as one segment, none where it is empty."""
    return (Segment(section, text, stability),) if text else ()


def _results_segments(
    results: "Sequence[Results]", omitted: "OmittedResults | None"
) -> tuple[Segment, ...]:
    if not results and omitted is None:
        return ()
    from aggregate.sections.subagent_results import results_segments  # few prompts have results

    return results_segments(results, omitted)
