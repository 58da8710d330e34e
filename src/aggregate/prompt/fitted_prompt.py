"""A prompt within a budget as text: what a fit shows of the files, the other sections, and what is not shown."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.text import heading_text
from aggregate.base.values import (
    SEPARATOR,
    Budget,
    FileOrder,
    Prompt,
    RenderedFile,
    Section,
    row_maker,
)
from aggregate.prompt.assemble import Composition, PromptStream
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.file_reading import Reading
from aggregate.prompt.file_rendering import (
    RenderedFiles,
    error_sentence,
    noted_file,
    refusals,
)
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.focus import ALL_FILES
from aggregate.prompt.layout import is_summarized
from aggregate.prompt.pins import Pins
from aggregate.prompt.ranked_files import ReadFiles
from aggregate.prompt.request import Request
from aggregate.prompt.section_shares import OtherSections
from aggregate.prompt.sections.files import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    files_section,
    rendered_segment,
)
from aggregate.prompt.sections.not_shown import HiddenFile, not_shown
from aggregate.prompt.selection import ResolvedFile, omission_remark

_PINS_NAMED = 3
"""The largest of the pins that a budget is too small for; one of these is what to shorten."""


class FittedPrompt(NamedTuple):
    """A prompt that shows what a fit does.

    Attributes:
        composition: The prompt.
        tokens: How many it has.
        fit: What is shown of the files.
        others: What is shown besides.
        named: The paths of the files of which it shows nothing but the names.
    """

    composition: Composition
    tokens: int
    fit: Fit
    others: OtherSections
    named: Set[str]


class FittedPrompts:
    """Lays out prompts that show what a fit does, and counts them exactly.

    Args:
        request: What to compose.
        files: Its files.
        candidates: Those that may be shown.
        pins: What is shown whatever it costs.
        pinned: The numbers of its files; they are shown also where they are empty.
        count: Returns the tokens of a text.
    """

    def __init__(
        self,
        request: Request,
        files: ReadFiles,
        candidates: Candidates,
        pins: Pins,
        *,
        pinned: Collection[int],
        count: Callable[[str], int],
    ) -> None:
        others = files.corpus.others
        self._files = files
        self._request = request
        self._candidates = candidates
        self._doubts = (*request.doubts, *pins.doubts)
        self._pinned = pinned
        self._count = count
        self._unreadable = [
            noted_file(other.file, other.source)
            for other in others
            if not other.file.is_remark and _is_asked_for(other)
        ]
        self._remarks = [other.file for other in others if other.file.is_remark]
        self._remarks += _unreadable_of_all(others)
        self._refused = refusals(files.selection)

    def prompt(
        self,
        budget: Budget,
        fit: Fit,
        others: OtherSections,
        *,
        remainder: int = 0,
        with_notes: bool = False,
    ) -> FittedPrompt:
        """Return the prompt that shows what ``fit`` does.

        Args:
            budget: In which order the files stand.
            fit: What is shown of the files.
            others: What is shown besides.
            remainder: The most tokens for what is not shown, ``0`` for no such list.
            with_notes: Whether excluded files and what globs leave out stand in it too, as without a budget.
        """
        notes = self._notes if with_notes else ()
        files = tuple(self._rendered(fit, budget.order, notes))
        hidden = self.hidden(fit) if remainder else []
        named, segments = not_shown(hidden, limit=remainder, count=self._count)
        stream = PromptStream(
            replace(self._request, history=others.history.turns, results=others.results.results),
            RenderedFiles(files, self._warnings(files), self._refused),
            lay_out=lambda shown: files_section(
                self._title, chain(map(rendered_segment, shown), segments)
            ),
            omitted_turns=others.history.omitted,
            omitted_results=others.results.omitted,
        )
        composition = Composition(
            Prompt(tuple(stream)),
            files,
            stream.warnings,
            stream.refused,
            base_dir=self._request.base_dir,
        )
        tokens = sum(segment_tokens(composition.prompt, self._count))
        paths = {file.path for file in hidden[:named]}
        return FittedPrompt(composition, tokens, fit, others, paths)

    def _warnings(self, files: Iterable[RenderedFile]) -> tuple[str, ...]:
        """Return what was left out or is doubtful, one sentence each."""
        remarks = {remark.path: f"{remark.path}: {remark.problem}" for remark in self._remarks}
        errors = (error_sentence(file) for file in files if file.error and file.path not in remarks)
        paths = (file.path for file in files)
        noted = self._files.reader.warnings(self._files.selection, errors, shown=paths)
        return (*self._doubts, *noted, *remarks.values())

    def file_tokens(self, composition: Composition) -> dict[str, int]:
        """Return the tokens of each file's block with the separator behind it, by its path."""
        segments = composition.prompt.segments
        tokens = segment_tokens(composition.prompt, self._count)
        return {
            segment.source: count
            for segment, count in zip(segments, tokens, strict=True)
            if segment.section is Section.FILES and segment.source
        }

    def too_small(self, budget: Budget, pinned: Composition) -> BudgetError:
        """Return the error that the pins exceed a budget; ``pinned`` shows nothing else."""
        tokens = segment_tokens(pinned.prompt, self._count)
        smallest = sum(tokens)
        sizes = [
            (count, segment.source or segment.section.value)
            for count, segment in zip(tokens, pinned.prompt.segments, strict=True)
        ]
        sizes.sort(key=lambda size: (-size[0], size[1]))
        largest = ", ".join(
            f"{heading_text(name)} ({count:,})" for count, name in sizes[:_PINS_NAMED]
        )
        reason = (
            f"what must be shown has {smallest:,} tokens, more than the budget of {budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)

    def _rendered(
        self, fit: Fit, order: FileOrder, notes: Iterable[RenderedFile]
    ) -> list[RenderedFile]:
        """Return the files that are shown in the order of the prompt, and notes in their places or behind."""
        by_number = self._candidates.by_number
        shown = {
            by_number[number].file.path: self._candidates.rendered(number, state)
            for number, state in fit.shown.items()
            if not state.is_empty or number in self._pinned
        }
        shown.update((file.path, file) for file in (*self._unreadable, *notes))
        places, last = self._places, len(self._places)
        configured = sorted(shown.values(), key=lambda file: places.get(file.path, last))
        return self._by_the_edges(configured) if order is FileOrder.EDGES else configured

    @cached_property
    def _notes(self) -> Sequence[RenderedFile]:
        """What a prompt without a budget shows besides: files that are excluded on purpose, and remarks."""
        corpus, by_number = self._files.corpus, self._candidates.by_number
        excluded = (
            noted_file(file, corpus.source(number))
            for number, file in enumerate(corpus.shown)
            if number not in by_number and file.item.auto_aggregate
        )
        remarks = (each for each in corpus.others if each.file.is_remark and _is_asked_for(each))
        return (*excluded, *(noted_file(remark.file, remark.source) for remark in remarks))

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The files' places in the prompt."""
        return {file.path: place for place, file in enumerate(self._files.selection.files)}

    @cached_property
    def _rank_by_path(self) -> Mapping[str, int]:
        return {
            candidate.file.path: rank
            for rank, candidate in enumerate(self._candidates.in_rank_order)
        }

    def _by_the_edges(self, files: Sequence[RenderedFile]) -> list[RenderedFile]:
        """Return files with the most relevant one last, the next one first, and so on to the middle."""
        last = len(self._rank_by_path)
        ranked = sorted(files, key=lambda file: self._rank_by_path.get(file.path, last))
        return [*ranked[1::2], *ranked[::2][::-1]]

    def hidden(self, fit: Fit) -> list[HiddenFile]:
        """Return the candidates of which nothing is shown, the most relevant first."""
        shown = {number for number, state in fit.shown.items() if not state.is_empty}
        estimates = self._candidates.estimates
        new_file = row_maker(HiddenFile)
        return [
            new_file((file.path, estimates[number]))
            for number, file, *_ in self._candidates.in_rank_order
            if number not in shown
        ]

    @property
    def _title(self) -> str:
        request = self._request
        if request.is_tier3:
            return FILES_TIER3
        is_summary = is_summarized(request.strategy, summary_only=request.summary_only)
        return FILES_SUMMARY if is_summary else FILES


def _is_asked_for(file: Reading) -> bool:
    """Tell whether the user has named a file, or the glob that it belongs to."""
    return file.file.item.path != ALL_FILES


def _unreadable_of_all(others: Sequence[Reading]) -> list[ResolvedFile]:
    """Return a remark on the files that cannot be read and that nobody has named, by a glob of theirs or at all."""
    unnamed = [
        other.file
        for other in others
        if not other.file.is_remark
        and not _is_asked_for(other)
        and other.file.path != ALL_FILES  # it matched nothing: there is no file at all
    ]
    paths = [file.path for file in unnamed]
    return [omission_remark(unnamed[0].entry, "unreadable", paths)] if unnamed else []


def segment_tokens(prompt: Prompt, count: Callable[[str], int]) -> list[int]:
    """Return the exact tokens of each segment with the separator behind it."""
    texts = [segment.text for segment in prompt.segments]
    return [count(text + SEPARATOR) for text in texts[:-1]] + [count(text) for text in texts[-1:]]
