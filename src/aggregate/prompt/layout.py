"""Sections to one prompt, in the order that keeps the changing parts behind the stable ones."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import tee
from typing import TYPE_CHECKING

from aggregate.base.values import RenderedFile, Section, Segment, Stability, ViewMode, ViewRequest
from aggregate.prompt.sections.discussion import Omitted, discussion_segments
from aggregate.prompt.sections.files import (
    FILES,
    FILES_SUMMARY,
    files_section,
    rendered_segment,
    view_segment,
)
from aggregate.prompt.view_pool import render_all

if TYPE_CHECKING:
    from aggregate.prompt.sections.subagent_results import Results


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
    omitted: tuple[Omitted | None, Omitted | None] = (None, None),
) -> Iterator[Segment]:
    """Yield the segments of all sections in their order, each only if not empty (rule M-9)."""
    yield from files
    if screenshots:
        yield Segment(Section.SCREENSHOTS, screenshots, Stability.STABLE)
    if beads:
        yield Segment(Section.BEADS, beads, Stability.SLOW)
    omitted_turns, omitted_results = omitted
    if results or omitted_results:
        from aggregate.prompt.sections.subagent_results import (
            results_segments,  # few prompts have results
        )

        yield from results_segments(results, omitted_results)
    yield from discussion_segments(history, omitted_turns)


def _summary_segments(files: Iterable[RenderedFile]) -> Iterator[Segment]:
    """Yield the files' digests, made from the raw texts (rule M-X2); what is forced to full, errors and notes stay."""
    shown, asked = tee(files)
    requests = (
        ViewRequest(
            file.path, file.source, ViewMode.NONE if _is_as_it_is(file) else ViewMode.SUMMARY
        )
        for file in asked
    )
    for file, view in zip(shown, render_all(requests), strict=True):
        if _is_as_it_is(file):
            yield rendered_segment(file)
        else:
            yield view_segment(file, ViewMode.SUMMARY, view)


def _is_as_it_is(file: RenderedFile) -> bool:
    return file.force_full or file.error or file.view_mode is ViewMode.NONE
