"""A prompt within a number of tokens: what enters is chosen by a ranking, and all that was decided is told."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from aggregate.budget.fit import Fit
from aggregate.budget.lines import Run
from aggregate.budget.steps import WITH_TASK, Fittable, StepOrder
from aggregate.compose.asking import ALL_FILES
from aggregate.compose.assemble import Composition, PromptStream
from aggregate.compose.candidates import Candidates
from aggregate.compose.choices import FitStates, choices_of
from aggregate.compose.file_rendering import error_file
from aggregate.compose.fitted_files import FittedFiles, fitted_section
from aggregate.compose.kept_files import kept_lines
from aggregate.compose.layout import is_summarized
from aggregate.compose.pins import ALL_LINES, Pins, runs_around
from aggregate.compose.ranked_files import RankedFiles, ReadFiles, rank_files
from aggregate.compose.request import Request
from aggregate.compose.section_shares import (
    NO_RESULTS,
    FittedHistory,
    FittedResults,
    fit_history,
    fit_results,
)
from aggregate.compose.selection import ResolvedFile, omission_remark
from aggregate.errors import BudgetError
from aggregate.index.store import Index
from aggregate.models.budget import Budget, FileOrder
from aggregate.models.prompt import SEPARATOR, Prompt, Section, Segment
from aggregate.models.rendered_file import RenderedFile
from aggregate.models.view import ViewMode
from aggregate.monitor import get_monitor
from aggregate.ranking.weights import WEIGHTS
from aggregate.sections.files import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
)
from aggregate.sections.not_shown import HiddenFile, not_shown_segment
from aggregate.text.fences import heading_text
from aggregate.tokens.saved_counts import SavedCounts

_FIRST_OTHERS = 100
"""Further files that are put in order when all of those are shown, and twice as many each time."""
_REMAINDER = 0.025
"""Of the budget, for what is not shown; the contract allows 0.03 (rule B-7)."""
_LEAST_REMAINDER = 64
_WITHOUT_TASK = 0.5
"""The part of signatures where nobody says what for: breadth tells more of a project than some whole functions."""
_ROUNDS = 4
_NEXT = 0.1
"""The part of the budget by which the audit says what more of it would buy (rule A-1)."""
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

    Args:
        request: What to compose.
        index: Where what follows from files is kept from run to run.
        weights: How much each kind of evidence counts.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
        files: The request's files, where they were read before.

    Raises:
        BudgetError: What must be shown has more tokens.
        ConfigError: The base directory, the rules of what to leave out, or a revision cannot be used.
    """
    ranked = rank_files(
        request,
        index=index,
        weights=weights,
        on_start=on_start,
        on_done=on_done,
        files=files,
    )
    return _Composing(request, index, ranked).composition()


class _Composing:
    """One prompt within a budget, from its files to its text."""

    def __init__(self, request: Request, index: Index, ranked: RankedFiles) -> None:
        if request.budget is None:
            raise ValueError("a prompt without a budget is not fitted")
        self._request = request
        self._budget: Budget = request.budget
        self._count = SavedCounts(index)
        self._is_summary = is_summarized(request.strategy, summary_only=request.summary_only)
        self._selection = ranked.selection
        self._reader = ranked.reader
        self._corpus = ranked.corpus
        self._question = ranked.question
        self._ranking = ranked.ranking
        self._pins = Pins.of(request, self._selection.files)
        self._candidates = Candidates(
            self._corpus,
            self._ranking.files,
            mode_of=self._mode,
            count=self._count,
            by_structure=self._question.is_empty,
        )
        self._pinned = self._pinned_runs()
        self._kept: dict[int, tuple[Run, ...]] = {}
        self._unreadable = self._messages()
        self._remarks = [other.file for other in self._corpus.others if other.file.is_remark]
        self._remarks += self._unreadable_of_all()

    def composition(self) -> Composition:
        """Return the prompt.

        Raises:
            BudgetError: The pins do not fit.
        """
        least = _Others(fit_history(self._request.history, 0, self._count), NO_RESULTS)
        pinned = self._composed(self._new_fit(), least, 0)
        room = self._budget.tokens - self._total(pinned)
        if room < 0:
            raise self._too_small(pinned)
        composed = self._within(least, room)
        if composed is None:  # not even a line fits beside the pins
            return self._told(pinned, self._new_fit(), least)
        if self._request.kept:
            self._kept = self._kept_lines(*composed)
            composed = self._within(least, room) or composed
        composition, fit, others = composed
        left = self._budget.tokens - self._total(composition)
        if others.are_cut and left > 0 and fit.is_exhausted:
            composition, others = self._with_others(fit, others, least, left) or composed[::2]
        return self._told(composition, fit, others)

    def _with_others(
        self, fit: Fit, others: "_Others", least: "_Others", left: int
    ) -> "tuple[Composition, _Others] | None":
        """Return the prompt in which the other sections get what the files leave, which are all shown.

        Args:
            fit: What is shown of the files; that stays, so that a larger budget never shows less of them.
            others: The other sections within their shares.
            least: The other sections at their least.
            left: The tokens that nobody uses, first for turns, then for results.

        Returns:
            ``None`` where it exceeds the budget.
        """
        request, shown = self._request, others.history.tokens
        history = fit_history(request.history, shown - least.history.tokens + left, self._count)
        left -= history.tokens - shown
        results = fit_results(request, others.results.tokens + left, self._count)
        more = _Others(history, results)
        left = self._budget.tokens - self._total(self._composed(fit, more, 0))
        composition = self._composed(fit, more, max(min(left, self._reserve), 0))
        fits = self._total(composition) <= self._budget.tokens
        return (composition, more) if fits else None

    @property
    def _reserve(self) -> int:
        """The most tokens for what is not shown."""
        return max(_LEAST_REMAINDER, int(self._budget.tokens * _REMAINDER))

    def _within(self, least: "_Others", room: int) -> "tuple[Composition, Fit, _Others] | None":
        """Return the prompt with as much as fits, ``None`` where nothing does beside the pins.

        Args:
            least: The other sections at their least.
            room: The tokens that the pins leave.
        """
        budget = self._budget
        share_of_history, share_of_results = (
            int(room * share) for share in (budget.history, budget.results)
        )
        others = _Others(
            fit_history(self._request.history, share_of_history, self._count),
            fit_results(self._request, share_of_results, self._count),
        )
        # The shares count, not what whole turns take of them: else a turn more would leave less for the files.
        taken = min(share_of_history, others.history.needed - least.history.tokens)
        taken += min(share_of_results, others.results.needed)
        reserve = self._reserve
        limit = room - taken - self._count(f"{FILES_TIER3}{SEPARATOR}")
        target = limit - min(reserve, limit // 2) - self._kept_tokens(others)
        for _ in range(_ROUNDS):
            fit = self._new_fit()
            bare = self._total(self._composed(fit, others, 0))
            composition = self._filled(fit, others, bare, target)
            left = budget.tokens - self._total(composition)
            composition = self._composed(fit, others, max(min(left, reserve), 0))
            over = self._total(composition) - budget.tokens
            if over <= 0:
                return composition, fit, others
            target -= over + _LEAST_REMAINDER
        return None

    def _filled(self, fit: Fit, others: "_Others", bare: int, target: int) -> Composition:
        """Take steps of ``fit`` for ``target`` tokens; return the prompt, without what is not shown.

        Args:
            fit: Shows the pins only.
            others: The other sections.
            bare: The tokens of the prompt so far.
            target: How many more there may be.
        """
        fit.advance(max(target, 0))
        composition = self._composed(fit, others, 0)
        for _ in range(_ROUNDS):
            # Lines that stand together have fewer tokens than their prices add up to.
            slack = bare + fit.spent - self._total(composition)
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            composition = self._composed(fit, others, 0)
        return composition

    def _kept_lines(
        self, composition: Composition, fit: Fit, others: "_Others"
    ) -> dict[int, tuple[Run, ...]]:
        """Return the lines that stay of a discussion's last prompt, given what would be shown for this task alone."""
        tokens = self._file_tokens(composition)
        left = self._budget.tokens - self._total(composition)
        return kept_lines(
            self._request.kept,
            self._candidates,
            fit,
            tokens=tokens,
            pinned=frozenset(self._pinned),
            room=sum(tokens.values()) + (left if fit.is_exhausted else 0),
        )

    def _kept_tokens(self, others: "_Others") -> int:
        """Return the tokens of the lines that stay, beyond those of the pins."""
        if not self._kept:
            return 0
        with_kept = self._total(self._composed(self._new_fit(), others, 0))
        pins = self._total(self._composed(self._new_fit(keeping=False), others, 0))
        return with_kept - pins

    def _new_fit(self, *, keeping: bool = True) -> Fit:
        """Return a fit in which only the pins are shown, and what stays of a discussion's last prompt."""
        share = _WITHOUT_TASK if self._question.is_empty else WITH_TASK
        fit = Fit(StepOrder(self._groups(), share), self._candidates.lines, self._count)
        for number, runs in self._pinned.items():
            fit.pin(number, runs)
        fit.spent = 0
        if keeping:
            for number, runs in self._kept.items():
                fit.keep(number, runs)
        return fit

    def _groups(self) -> Iterator[Sequence[Fittable]]:
        """Yield the candidates, those whose pieces were ranked first, the others in growing groups."""
        candidates = self._candidates.in_rank_order
        ranked = [candidate.number for candidate in candidates if candidate.ranked.pieces]
        others = [candidate.number for candidate in candidates if not candidate.ranked.pieces]
        if ranked:
            yield self._candidates.fittables(ranked)
        size = _FIRST_OTHERS
        while others:
            yield self._candidates.fittables(others[:size])
            others, size = others[size:], size * 2

    def _mode(self, file: ResolvedFile) -> ViewMode | None:
        """Return the most that is shown of a file, ``None`` for one that is no candidate."""
        if file.path in self._pins.whole or file.path in self._pins.places:
            return ViewMode.FULL
        if not file.item.auto_aggregate or file.view_mode is ViewMode.NONE:
            return None
        return ViewMode.SUMMARY if self._is_summary else file.view_mode

    def _pinned_runs(self) -> dict[int, tuple[Run, ...]]:
        """Return the lines that are shown whatever they cost, by the numbers of their files."""
        runs: dict[int, tuple[Run, ...]] = {}
        if not self._pins.whole and not self._pins.places:
            return runs
        for number, candidate in sorted(self._candidates.by_number.items()):
            path = candidate.file.path
            if path in self._pins.whole:
                runs[number] = (ALL_LINES,)
            elif places := self._pins.places.get(path):
                definitions = self._candidates.analysis(number).definitions
                runs[number] = tuple(runs_around(places, definitions))
        return runs

    def _messages(self) -> list[RenderedFile]:
        """Return what is shown for files that are named and cannot be read, in the order of the configuration."""
        return [
            error_file(other.file, other.source)
            for other in self._corpus.others
            if not other.file.is_remark and other.file.item.path != ALL_FILES
        ]

    def _unreadable_of_all(self) -> list[ResolvedFile]:
        """Return a remark on the files that cannot be read and that nobody has named, by a glob of theirs or at all."""
        others = [other.file for other in self._corpus.others if not other.file.is_remark]
        unnamed = [file for file in others if file.item.path == ALL_FILES]
        paths = [file.path for file in unnamed]
        return [omission_remark(unnamed[0].entry, "unreadable", paths)] if unnamed else []

    def _composed(self, fit: Fit, others: "_Others", remainder: int) -> Composition:
        """Return the prompt that shows what ``fit`` does.

        Args:
            fit: What is shown of the files.
            others: What is shown besides.
            remainder: The most tokens for what is not shown.
        """
        files = self._rendered(fit)
        note = self._remainder(fit, remainder) if remainder else None
        request = replace(
            self._request, history=others.history.turns, results=others.results.results
        )
        doubts = (*request.doubts, *self._pins.doubts)
        source = FittedFiles(
            files, self._selection, reader=self._reader, remarks=self._remarks, doubts=doubts
        )
        stream = PromptStream(
            request,
            source,
            lay_out=lambda shown: fitted_section(self._title, shown, note),
            omitted=others.history.omitted,
        )
        prompt = Prompt(tuple(stream))
        return Composition(
            prompt,
            tuple(files),
            stream.warnings,
            stream.refused,
            base_dir=self._request.base_dir,
        )

    def _rendered(self, fit: Fit) -> list[RenderedFile]:
        """Return the files that are shown, in the order of the budget's settings."""
        shown = {
            self._candidates.by_number[number].file.path: self._candidates.rendered(number, state)
            for number, state in fit.shown.items()
            if not state.is_empty or number in self._pinned
        }
        shown.update((file.path, file) for file in self._unreadable)
        in_order = [shown[file.path] for file in self._selection.files if file.path in shown]
        if self._budget.order is not FileOrder.EDGES:
            return in_order
        rank_by_path = {
            candidate.file.path: rank
            for rank, candidate in enumerate(self._candidates.in_rank_order)
        }
        ranked = sorted(in_order, key=lambda file: rank_by_path.get(file.path, len(rank_by_path)))
        return [*ranked[1::2], *ranked[::2][::-1]]

    def _remainder(self, fit: Fit, limit: int) -> Segment | None:
        shown = {number for number, state in fit.shown.items() if not state.is_empty}
        hidden = [
            HiddenFile(candidate.file.path, self._candidates.estimate(candidate.number))
            for candidate in self._candidates.in_rank_order
            if candidate.number not in shown
        ]
        return not_shown_segment(hidden, limit=limit, count=self._count)

    @property
    def _title(self) -> str:
        if self._request.is_tier3:
            return FILES_TIER3
        return FILES_SUMMARY if self._is_summary else FILES

    def _total(self, composition: Composition) -> int:
        """Return the exact tokens of a prompt."""
        return sum(segment_tokens(composition.prompt, self._count))

    def _too_small(self, pinned: Composition) -> BudgetError:
        smallest = self._total(pinned)
        tokens = segment_tokens(pinned.prompt, self._count)
        sizes = [
            (count, segment.source or segment.section.value)
            for count, segment in zip(tokens, pinned.prompt.segments, strict=True)
        ]
        sizes.sort(key=lambda size: (-size[0], size[1]))
        largest = ", ".join(
            f"{heading_text(name)} ({count:,})" for count, name in sizes[:_PINS_NAMED]
        )
        return BudgetError(
            f"what must be shown has {smallest:,} tokens, more than the budget of {self._budget.tokens:,}; "
            f"the largest: {largest}: pin less, or allow --budget {smallest}",
            smallest=smallest,
        )

    def _file_tokens(self, composition: Composition) -> dict[str, int]:
        """Return the tokens of each file's block, by its path."""
        tokens = segment_tokens(composition.prompt, self._count)
        return {
            segment.source: count
            for segment, count in zip(composition.prompt.segments, tokens, strict=True)
            if segment.section is Section.FILES and segment.source
        }

    def _told(self, composition: Composition, fit: Fit, others: "_Others") -> Composition:
        """Return the prompt with what was decided about each file and section."""
        tokens_by_path = self._file_tokens(composition)
        states = {number: bytes(state.marks) for number, state in fit.shown.items()}
        fit.advance(fit.spent + int(self._budget.tokens * _NEXT))
        later = {number: bytes(state.marks) for number, state in fit.shown.items()}
        choices = choices_of(
            self._selection.files,
            self._candidates,
            FitStates(states, later, frozenset(self._pinned), tokens_by_path),
            is_scored=self._request.task is not None,
        )
        return replace(
            composition,
            choices=choices,
            cut=(*others.history.cuts(), *others.results.cut),
            missing=tuple(self._ranking.missing),
        )


class _Others(NamedTuple):
    """The sections beside the files."""

    history: FittedHistory
    results: FittedResults

    @property
    def are_cut(self) -> bool:
        return self.history.omitted is not None or bool(self.results.cut)


def segment_tokens(prompt: Prompt, count: Callable[[str], int]) -> list[int]:
    """Return the exact tokens of each segment with the separator behind it."""
    texts = [segment.text for segment in prompt.segments]
    return [count(text + SEPARATOR) for text in texts[:-1]] + [count(text) for text in texts[-1:]]
