"""The sections of a prompt beside its files within a budget: of what pins leave each has its share (rule B-5)."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from aggregate.base.request import Budget, Finish, Given
from aggregate.base.text import clean_issue
from aggregate.project.git import find_head
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment
from aggregate.prompt.request import Request
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
from aggregate.prompt.turns import Omitted, safe_discussion_segments

ALL = 1 << 62  # More tokens than there are
# The parts of what pins leave that sections have at most; with those of the discussion and the results not all of it.
_OF_GIVEN, _OF_CHANGES, _OF_TREE = 0.1, 0.25, 0.12
_CHARACTERS = 8  # Of what is added, for each token that it may have: hardly any text has more
_LEAST_HUNK = 200  # Characters of a hunk, of which fewer tell nothing
_NO_ROOM = "the section has no more of the budget"


class Share(NamedTuple):
    """The part of what pins leave that a section has at most, and what it shows with so many tokens more than least."""

    section: Section
    part: float
    fit: Callable[[int], FittedSection]


Fitted = Mapping[Section, FittedSection]


class Shares(NamedTuple):
    shares: Sequence[Share]
    least: Fitted

    def reserved(self, room: int) -> int:
        """Return how many tokens of ``room``, which the pins leave, files do not get for sections beyond their least.

        The share counts, not what whole turns take of it: else a turn more would leave less for the files.
        """
        least = [self.least[each.section] for each in self.shares]
        limits = (int(room * each.part) for each in self.shares)
        return sum(
            min(limit, own.needed - own.tokens) for limit, own in zip(limits, least, strict=True)
        )

    def within(self, room: int) -> Fitted:
        return {section: fit(int(room * part)) for section, part, fit in self.shares}

    def with_more(self, others: Fitted, left: int) -> Fitted:
        """Return the sections with what is ``left`` too, the first ones first."""
        fitted = {}
        for section, _, fit in self.shares:
            before = others[section]
            more = fit(before.tokens - self.least[section].tokens + left)
            fitted[section] = max(before, more, key=lambda each: each.tokens)
            left -= fitted[section].tokens - before.tokens
        return fitted


def frame_of(request: Request, *, note: str = "") -> dict[Section, Sequence[Segment]]:
    """Return what a prompt for a task within a budget begins and ends with (rule T-7), nothing of most others.

    An overview begins so too (rule T-12).
    ``note`` is a sentence on what is shown, such as that the choice is a guess.
    """
    task, finish = request.task, request.finish
    if request.budget is None or finish is None or not finish.has_frame:
        return {}
    first = (project_segment(request.title, is_overview=request.is_structural),)
    if task is None:
        return {Section.PROJECT: first} if request.is_structural else {}
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
    """Return the sections of a request that have shares; an overview shows its ``tree``."""
    finish = request.finish or Finish()
    given = partial(fit_given, count=count)
    results = partial(_fit_results, request, count=count)
    shares = (
        Share(Section.TREE, _OF_TREE, partial(fit_tree, tree or Tree(()), count=count)),
        Share(Section.HISTORY, budget.history, partial(fit_history, request.history, count=count)),
        Share(Section.RESULTS, budget.results, results),
        Share(
            Section.INSTRUCTIONS,
            _OF_GIVEN,
            partial(given, instructions_section, finish.instructions),
        ),
        Share(Section.ATTACHED, _OF_GIVEN, partial(given, attached_section, finish.attached)),
        Share(Section.CHANGES, _OF_CHANGES, partial(fit_changes, changes, count=count)),
    )
    return Shares(shares, {each.section: each.fit(0) for each in shares})


def fit_tree(tree: Tree, limit: int, count: Count) -> FittedSection:
    """Return the tree with as many folders opened as fit into ``limit`` tokens."""
    sizes = [tokens_of(tree.segments(number), count) for number in range(len(tree.folders) + 1)]
    number = bisect_right(sizes, limit) - 1
    return FittedSection(tree.segments(number), sizes[number], sizes[-1])


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedSection:
    """Return as many of the newest turns as have at most ``limit`` tokens more than the last one alone, a pin."""
    segments = safe_discussion_segments(history)
    sizes = [count(segment.text + SEPARATOR) for segment in segments[1:]]
    needed = tokens_of(segments, count)

    def without(number: int) -> FittedSection:
        """Return the discussion without so many of its first turns."""
        if not number:
            return FittedSection(segments, needed, needed)
        omitted = Omitted(number, sum(sizes[:number]))
        turns = f"turns 1 to {number}" if number > 1 else "turn 1"
        reason = "the discussion has no more of the budget; the oldest turns go first"
        cut = Cut("history", turns, omitted.tokens, reason)
        shown = safe_discussion_segments(history[number:], omitted)
        return FittedSection(shown, tokens_of(shown, count), needed, (cut,))

    if len(history) < 2:
        return without(0)
    most = without(len(history) - 1).tokens + limit
    if needed <= most:
        return without(0)
    numbers = range(1, len(history))
    return without(1 + bisect_left(numbers, True, key=lambda each: without(each).tokens <= most))


def _fit_results(request: Request, limit: int, count: Count) -> FittedSection:
    if not request.results:
        return FittedSection()
    from aggregate.prompt.fitted_results import fit_results  # few prompts have results

    return fit_results(request.results, limit, count, is_readable=request.reads_results)


def fit_given(
    lay_out: Callable[[Sequence[Given]], tuple[Segment, ...]],
    given: Sequence[Given],
    limit: int,
    count: Count,
) -> FittedSection:
    """Return what the user adds within ``limit`` tokens: of what is too long the middle is left out."""
    if not given:
        return FittedSection()
    whole = lay_out(given)
    needed = tokens_of(whole, count)
    if needed <= limit:
        return FittedSection(whole, needed, needed)

    def shortened(characters: int) -> tuple[Segment, ...]:
        texts = (each._replace(text=cut_middle(each.text, characters)) for each in given)
        return lay_out(tuple(texts)) if characters else ()

    sizes = range(1, limit * _CHARACTERS)
    size = bisect_left(sizes, True, key=lambda each: tokens_of(shortened(each), count) > limit)
    segments = shortened(size)
    tokens = tokens_of(segments, count)
    if tokens > limit:
        segments, tokens = (), 0
    cut = Cut(whole[0].section.value, "the middle", needed - tokens, _NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,))


def fit_changes(changes: Changes, limit: int, count: Count) -> FittedSection:
    """Return the changes within ``limit`` tokens: as many hunks of the likeliest files as fit, and all files' names."""
    if not (changes.files or changes.others):
        return FittedSection()
    heading = tokens_of(changes_segments(changes, [()] * len(changes.files)), count)
    prices = {hunk: count(f"{hunk}\n") for file in changes.files for hunk in file.hunks}
    frames = [count(hunks_block(file.path, ()) + SEPARATOR) for file in changes.files]
    needed = heading + sum(prices.values()) + sum(frames)
    while changes.files and heading > limit:
        number = len(changes.files) // 2
        others = changes.others + len(changes.files) - number
        changes = changes._replace(files=changes.files[:number], others=others)
        heading = tokens_of(changes_segments(changes, [()] * number), count)
    shown: list[list[str]] = [[] for _ in changes.files]
    spent, waiting = heading, list[tuple[list[str], int, str]]()
    for file, own, frame in zip(changes.files, shown, frames, strict=False):
        for hunk in file.hunks:
            price = prices[hunk] + (0 if own else frame)
            if spent + price <= limit:
                own.append(hunk)
                spent += price
            else:
                waiting.append((own, len(own), hunk))
    if waiting:  # what is left of the share is for nothing else
        first, place, too_long = waiting[0]

        def with_part(part: str) -> int:
            parts = [*first[:place], part, *first[place:]]
            hunks = [parts if each is first else each for each in shown]
            return tokens_of(changes_segments(changes, hunks), count)

        first[place:place] = _part_of(too_long, limit, with_part)
    segments = changes_segments(changes, shown)
    tokens = tokens_of(segments, count)
    if tokens > limit:  # a longer fence, or not even the first sentence fits
        segments, tokens = (), 0
    cut = Cut("changes", f"{len(waiting):,} hunks", needed - tokens, _NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,) if waiting or not segments else ())


def _part_of(hunk: str, limit: int, tokens_with: Callable[[str], int]) -> list[str]:
    """Return the beginning and end of a hunk, with which all has ``limit`` tokens; nothing if that tells nothing."""
    sizes = range(1, min(len(hunk), limit * _CHARACTERS))
    size = bisect_left(sizes, True, key=lambda each: tokens_with(cut_middle(hunk, each)) > limit)
    return [cut_middle(hunk, size)] if size >= _LEAST_HUNK else []
