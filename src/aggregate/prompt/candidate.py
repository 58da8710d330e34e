"""A file that may be shown, and what may be shown of it once its text was read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from aggregate.base.text import split_lines
from aggregate.base.values import SEPARATOR, Level, View, ViewMode, ViewRequest
from aggregate.code.syntax import fence_tag
from aggregate.code.views import is_the_text
from aggregate.project.files import SourceFile
from aggregate.prompt.fit.lines import FileLines, Run
from aggregate.prompt.sections.files import file_block
from aggregate.prompt.selection import ResolvedFile
from aggregate.prompt.view_pool import render_all
from aggregate.ranking import RankedFile

_ON_DEMAND = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
"""Views that are shown as a whole: their lines were picked by the user, or are a digest."""
LEVELS = {mode: Level(mode.value) for mode in ViewMode}
"""The level that each view stands for."""


class Candidate(NamedTuple):
    """A file of the corpus that may be shown.

    Attributes:
        number: Its number in the corpus.
        file: What it is.
        mode: The most that is shown of it.
        ranked: Its score.
    """

    number: int
    file: ResolvedFile
    mode: ViewMode
    ranked: RankedFile

    @property
    def is_whole(self) -> bool:
        """Whether it is shown as a whole or not at all."""
        is_cells = self.mode is ViewMode.FULL and not is_the_text(self.file.path, self.mode)
        return self.mode in _ON_DEMAND or is_cells

    @property
    def most(self) -> Level:
        """The level that ``mode`` stands for."""
        return LEVELS[self.mode]


@dataclass(frozen=True, slots=True)
class OpenCandidate:
    """A candidate whose text was read.

    Attributes:
        candidate: The file.
        source: Its text.
        view: The most that is shown of it.
        lines: The lines of that.
    """

    candidate: Candidate
    source: SourceFile
    view: View
    lines: FileLines


def open_candidate(
    candidate: Candidate, source: SourceFile, count: Callable[[str], int]
) -> OpenCandidate | None:
    """Return a file with the most that is shown of it, ``None`` where its view cannot be made.

    Args:
        candidate: The file.
        source: What was read of it.
        count: Returns the tokens of a text.
    """
    view = _view(candidate, source.text)
    if view is None:
        return None
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    is_text = is_the_text(candidate.file.path, candidate.mode)
    place = _itself if is_text else _PlacesInView(view, len(texts))
    frame = count(_frame(candidate.file.path, view))
    lines = FileLines(texts, place, frame, is_whole=candidate.is_whole)
    return OpenCandidate(candidate, source, view, lines)


def _view(candidate: Candidate, text: str) -> View | None:
    path, mode, item = candidate.file.path, candidate.mode, candidate.file.item
    if is_the_text(path, mode):
        return View(text, (), fence_tag(path, text))
    request = ViewRequest(path, text, mode, item.ast_mask, tuple(item.custom_slices))
    view = next(iter(render_all([request], workers=1)))
    return view if isinstance(view, View) else None


def _frame(path: str, view: View) -> str:
    """Return what stands around the lines of a file, with as long a fence as any part of its text needs."""
    whole = file_block(path, view.text, language=view.language)
    empty = file_block(path, "", language=view.language)
    ticks = "`" * (len(whole) - len(whole.rstrip("`")))
    return empty.replace("```", ticks or "```") + SEPARATOR


class _PlacesInView:
    """Finds the lines of a view that lines of its file stand behind; those that come from nowhere are always shown."""

    def __init__(self, view: View, lines: int) -> None:
        self._spans = sorted(view.spans)
        covered = bytearray(lines)
        for span in self._spans:
            covered[span.start - 1 : span.end] = b"\1" * (span.end - span.start + 1)
        self._always = [(line, line) for line, mark in enumerate(covered, start=1) if not mark]

    def __call__(self, run: Run) -> Iterable[Run]:
        first, last = run
        places = list(self._always)
        for span in self._spans:
            if span.source_end < first or span.source_start > last:
                continue
            if span.end - span.start == span.source_end - span.source_start:
                start = max(first, span.source_start) - span.source_start
                end = min(last, span.source_end) - span.source_start
                places.append((span.start + start, span.start + end))
            else:
                places.append((span.start, span.end))
        return places


def _itself(run: Run) -> Iterable[Run]:
    return (run,)
