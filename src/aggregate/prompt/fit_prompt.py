"""Compose a prompt within a token budget.

The stages of a task and of an overview are the same: ``rank_files`` reads the corpus, asks the question and ranks it;
candidates say what may be shown; ``fit_prompt`` gives the sections their shares, fits lines of files, lays out segments
and writes the audit's rows.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.files import ALL_LINES, Run
from aggregate.base.monitor import timed
from aggregate.base.redaction import Redaction, redact
from aggregate.base.task_budget import Budget, Guess, Level
from aggregate.base.text import printable
from aggregate.code.views import is_the_text
from aggregate.project.git import find_head, read_changes
from aggregate.project.index import Index
from aggregate.prompt.asking import Request
from aggregate.prompt.assemble import Composition
from aggregate.prompt.corpus import FileCorpus, rank_files
from aggregate.prompt.document import END, SEPARATOR, Parts, Section
from aggregate.prompt.files import FILES_TIER3, own_output_filter, rendered_segment
from aggregate.prompt.fit import (
    Candidates,
    Fit,
    called_definitions,
    choices_of,
    keep_sent_files,
    left_out,
    shown_files,
    step_order,
)
from aggregate.prompt.sections import (
    ChangedFile,
    Fitted,
    RevisionChanges,
    Shares,
    described_tree,
    frame_of,
    most_tokens,
    not_shown,
)
from aggregate.ranking import WEIGHTS

_REMAINDER = (
    0.025  # part of the budget for the list of hidden files; the contract allows 0.03 (rule B-7)
)
_LEAST_REMAINDER = 64  # tokens of the list in any case (rule B-7)
_ROUNDS = 4  # of laying out a prompt that is a little over or has room; each leaves a fraction
NOTHING_ELSE = "Nothing else scores {:.2%} for the task. "
_NEXT = 0.1  # part of the budget by which the audit estimates the next level (rule A-1)
_OF_CHANGED = 0.5  # part of the room beside pins for changed definitions of a review (rule T-14)
_MOST_ESTIMATED = 32  # estimated tokens of one token: the longest of o200k has 128 blanks
_ALL_TOKENS = 1 << 62  # more than any prompt has
_PINS_NAMED = 3  # largest pins in the error of a too small budget


@timed("compose_within_budget")
def compose_within_budget(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: FileCorpus | None = None,
) -> Composition:
    """Rank a request's files, and compose its prompt.

    The prompt keeps the request's budget (rules B-1 to B-8).
    """
    ranked = rank_files(
        request, index=index, weights=weights, on_start=on_start, on_done=on_done, files=files
    )
    candidates = Candidates(request, ranked, index=index)
    return fit_prompt(request, candidates)


def fit_prompt(request: Request, candidates: Candidates) -> Composition:
    """Compose the prompt of ranked candidates within the request's budget.

    The stages are the sections' shares, the lines of files, the segments, and the audit's rows.
    """
    budget, guess = request.budget, candidates.ranking.guess
    if budget is None:
        raise ValueError("a prompt without a budget is not fitted")
    shares = _shares_of(request, budget, candidates)
    fitted = _Filling(request, budget, candidates, shares, _frame(request, None)).whole_prompt()
    if fitted:
        guess = None
    else:
        filling = _Filling(request, budget, candidates, shares, _frame(request, guess))
        fitted = filling.filled_prompt()
    fit = fitted.fit
    if not fit.is_exhausted:
        fit.advance(fit.spent + int(budget.tokens * _NEXT))
    choices = choices_of(
        candidates, fit, marks=fitted.marks, tokens=fitted.file_tokens, listed=fitted.listed
    )
    return replace(
        fitted.composition,
        choices=choices,
        cut=tuple(chain.from_iterable(section.cuts for section in fitted.sections.values())),
        missing=candidates.ranking.missing,
        guess=guess,
    )


def _frame(request: Request, guess: Guess | None) -> Parts:
    """Return the first and last sections of a prompt."""
    note = f"The choice of files is a guess: {printable(guess.sentence)}." if guess else ""
    head = find_head(str(request.base_dir)) if request.task and request.finish else None
    return frame_of(request, commit=head.commit if head else "", note=note)


def _shares_of(request: Request, budget: Budget, candidates: Candidates) -> Shares:
    """Return the sections beside the files, with their shares of the budget."""
    fit_tree = None
    if request.is_structural:
        fit_tree = described_tree(candidates.numbers, candidates.corpus.text).fitted
    return Shares(request, budget, candidates.count, _changes_for(request, candidates), fit_tree)


def _changes_for(request: Request, candidates: Candidates) -> RevisionChanges:
    """Return the changed candidates, likeliest first, deleted files, and the number of others."""
    since = request.finish.changes if request.finish else ""
    if not since:
        return RevisionChanges()
    base_dir, ranks, numbers = request.base_dir, candidates.ranks, candidates.numbers
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    changes = [change for change in read_changes(str(base_dir), since) if not is_ours(change.path)]
    listed = [change for change in changes if change.path in ranks or change.kind == "deleted"]
    listed.sort(key=lambda change: ranks.get(change.path, len(ranks)))
    files: list[ChangedFile] = []
    for change in listed:
        number = numbers.get(change.path)
        is_generated = number is not None and candidates.corpus.files[number].is_generated
        lines = f"+{change.added} -{change.removed}" if change.hunks else ""
        kinds = (change.kind, "generated" if is_generated else "", lines)
        summary = ", ".join(filter(None, kinds)) or "changed"
        # Generated, binary and deleted files have no hunks.
        by_name = is_generated or change.kind == "deleted"
        hunks = [] if by_name else [_redacted(hunk, request.redaction) for hunk in change.hunks]
        files.append(ChangedFile(change.path, summary, tuple(hunks)))
    return RevisionChanges(since, files, len(changes) - len(listed))


def _redacted(hunk: str, redaction: Redaction) -> str:
    """Redact a hunk as a whole, without its ``+`` and ``-``, since a key may span lines."""
    if not redaction.replaces:
        return hunk
    head, *lines = hunk.split("\n")
    plain = "\n".join([head, *(line[1:] for line in lines)])
    head, *texts = redact(plain, redaction).text.split("\n")
    marked = [f"{line[:1]}{text}" for line, text in zip(lines, texts, strict=True)]
    return "\n".join([head, *marked])


def _new_fit(candidates: Candidates, kept: Mapping[int, tuple[Run, ...]] | None = None) -> Fit:
    """Return a fit that shows only pinned lines, and lines ``kept`` from the last prompt."""
    fit = Fit(step_order(candidates), candidates.open, candidates.count)
    for number, runs in candidates.pinned.items():
        fit.pin(number, runs)
    fit.spent = 0
    for number, lines in (kept or {}).items():
        fit.keep(number, lines)
    return fit


def _whole_fit(candidates: Candidates, most: int) -> Fit | None:
    """Return a fit with all lines of all files, ``None`` if they have more than ``most`` tokens."""
    room = most * _MOST_ESTIMATED
    for number, file, mode, _ in candidates.in_rank_order:  # returns early for a large project
        if is_the_text(file.path, mode):
            room -= candidates.estimates[number]
        if room < 0:
            return None
    fit = _new_fit(candidates)
    for number, *_ in candidates.in_rank_order:
        fit.keep(number, (ALL_LINES,))
        if state := fit.shown.get(number):
            block = rendered_segment(candidates.rendered(number, state)).text
            most -= candidates.count(block + SEPARATOR)
        if most < 0:
            return None
    fit.is_exhausted = True
    return fit


class _Fitted(NamedTuple):
    """A prompt with visible lines of files, and other sections."""

    composition: Composition
    tokens: list[int]  # by segment
    room: int  # tokens left of the budget
    fit: Fit
    sections: Fitted
    listed: Set[str]  # paths of hidden files that are listed by name
    marks: Mapping[int, bytes]  # of the visible lines, by file

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
    """Fills a budget with lines of files beside the other sections."""

    request: Request
    budget: Budget
    candidates: Candidates
    shares: Shares
    frame: Parts  # the first and last sections

    def whole_prompt(self) -> _Fitted | None:
        """Return the prompt with all files in full (rule B-12), ``None`` if it exceeds the budget."""
        self.candidates.set_shortening(is_on=False)
        fit = _whole_fit(self.candidates, self.budget.tokens)
        self.candidates.set_shortening(is_on=fit is None)
        if fit is None:
            return None
        filling, sections = self, dict(self.shares.with_more(self.shares.least, _ALL_TOKENS))
        if self.request.is_structural and not self.request.is_overview:  # as without a budget
            filling = replace(self, frame={})
            del sections[Section.TREE]
        for with_notes in (True, False):
            fitted = filling._laid_out(fit, sections, with_notes=with_notes)
            if fitted.room >= 0:
                return fitted
        return None

    def filled_prompt(self) -> _Fitted:
        """Return the prompt with as many lines as fit; raise ``BudgetError`` if the pins do not."""
        pinned = self._laid_out(_new_fit(self.candidates), self.shares.least)
        if pinned.room < 0:
            raise self._too_small(pinned)
        fitted = self._within(pinned.room, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.is_review:
            changed = self.candidates.changed_definitions(int(pinned.room * _OF_CHANGED))
            fitted = self._within(pinned.room, changed) or fitted
        if self.request.kept:
            fitted = self._within(pinned.room, self._kept_lines(fitted)) or fitted
        is_cut = any(section.cuts for section in fitted.sections.values())
        if not (is_cut and fitted.fit.is_exhausted):
            return fitted
        # All files are shown: the other sections get the rest. The lines of the files stay the same, so that a larger
        # budget never shows fewer.
        sections = self.shares.with_more(fitted.sections, fitted.room)
        room = self._laid_out(fitted.fit, sections).room
        remainder = max(min(room, self._reserve), 0)
        more = self._laid_out(fitted.fit, sections, remainder=remainder)
        return fitted if more.room < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(self, room: int, runs: Mapping[int, tuple[Run, ...]]) -> _Fitted | None:
        """Return the prompt with the most lines in ``room`` tokens.

        Return ``None`` if none fits. The tokens of pinned files do not count. The lines in ``runs`` are always shown.
        """
        candidates, count = self.candidates, self.candidates.count
        sections = self.shares.within(room)
        limit = room - self.shares.reserved(room) - count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve
        if runs:
            pins_alone = self._laid_out(_new_fit(candidates), sections)
            target -= pins_alone.room - self._laid_out(_new_fit(candidates, runs), sections).room
        for _ in range(_ROUNDS):
            fit = _new_fit(candidates, runs)
            initial_room = self._laid_out(fit, sections).room
            filled = self._advanced(fit, sections, target, initial_room)
            if self.request.is_structural and not runs:
                fit.drop_bare()
                filled = self._advanced(fit, sections, target, initial_room)
            # Not the actual room: a larger budget may have less of it, but must not show fewer lines.
            spare = reserve - most_tokens(left_out(candidates, fit), limit=reserve, count=count)
            if spare > 0:
                filled = self._advanced(fit, sections, target + spare, initial_room)
            remainder = max(min(filled.room, reserve), 0)
            prompt = self._laid_out(fit, sections, remainder=remainder)
            if prompt.room >= 0:
                return prompt
            target += prompt.room - _LEAST_REMAINDER
        return None

    def _advanced(self, fit: Fit, sections: Fitted, target: int, initial_room: int) -> _Fitted:
        """Show lines until the prompt has ``target`` tokens; return it without the list of hidden files."""
        fit.advance(max(target, 0))
        fitted = self._laid_out(fit, sections)
        for _ in range(_ROUNDS):
            # Adjacent lines have fewer tokens than the sum of their prices.
            slack = fit.spent - (initial_room - fitted.room)
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            fitted = self._laid_out(fit, sections)
        return fitted

    def _kept_lines(self, fitted: _Fitted) -> dict[int, tuple[Run, ...]]:
        """Return the last prompt's lines to show again.

        See rule B-9. ``fitted`` is a prompt for the new task alone.
        """
        candidates, fit, tokens = self.candidates, fitted.fit, fitted.file_tokens
        numbers = candidates.numbers
        choices = choices_of(
            candidates, fit, marks=fitted.marks, tokens=tokens, listed=fitted.listed
        )
        sent = [file for file in self.request.kept if file.path in numbers]
        room = fitted.room if fit.is_exhausted else 0
        runs: dict[int, tuple[Run, ...]] = {}
        for file in keep_sent_files(sent, choices, room=sum(tokens.values()) + room):
            number = numbers[file.path]
            if file.content_hash == candidates.corpus.content_hash(number).hex():
                runs[number] = file.lines
            elif file.level is Level.FULL:  # the lines of other changed files are unknown
                runs[number] = (ALL_LINES,)
        return {number: lines for number, lines in runs.items() if lines}

    def _laid_out(
        self, fit: Fit, sections: Fitted, *, remainder: int = 0, with_notes: bool = False
    ) -> _Fitted:
        """Return the prompt with the lines of a fit.

        ``remainder`` is the token limit of the list of hidden files, ``0`` for no list.
        """
        request, candidates, count = self.request, self.candidates, self.candidates.count
        files = shown_files(request, candidates, fit, with_notes=with_notes)
        hidden = list(left_out(candidates, fit)) if remainder else []
        is_end = fit.is_exhausted and candidates.has_least
        listed, segments = not_shown(
            hidden,
            limit=remainder,
            count=count,
            called=called_definitions(candidates, fit) if hidden else (),
            note=NOTHING_ELSE.format(candidates.relevant) if is_end else "",
        )
        parts = {section: fitted.segments for section, fitted in sections.items()}
        composition = Composition(request, files, listed=segments, parts={**self.frame, **parts})
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [count(text + END) for text in texts[-1:]]
        paths = {path for path, *_ in hidden[:listed]}
        marks = {number: bytes(state.marks) for number, state in fit.shown.items()}
        room = self.budget.tokens - sum(tokens)
        return _Fitted(composition, tokens, room, fit, sections, paths, marks)

    def _too_small(self, pinned: _Fitted) -> BudgetError:
        smallest = sum(pinned.tokens)
        sizes: dict[str, int] = {}
        for segment, size in zip(pinned.composition.prompt.segments, pinned.tokens, strict=True):
            name = segment.source or segment.section.value
            sizes[name] = sizes.get(name, 0) + size
        largest_first = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
        largest = ", ".join(
            f"{printable(name)} ({size:,})" for name, size in largest_first[:_PINS_NAMED]
        )
        reason = (
            f"the required parts have {smallest:,} tokens, more than the budget of {self.budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)
