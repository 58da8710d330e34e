"""One prompt within a number of tokens: laid out, filled with lines, laid out again until it fits and is full."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.monitor import get_monitor
from aggregate.base.text import heading_text
from aggregate.base.values import (
    SEPARATOR,
    Budget,
    FileChoice,
    FileOrder,
    Level,
    RenderedFile,
    Section,
    ViewMode,
)
from aggregate.code.views import is_the_text
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition
from aggregate.prompt.candidates import LEVELS, Candidates
from aggregate.prompt.file_reading import Reading
from aggregate.prompt.file_rendering import RenderedFiles, error_sentence, noted_file
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.kept_levels import keep_levels
from aggregate.prompt.fit.steps import (
    ALL_LINES,
    CHARACTERS_PER_TOKEN,
    WITH_TASK,
    Fittable,
    Run,
    StepOrder,
)
from aggregate.prompt.layout import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    files_section,
    rendered_segment,
)
from aggregate.prompt.ranked_files import ReadFiles, rank_files
from aggregate.prompt.request import ALL_FILES, Request
from aggregate.prompt.section_shares import OtherSections, fit_sections, least_sections, with_more
from aggregate.prompt.sections.not_shown import most_tokens, not_shown
from aggregate.prompt.selection import omission_remark
from aggregate.ranking import WEIGHTS

# Further files that are put in order when all of those are shown, and twice as many each time.
_FIRST_OTHERS = 100
_REMAINDER = 0.025  # Of the budget, for what is not shown; the contract allows 0.03 (rule B-7)
_LEAST_REMAINDER = 64  # Tokens for it in any case (rule B-7)
# The part of signatures where nobody says what for: breadth tells more of a project than some whole functions.
_WITHOUT_TASK = 0.5
# How often a prompt is laid out again, that is a little over or has room: each round leaves a fraction of that.
_ROUNDS = 4
_NEXT = 0.1  # The part of the budget by which the audit says what more of it would buy (rule A-1)
_LONGEST = 128  # Characters of the longest token of o200k, which is blanks
_ALL = 1 << 62  # More tokens than there are
# The largest of the pins that a budget is too small for; one of these is what to shorten.
_PINS_NAMED = 3


@get_monitor().scope("compose_within_budget")
def compose_within_budget(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: ReadFiles | None = None,
) -> Composition:
    """Compose the prompt that ``request`` asks for within its budget (rules B-1 to B-8).

    Args and errors are those of ``rank_files``.
    """
    ranked = rank_files(
        request, index=index, weights=weights, on_start=on_start, on_done=on_done, files=files
    )
    return fit_prompt(request, Candidates(request, ranked, index=index))


def fit_prompt(request: Request, files: Candidates) -> Composition:
    """Compose the prompt that shows as much of the files as the request's budget allows."""
    if request.budget is None:
        raise ValueError("a prompt without a budget is not fitted")
    return _Filling(request, request.budget, files).prompt()


class _Fitted(NamedTuple):
    """A prompt that shows a fit and other sections: tokens by segment, what is left of the budget, names alone."""

    composition: Composition
    tokens: list[int]
    left: int
    fit: Fit
    others: OtherSections
    named: Set[str]

    @property
    def file_tokens(self) -> dict[str, int]:
        segments = self.composition.prompt.segments
        return {
            segment.source: tokens
            for segment, tokens in zip(segments, self.tokens, strict=True)
            if segment.section is Section.FILES and segment.source
        }


@dataclass(frozen=True, slots=True)
class _Filling:
    request: Request
    budget: Budget
    files: Candidates

    def prompt(self) -> Composition:
        least = least_sections(self.request, self.files.count)
        fitted = self._whole(least) or self._filled(least)
        fit, shown = fitted.fit, _marks(fitted.fit)
        if not fit.is_exhausted:
            fit.advance(fit.spent + int(self.budget.tokens * _NEXT))
        choices = _choices(self.files, shown, _marks(fit), fitted.file_tokens, fitted.named)
        missing = tuple(self.files.ranked.ranking.missing)
        return replace(fitted.composition, choices=choices, cut=fitted.others.cuts, missing=missing)

    def _whole(self, least: OtherSections) -> _Fitted | None:
        """Return the prompt that shows all (rule B-12), ``None`` where that, file by file, exceeds the budget."""
        candidates, estimates = self.files.in_rank_order, self.files.estimates
        as_they_are = (each for each in candidates if is_the_text(each.file.path, each.mode))
        characters = CHARACTERS_PER_TOKEN * sum(estimates[each.number] for each in as_they_are)
        left = self.budget.tokens
        if characters > left * _LONGEST:
            return None
        fit = self._new_fit()
        for candidate in candidates:
            fit.keep(candidate.number, (ALL_LINES,))
            if state := fit.shown.get(candidate.number):
                block = rendered_segment(self.files.rendered(candidate.number, state)).text
                left -= self.files.count(block + SEPARATOR)
            if left < 0:
                return None
        fit.is_exhausted = True
        others = with_more(self.request, least, least, left=_ALL, count=self.files.count)
        for notes in (_notes(self.files), ()):
            fitted = self._laid_out(fit, others, notes=notes)
            if fitted.left >= 0:
                return fitted
        return None

    def _filled(self, least: OtherSections) -> _Fitted:
        pinned = self._laid_out(self._new_fit(), least)
        if pinned.left < 0:
            raise self._too_small(pinned)
        fitted = self._within(least, pinned.left, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.kept:
            fitted = self._within(least, pinned.left, self._kept_lines(fitted)) or fitted
        if not (fitted.others.cuts and fitted.fit.is_exhausted):
            return fitted
        # The other sections get what the files leave, which are all shown: what is shown of the files stays, so that a
        # larger budget never shows less of them.
        count = self.files.count
        others = with_more(self.request, fitted.others, least, left=fitted.left, count=count)
        room = self._laid_out(fitted.fit, others).left
        more = self._laid_out(fitted.fit, others, remainder=max(min(room, self._reserve), 0))
        return fitted if more.left < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(
        self, least: OtherSections, room: int, kept: Mapping[int, tuple[Run, ...]]
    ) -> _Fitted | None:
        """Return the prompt with as much as fits into the ``room`` that pins leave, ``None`` where nothing does."""
        count = self.files.count
        others = fit_sections(self.request, self.budget, least, room=room, count=count)
        limit = room - others.reserved - count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve
        if kept:
            pins_alone = self._laid_out(self._new_fit(), others)
            target -= pins_alone.left - self._laid_out(self._new_fit(kept), others).left
        for _ in range(_ROUNDS):
            fit = self._new_fit(kept)
            bare = self._laid_out(fit, others).left
            filled = self._advanced(fit, others, target, bare)
            # Not what is left: that may be less with a larger budget, and the files must not have less then.
            spare = reserve - most_tokens(self._hidden(fit), limit=reserve, count=count)
            if spare > 0:
                filled = self._advanced(fit, others, target + spare, bare)
            prompt = self._laid_out(fit, others, remainder=max(min(filled.left, reserve), 0))
            if prompt.left >= 0:
                return prompt
            target += prompt.left - _LEAST_REMAINDER
        return None

    def _advanced(self, fit: Fit, others: OtherSections, target: int, bare: int) -> _Fitted:
        """Take steps for ``target`` more tokens than what left ``bare``; return the prompt without the remainder."""
        fit.advance(max(target, 0))
        fitted = self._laid_out(fit, others)
        for _ in range(_ROUNDS):
            # Lines that stand together have fewer tokens than their prices add up to.
            slack = fit.spent - (bare - fitted.left)
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            fitted = self._laid_out(fit, others)
        return fitted

    def _kept_lines(self, fitted: _Fitted) -> dict[int, tuple[Run, ...]]:
        """Return the lines that stay as they were sent, given what would be shown for this task alone (rule B-9)."""
        numbers = {each.file.path: each.number for each in self.files.in_rank_order}
        tokens, marks = fitted.file_tokens, _marks(fitted.fit)
        choices = _choices(self.files, marks, marks, tokens, fitted.named)
        hashes = {choice.path: choice.content_hash for choice in choices}
        sent = [file for file in self.request.kept if file.path in numbers]
        left = fitted.left if fitted.fit.is_exhausted else 0
        kept = {
            # Of a file that has changed nothing is known to be the same, unless all of it was shown.
            numbers[file.path]: file.lines
            if file.content_hash == hashes[file.path]
            else (ALL_LINES,) * (file.level is Level.FULL)
            for file in keep_levels(sent, choices, room=sum(tokens.values()) + left)
        }
        return {number: runs for number, runs in kept.items() if runs}

    def _new_fit(self, kept: Mapping[int, tuple[Run, ...]] | None = None) -> Fit:
        """Return a fit in which only the pins are shown, and what stays of a discussion's last prompt."""
        share = _WITHOUT_TASK if self.files.ranked.question.is_empty else WITH_TASK
        fit = Fit(StepOrder(_groups(self.files), share), self.files.lines, self.files.count)
        for number, runs in self.files.pinned.items():
            fit.pin(number, runs)
        fit.spent = 0
        for number, runs in (kept or {}).items():
            fit.keep(number, runs)
        return fit

    def _laid_out(
        self,
        fit: Fit,
        others: OtherSections,
        *,
        remainder: int = 0,
        notes: Sequence[RenderedFile] = (),
    ) -> _Fitted:
        """Return the prompt that shows what ``fit`` and ``others`` do, and ``notes`` as without a budget.

        ``remainder`` is the most tokens for what is not shown, ``0`` for no such list.
        """
        request, read = self.request, self.files.files
        unreadable = [
            noted_file(other.file, other.source)
            for other in read.corpus.others
            if not other.file.is_remark and _is_asked_for(other)
        ]
        files = self._in_order(fit, [*unreadable, *notes])
        hidden = self._hidden(fit) if remainder else []
        named, segments = not_shown(hidden, limit=remainder, count=self.files.count)
        title = FILES_SUMMARY if request.is_summary else FILES
        title = FILES_TIER3 if request.is_tier3 else title
        composition = Composition(
            replace(request, history=others.history.shown, results=others.results.shown),
            RenderedFiles(tuple(files), self._warnings(files), self.files.refused),
            lay_out=lambda shown: files_section(
                title, chain(map(rendered_segment, shown), segments)
            ),
            omitted=(others.history.omitted, others.results.omitted),
        ).composed()
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [self.files.count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [self.files.count(text) for text in texts[-1:]]
        names = {path for path, _ in hidden[:named]}
        return _Fitted(composition, tokens, self.budget.tokens - sum(tokens), fit, others, names)

    def _in_order(self, fit: Fit, notes: Sequence[RenderedFile]) -> list[RenderedFile]:
        files = self.files
        shown = {
            files.by_number[number].file.path: files.rendered(number, state)
            for number, state in fit.shown.items()
            if not state.is_empty or number in files.pinned
        }
        shown.update((file.path, file) for file in notes)
        numbers, last = files.positions, len(files.positions)
        configured = sorted(shown.values(), key=lambda file: numbers.get(file.path, last))
        if self.budget.order is not FileOrder.EDGES:
            return configured
        # The most relevant one stands last, the next one first, and so on to the middle.
        ranks = {each.file.path: rank for rank, each in enumerate(files.in_rank_order)}
        ranked = sorted(configured, key=lambda file: ranks.get(file.path, len(ranks)))
        return [*ranked[1::2], *ranked[::2][::-1]]

    def _warnings(self, files: Sequence[RenderedFile]) -> tuple[str, ...]:
        read = self.files.files
        remarks = [other.file for other in read.corpus.others if other.file.is_remark]
        unnamed = [
            other.file
            for other in read.corpus.others
            if not other.file.is_remark
            and not _is_asked_for(other)
            and other.file.path != ALL_FILES  # it matched nothing: there is no file at all
        ]
        if unnamed:
            paths_of_all = [file.path for file in unnamed]
            remarks.append(omission_remark(unnamed[0].entry, "unreadable", paths_of_all))
        told = {remark.path: f"{remark.path}: {remark.problem}" for remark in remarks}
        errors = (error_sentence(file) for file in files if file.error and file.path not in told)
        paths = (file.path for file in files)
        noted = read.reader.warnings(read.selection, errors, shown=paths)
        return (*self.request.doubts, *self.files.pins.doubts, *noted, *told.values())

    def _hidden(self, fit: Fit) -> list[tuple[str, int]]:
        """Return the candidates of which nothing is shown with their sizes, the most relevant first."""
        shown = {number for number, state in fit.shown.items() if not state.is_empty}
        estimates = self.files.estimates
        return [
            (file.path, estimates[number])
            for number, file, *_ in self.files.in_rank_order
            if number not in shown
        ]

    def _too_small(self, pinned: _Fitted) -> BudgetError:
        smallest = sum(pinned.tokens)
        names = [each.source or each.section.value for each in pinned.composition.prompt.segments]
        sizes = sorted(zip(pinned.tokens, names, strict=True), key=lambda each: (-each[0], each[1]))
        largest = ", ".join(
            f"{heading_text(name)} ({size:,})" for size, name in sizes[:_PINS_NAMED]
        )
        reason = (
            f"what must be shown has {smallest:,} tokens, more than the budget of {self.budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)


def _marks(fit: Fit) -> dict[int, bytes]:
    return {number: bytes(state.marks) for number, state in fit.shown.items()}


def _groups(files: Candidates) -> Iterator[Sequence[Fittable]]:
    ranked = [each.number for each in files.in_rank_order if each.ranked.pieces]
    others = [each.number for each in files.in_rank_order if not each.ranked.pieces]
    if ranked:
        yield files.fittables(ranked)
    size = _FIRST_OTHERS
    while others:
        yield files.fittables(others[:size])
        others, size = others[size:], size * 2


def _choices(
    files: Candidates,
    shown: Mapping[int, bytes],
    later: Mapping[int, bytes],
    tokens: Mapping[str, int],
    named: Set[str],
) -> tuple[FileChoice, ...]:
    """Return what was decided about each file that was asked for, by the lines that are shown and, with more, later."""
    numbers = {files.by_number[number].file.path: number for number in later}
    choices: list[FileChoice] = []
    for file in files.files.selection.files:
        path = file.path
        if file.is_remark or path == ALL_FILES:  # the glob itself, which matched nothing
            continue
        if path in numbers:
            number = numbers[path]
            marks = shown.get(number, b"")
            choice = files.choice(number, marks, later[number], tokens=tokens.get(path, 0))
        elif path in files.hidden:  # as most are: nothing of them is shown, whatever the budget
            choice = files.hidden[path]
        else:  # excluded, unreadable, or binary
            is_excluded = file.entry.view_mode is ViewMode.NONE or not file.item.auto_aggregate
            level = Level.NONE if is_excluded else Level.LEFT_OUT
            most, size = LEVELS[file.entry.view_mode], tokens.get(path, 0)
            choice = FileChoice(path, file.item.path, level, most, tokens=size)
        choices.append(choice._replace(level=Level.NAME) if path in named else choice)
    return tuple(choices)


def _notes(files: Candidates) -> Sequence[RenderedFile]:
    """Return files that are excluded on purpose, and remarks, which a prompt without a budget shows besides."""
    corpus = files.files.corpus
    excluded = (
        noted_file(file, corpus.source(number))
        for number, file in enumerate(corpus.shown)
        if number not in files.by_number and file.item.auto_aggregate
    )
    remarks = (each for each in corpus.others if each.file.is_remark and _is_asked_for(each))
    return (*excluded, *(noted_file(remark.file, remark.source) for remark in remarks))


def _is_asked_for(file: Reading) -> bool:
    """Tell whether the user has named a file, or the glob that it belongs to."""
    return file.file.item.path != ALL_FILES
