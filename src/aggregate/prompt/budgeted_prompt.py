"""One prompt within a number of tokens: laid out, filled with lines, laid out again until it fits and is full."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace

from aggregate.base.monitor import get_monitor
from aggregate.base.values import SEPARATOR, Budget, ViewMode
from aggregate.code.views import is_the_text
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.choices import FitStates, choices_of
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.fittable import Fittable
from aggregate.prompt.fit.lines import ALL_LINES, Run
from aggregate.prompt.fit.steps import CHARACTERS_PER_TOKEN, WITH_TASK, StepOrder
from aggregate.prompt.fitted_prompt import FittedPrompt, FittedPrompts
from aggregate.prompt.layout import is_summarized
from aggregate.prompt.pins import Pins, kept_lines
from aggregate.prompt.ranked_files import RankedFiles, ReadFiles, rank_files
from aggregate.prompt.request import Request
from aggregate.prompt.section_shares import (
    OtherSections,
    fit_sections,
    least_sections,
    with_more,
)
from aggregate.prompt.sections.files import FILES_TIER3, rendered_segment
from aggregate.prompt.sections.not_shown import most_tokens
from aggregate.prompt.selection import ResolvedFile
from aggregate.prompt.token_counts import SavedCounts
from aggregate.ranking import WEIGHTS

_FIRST_OTHERS = 100
"""Further files that are put in order when all of those are shown, and twice as many each time."""
_REMAINDER = 0.025
"""Of the budget, for what is not shown; the contract allows 0.03 (rule B-7)."""
_LEAST_REMAINDER = 64
"""Tokens for it in any case (rule B-7)."""
_WITHOUT_TASK = 0.5
"""The part of signatures where nobody says what for: breadth tells more of a project than some whole functions."""
_ROUNDS = 4
"""How often a prompt is laid out again, that is a little over or has room: each round leaves a fraction of that."""
_NEXT = 0.1
"""The part of the budget by which the audit says what more of it would buy (rule A-1)."""
_LONGEST = 128
"""Characters of the longest token of o200k, which is blanks."""
_ALL = 1 << 62
"""More tokens than there are."""


class BudgetedPrompt:
    """One prompt within a budget, from its ranked files to its text.

    Args:
        request: What to compose, with its budget.
        index: Where counts are kept from run to run.
        ranked: The request's files.
        before: A prompt of the same files, ranked in the same way, that shows some of them in another one; what it has
            made of the others is kept.
    """

    def __init__(
        self,
        request: Request,
        index: Index,
        ranked: RankedFiles,
        *,
        before: "BudgetedPrompt | None" = None,
    ) -> None:
        if request.budget is None:
            raise ValueError("a prompt without a budget is not fitted")
        self._request = request
        self._budget: Budget = request.budget
        self._count: SavedCounts = before._count if before else SavedCounts(index)
        self._is_summary = is_summarized(request.strategy, summary_only=request.summary_only)
        self._ranked = ranked
        # By the entries of the files, of which a glob has one for all; they live as long as the files.
        self._modes: dict[int, ViewMode | None] = {}
        self._pins = Pins.of(request, ranked.files.selection.files)
        self._candidates: Candidates = Candidates(
            ranked.files.corpus,
            ranked.ranking.files,
            mode_of=self._mode,
            count=self._count,
            by_structure=ranked.question.is_empty,
            before=before._candidates if before else None,
        )
        self._pinned = self._pins.runs(self._candidates)
        self._kept: dict[int, tuple[Run, ...]] = {}
        self._prompts = self._prompts_of(request)

    def for_request(self, request: Request) -> "BudgetedPrompt":
        """Return the same for a request with another budget; what is known of the candidates is shared."""
        if request.budget is None:
            raise ValueError("a prompt without a budget is not fitted")
        other = copy(self)
        other._request, other._budget, other._kept = request, request.budget, {}
        other._prompts = self._prompts_of(request)
        return other

    def _prompts_of(self, request: Request) -> FittedPrompts:
        return FittedPrompts(
            request,
            self._ranked.files,
            self._candidates,
            self._pins,
            pinned=self._pinned,
            count=self._count,
        )

    def composition(self) -> Composition:
        """Return the prompt.

        Raises:
            BudgetError: The pins do not fit.
        """
        least = least_sections(self._request, self._count)
        if whole := self._whole(least):
            return self._told(whole)
        pinned = self._laid_out(self._new_fit(), least)
        room = self._left(pinned)
        if room < 0:
            raise self._prompts.too_small(self._budget, pinned.composition)
        fitted = self._within(least, room)
        if fitted is None:  # not even a line fits beside the pins
            return self._told(pinned)
        if self._request.kept:
            self._kept = self._kept_lines(fitted)
            fitted = self._within(least, room) or fitted
        if fitted.others.cuts and fitted.fit.is_exhausted:
            fitted = self._with_more(fitted, least)
        return self._told(fitted)

    def _whole(self, least: OtherSections) -> FittedPrompt | None:
        """Return the prompt that shows all (rule B-12), ``None`` where that exceeds the budget.

        It is made no further than the budget goes: files are taken one by one.
        """
        candidates, estimates = self._candidates.in_rank_order, self._candidates.estimates
        as_they_are = (each for each in candidates if is_the_text(each.file.path, each.mode))
        characters = CHARACTERS_PER_TOKEN * sum(estimates[each.number] for each in as_they_are)
        left = self._budget.tokens
        if characters > left * _LONGEST:
            return None
        fit = self._new_fit()
        for candidate in candidates:
            fit.keep(candidate.number, (ALL_LINES,))
            if state := fit.shown.get(candidate.number):
                block = rendered_segment(self._candidates.rendered(candidate.number, state)).text
                left -= self._count(block + SEPARATOR)
            if left < 0:
                return None
        fit.is_exhausted = True
        others = with_more(self._request, least, least, left=_ALL, count=self._count)
        for with_notes in (True, False):
            prompt = self._prompts.prompt(self._budget, fit, others, with_notes=with_notes)
            if self._left(prompt) >= 0:
                return prompt
        return None

    def _with_more(self, fitted: FittedPrompt, least: OtherSections) -> FittedPrompt:
        """Return the prompt in which the other sections get what the files leave, which are all shown.

        What is shown of the files stays, so that a larger budget never shows less of them.
        """
        left = self._left(fitted)
        others = with_more(self._request, fitted.others, least, left=left, count=self._count)
        remainder = max(min(self._left(self._laid_out(fitted.fit, others)), self._reserve), 0)
        prompt = self._laid_out(fitted.fit, others, remainder=remainder)
        return fitted if self._left(prompt) < 0 else prompt

    @property
    def _reserve(self) -> int:
        """The most tokens for what is not shown."""
        return max(_LEAST_REMAINDER, int(self._budget.tokens * _REMAINDER))

    def _within(self, least: OtherSections, room: int) -> FittedPrompt | None:
        """Return the prompt with as much as fits, ``None`` where nothing does beside the pins.

        Args:
            least: The other sections at their least.
            room: The tokens that the pins leave.
        """
        others = fit_sections(self._request, self._budget, least, room=room, count=self._count)
        limit = room - others.reserved - self._count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve - self._kept_tokens(others)
        for _ in range(_ROUNDS):
            fit = self._new_fit()
            bare = self._laid_out(fit, others).tokens
            filled = self._filled(fit, others, target, bare)
            # Not what is left: that may be less with a larger budget, and the files must not have less then.
            hidden = self._prompts.hidden(fit)
            spare = reserve - most_tokens(hidden, limit=reserve, count=self._count)
            if spare > 0:
                filled = self._filled(fit, others, target + spare, bare)
            remainder = max(min(self._left(filled), reserve), 0)
            prompt = self._laid_out(fit, others, remainder=remainder)
            over = -self._left(prompt)
            if over <= 0:
                return prompt
            target -= over + _LEAST_REMAINDER
        return None

    def _filled(self, fit: Fit, others: OtherSections, target: int, bare: int) -> FittedPrompt:
        """Take steps of ``fit`` for ``target`` tokens; return the prompt, without what is not shown.

        Args:
            fit: Shows the pins, what is kept, and what steps for fewer tokens do.
            others: The other sections.
            target: How many more tokens the prompt may have.
            bare: The tokens that it had without any step.
        """
        fit.advance(max(target, 0))
        prompt = self._laid_out(fit, others)
        for _ in range(_ROUNDS):
            # Lines that stand together have fewer tokens than their prices add up to.
            slack = bare + fit.spent - prompt.tokens
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            prompt = self._laid_out(fit, others)
        return prompt

    def _laid_out(self, fit: Fit, others: OtherSections, *, remainder: int = 0) -> FittedPrompt:
        return self._prompts.prompt(self._budget, fit, others, remainder=remainder)

    def _left(self, prompt: FittedPrompt) -> int:
        """Return the tokens of the budget that a prompt leaves, less than ``0`` where it exceeds it."""
        return self._budget.tokens - prompt.tokens

    def _kept_lines(self, fitted: FittedPrompt) -> dict[int, tuple[Run, ...]]:
        """Return the lines that stay of a discussion's last prompt, given what would be shown for this task alone."""
        tokens = self._prompts.file_tokens(fitted.composition)
        left = self._left(fitted) if fitted.fit.is_exhausted else 0
        return kept_lines(
            self._request.kept,
            self._candidates,
            fitted.fit,
            tokens=tokens,
            pinned=frozenset(self._pinned),
            room=sum(tokens.values()) + left,
        )

    def _kept_tokens(self, others: OtherSections) -> int:
        """Return the tokens of the lines that stay, beyond those of the pins."""
        if not self._kept:
            return 0
        pins_alone = self._laid_out(self._new_fit(keeping=False), others).tokens
        return self._laid_out(self._new_fit(), others).tokens - pins_alone

    def _new_fit(self, *, keeping: bool = True) -> Fit:
        """Return a fit in which only the pins are shown, and what stays of a discussion's last prompt."""
        share = _WITHOUT_TASK if self._ranked.question.is_empty else WITH_TASK
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
        entry = file.entry
        if id(entry) not in self._modes:
            self._modes[id(entry)] = self._usual_mode(file)
        return self._modes[id(entry)]

    def _usual_mode(self, file: ResolvedFile) -> ViewMode | None:
        """Return the most that is shown of the files of an entry that is not pinned."""
        if not file.item.auto_aggregate or file.view_mode is ViewMode.NONE:
            return None
        return ViewMode.SUMMARY if self._is_summary else file.view_mode

    def _told(self, fitted: FittedPrompt) -> Composition:
        """Return the prompt with what was decided about each file and section."""
        prompt, fit = fitted.composition, fitted.fit
        shown = {number: bytes(state.marks) for number, state in fit.shown.items()}
        if not fit.is_exhausted:
            fit.advance(fit.spent + int(self._budget.tokens * _NEXT))
        later = {number: bytes(state.marks) for number, state in fit.shown.items()}
        choices = choices_of(
            self._ranked.files.selection.files,
            self._candidates,
            FitStates(
                shown,
                later,
                frozenset(self._pinned),
                fitted.named,
                self._prompts.file_tokens(prompt),
            ),
            is_scored=self._request.task is not None,
        )
        missing = tuple(self._ranked.ranking.missing)
        return replace(prompt, choices=choices, cut=fitted.others.cuts, missing=missing)


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
    return BudgetedPrompt(request, index, ranked).composition()


class BudgetFitting:
    """Files that were ranked for one task, to be fitted to one budget after another.

    What was rendered and counted for one budget is kept for the next one; the prompts are those of
    ``compose_within_budget``.

    Args:
        request: What to compose, with any budget.
        ranked: From ``rank_files``, for this request.
        index: Where what follows from files is kept from run to run.
        before: From ``shown_otherwise``: what it has made of the same files is kept.
    """

    def __init__(
        self,
        request: Request,
        ranked: RankedFiles,
        *,
        index: Index,
        before: "BudgetedPrompt | None" = None,
    ) -> None:
        self.ranked = ranked
        self._index = index
        self._prompt = BudgetedPrompt(request, index, ranked, before=before)

    def shown_otherwise(self, request: Request, ranked: RankedFiles) -> "BudgetFitting":
        """Return the same for a request that shows some of the files in another way.

        Args:
            request: What to compose, with any budget.
            ranked: The same ranking of the same files, to be shown as the request says.
        """
        return BudgetFitting(request, ranked, index=self._index, before=self._prompt)

    def compose(self, request: Request) -> Composition:
        """Compose the prompt of the request with another budget, or with another discussion.

        Raises:
            BudgetError: What must be shown has more tokens.
        """
        return self._prompt.for_request(request).composition()
