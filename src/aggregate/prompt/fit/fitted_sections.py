"""How many tokens of a budget the sections other than files get (rule B-5)."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from aggregate.base.files import Narrowing
from aggregate.base.task import Budget, Finish, Given
from aggregate.base.text import clean_issue
from aggregate.project.git import find_head
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment
from aggregate.prompt.sections.changes import NO_CHANGES, Changes, changes_segments, hunks_block
from aggregate.prompt.sections.fitted import Count, FittedSection, tokens_of
from aggregate.prompt.sections.given import (
    attached_section,
    cut_middle,
    instructions_section,
    project_segment,
    task_line,
    task_segment,
)
from aggregate.prompt.sections.tree import Tree
from aggregate.prompt.sections.turns import Omitted, safe_discussion_segments

ALL = 1 << 62  # more tokens than any prompt
_OF_GIVEN, _OF_CHANGES, _OF_TREE = 0.1, 0.25, 0.12  # largest parts of the room beside the pins
_CHARACTERS = 8  # upper bound of characters per token
_LEAST_HUNK = 200  # characters of a useful hunk
_NO_ROOM = "the section's share of the budget is used up"


class Share(NamedTuple):
    """The largest part of the tokens, without those of pinned files, that a section may use."""

    section: Section
    part: float
    fit: Callable[[int], FittedSection]  # by tokens beyond its least


Fitted = Mapping[Section, FittedSection]


class Shares(NamedTuple):
    shares: Sequence[Share]
    least: Fitted

    def reserved(self, room: int) -> int:
        """Return the tokens reserved for the sections.

        They are a part of ``room``, in addition to the sections' smallest size. Unused parts count too, so that the
        room for files is the same in every turn.
        """
        pairs = [(share.part, self.least[share.section]) for share in self.shares]
        return sum(min(int(room * part), least.needed - least.tokens) for part, least in pairs)

    def within(self, room: int) -> Fitted:
        return {section: fit(int(room * part)) for section, part, fit in self.shares}

    def with_more(self, sections: Fitted, room: int) -> Fitted:
        """Return the sections with ``room`` more tokens, given to the first sections first."""
        fitted = {}
        for name, _, fit in self.shares:
            section = sections[name]
            more = fit(section.tokens - self.least[name].tokens + room)
            fitted[name] = max(section, more, key=lambda fitted: fitted.tokens)
            room -= fitted[name].tokens - section.tokens
        return fitted


def frame_of(request: Request, *, note: str = "") -> dict[Section, Sequence[Segment]]:
    """Return the first and last sections of a budgeted prompt.

    See rules T-7 and T-12. ``note`` is a sentence about the choice of files, for example if it is a guess.
    """
    task, finish = request.task, request.finish
    if request.budget is None or finish is None or not finish.has_frame:
        return {}
    is_overview = request.is_structural
    is_whole = request.is_overview and request.narrowing == Narrowing()
    first = (project_segment(request.title, is_overview=is_overview, is_whole=is_whole),)
    if task is None:
        return {Section.PROJECT: first} if is_overview else {}
    if request.is_review:
        return {Section.PROJECT: first}
    head = find_head(str(request.base_dir))
    commit = head.commit if head else ""
    end = task_segment(clean_issue(task.text), commit=commit, since=finish.changes, note=note)
    top = None if request.history else task_line(task.text)
    return {Section.PROJECT: (*first, top) if top else first, Section.TASK: (end,) if end else ()}


def shares_of(
    request: Request,
    budget: Budget,
    count: Count,
    *,
    changes: Changes = NO_CHANGES,
    tree: Tree | None = None,
) -> Shares:
    """Return a request's sections, other than files, with shares.

    The shares are parts of the budget. ``tree`` is shown in an overview.
    """
    finish = request.finish or Finish()
    fit_texts = partial(fit_given, count=count)
    instructions = partial(fit_texts, instructions_section, finish.instructions)
    attached = partial(fit_texts, attached_section, finish.attached)
    shares = (
        Share(Section.TREE, _OF_TREE, partial(fit_tree, tree or Tree(()), count=count)),
        Share(Section.HISTORY, budget.history, partial(fit_history, request.history, count=count)),
        Share(Section.RESULTS, budget.results, partial(_fit_results, request, count=count)),
        Share(Section.INSTRUCTIONS, _OF_GIVEN, instructions),
        Share(Section.ATTACHED, _OF_GIVEN, attached),
        Share(Section.CHANGES, _OF_CHANGES, partial(fit_changes, changes, count=count)),
    )
    return Shares(shares, {share.section: share.fit(0) for share in shares})


def fit_tree(tree: Tree, limit: int, count: Count) -> FittedSection:
    """Return the tree of files with as many open folders as ``limit`` tokens allow."""
    sizes = [tokens_of(tree.segments(number), count) for number in range(len(tree.folders) + 1)]
    number = bisect_right(sizes, limit) - 1
    return FittedSection(tree.segments(number), sizes[number], sizes[-1])


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedSection:
    """Return the section of the newest turns.

    It has at most ``limit`` tokens, not counting the last turn, which is always shown.
    """
    segments = safe_discussion_segments(history)
    sizes = [count(segment.text + SEPARATOR) for segment in segments[1:]]
    needed = tokens_of(segments, count)

    def without(number: int) -> FittedSection:
        if not number:
            return FittedSection(segments, needed, needed)
        omitted = Omitted(number, sum(sizes[:number]))
        turns = f"turns 1 to {number}" if number > 1 else "turn 1"
        reason = (
            "the discussion's share of the budget is used up; the oldest turns are left out first"
        )
        cut = Cut("history", turns, omitted.tokens, reason)
        shown = safe_discussion_segments(history[number:], omitted)
        return FittedSection(shown, tokens_of(shown, count), needed, (cut,))

    if len(history) < 2:
        return without(0)
    most = without(len(history) - 1).tokens + limit
    if needed <= most:
        return without(0)
    numbers = range(1, len(history))
    return without(1 + bisect_left(numbers, True, key=lambda n: without(n).tokens <= most))


def _fit_results(request: Request, limit: int, count: Count) -> FittedSection:
    if not request.results:
        return FittedSection()
    from aggregate.prompt.sections.fitted_results import fit_results  # few prompts have results

    return fit_results(request.results, limit, count, is_readable=request.reads_results)


def fit_given(
    lay_out: Callable[[Sequence[Given]], tuple[Segment, ...]],
    texts: Sequence[Given],
    limit: int,
    count: Count,
) -> FittedSection:
    """Return the section of the user's texts in ``limit`` tokens; long texts lose their middle."""
    if not texts:
        return FittedSection()
    complete = lay_out(texts)
    needed = tokens_of(complete, count)
    if needed <= limit:
        return FittedSection(complete, needed, needed)

    def shortened(characters: int) -> tuple[Segment, ...]:
        parts = (text._replace(text=cut_middle(text.text, characters)) for text in texts)
        return lay_out(tuple(parts)) if characters else ()

    sizes = range(1, limit * _CHARACTERS)
    size = bisect_left(sizes, True, key=lambda n: tokens_of(shortened(n), count) > limit)
    segments = shortened(size)
    tokens = tokens_of(segments, count)
    if tokens > limit:
        segments, tokens = (), 0
    cut = Cut(complete[0].section.value, "the middle", needed - tokens, _NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,))


def fit_changes(changes: Changes, limit: int, count: Count) -> FittedSection:
    """Return the section of changes in ``limit`` tokens: all files, and hunks of the likeliest ones."""
    if not (changes.files or changes.others):
        return FittedSection()
    heading = tokens_of(changes_segments(changes, [()] * len(changes.files)), count)
    prices = {hunk: count(f"{hunk}\n") for file in changes.files for hunk in file.hunks}
    frames = [count(hunks_block(file.path, ()) + SEPARATOR) for file in changes.files]
    needed = heading + sum(prices.values()) + sum(frames)
    while changes.files and heading > limit:
        number = len(changes.files) // 2
        omitted = changes.others + len(changes.files) - number
        changes = changes._replace(files=changes.files[:number], others=omitted)
        heading = tokens_of(changes_segments(changes, [()] * number), count)
    visible_hunks: list[list[str]] = [[] for _ in changes.files]
    spent, waiting = heading, list[tuple[list[str], int, str]]()
    for file, hunks, frame in zip(changes.files, visible_hunks, frames, strict=False):
        for hunk in file.hunks:
            price = prices[hunk] + (0 if hunks else frame)
            if spent + price <= limit:
                hunks.append(hunk)
                spent += price
            else:
                waiting.append((hunks, len(hunks), hunk))
    if waiting:  # a part of the first waiting hunk takes the rest of the share
        first, index, too_long = waiting[0]

        def with_part(part: str) -> int:
            parts = [*first[:index], part, *first[index:]]
            lists = [parts if hunks is first else hunks for hunks in visible_hunks]
            return tokens_of(changes_segments(changes, lists), count)

        first[index:index] = _part_of(too_long, limit, with_part)
    segments = changes_segments(changes, visible_hunks)
    tokens = tokens_of(segments, count)
    if tokens > limit:  # a longer fence, or not even the first sentence fits
        segments, tokens = (), 0
    cut = Cut("changes", f"{len(waiting):,} hunks", needed - tokens, _NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,) if waiting or not segments else ())


def _part_of(hunk: str, limit: int, tokens_with: Callable[[str], int]) -> list[str]:
    """Return a hunk's beginning and end within ``limit`` tokens.

    The list is empty if too few lines fit.
    """
    sizes = range(1, min(len(hunk), limit * _CHARACTERS))
    size = bisect_left(sizes, True, key=lambda n: tokens_with(cut_middle(hunk, n)) > limit)
    return [cut_middle(hunk, size)] if size >= _LEAST_HUNK else []
