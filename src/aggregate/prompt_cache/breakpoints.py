"""Where a request sets its breakpoints.

An entry of a cache ends at a breakpoint, and a later request reads the longest entry whose bytes it repeats. So one
breakpoint stands at the end, for the next turn, and the others inside the body, for the turn in which a file changes:
then everything is read up to the last breakpoint before that file. They stand where the expected loss is smallest,
given how likely each file is to be the next one to change.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.prompt_cache.policy import CachePolicy

_CANDIDATES = 32
_NEAREST = 8
SELDOM = 0.02
"""The weight of a file that was never seen to change; one that changed just now has 1."""
_OFTEN = 1.0
"""The weight of a section that is expected to change now and then, such as the beads."""


def choose_breakpoints(
    tokens: Sequence[int],
    rules: CachePolicy,
    *,
    body: int,
    ends: Sequence[int],
    old: Sequence[int],
    weights: Sequence[float],
) -> tuple[int, ...]:
    """Return behind which links to set breakpoints: at most ``rules.marks``, none below the minimum.

    Args:
        tokens: Tokens up to and with each link; link 1 is the system prompt, link ``n`` the segment ``n - 1``.
        rules: The provider's cache.
        body: How many links stand before the discussion.
        ends: Where blocks end for other reasons.
        old: Breakpoints of the last request whose bytes are the same still.
        weights: How likely each segment is the first one to change.
    """
    last = len(tokens)
    if tokens[-1] < rules.minimum:
        return ()
    hit = max((mark for mark in old if tokens[mark - 1] >= rules.minimum), default=0)
    fixed = {last}
    blocks_between = sum(hit < end <= last for end in ends)
    if 0 < hit < last and (hit <= body or blocks_between >= rules.look_back):
        fixed.add(hit)
    free = rules.marks - len(fixed)
    candidates = _candidates(tokens, body, hit, old, minimum=rules.minimum)
    edge = _edge(weights, body)
    if hit < edge and tokens[edge - 1] >= rules.minimum:
        candidates.append(edge)
    within = frozenset(mark for mark in fixed if mark <= body)
    inside = _best(candidates, free, ExpectedLoss.of(tokens, weights, body=body), body=body, fixed=within)
    return tuple(sorted(fixed | inside))


def _edge(weights: Sequence[float], body: int) -> int:
    """Return how many links stand before the first segment that is likely to change, ``0`` for none in the body.

    It is the one place that requests of different workers agree on, who share what stands before it and no more.
    """
    return next((number for number in range(1, body) if weights[number - 1] >= _OFTEN), 0)


def _candidates(tokens: Sequence[int], body: int, hit: int, old: Sequence[int], *, minimum: int) -> list[int]:
    """Return where a breakpoint in the body would be of use: old ones, and places that will now be written."""
    first = max(hit, bisect_left(tokens, minimum))  # link `first + 1` is the first that may be marked
    found = {mark for mark in old if mark <= body and tokens[mark - 1] >= minimum}
    if first < body:
        start, size = tokens[first], tokens[body - 1] - tokens[first]
        goals = (start + size * step // _CANDIDATES for step in range(_CANDIDATES + 1))
        found |= {min(bisect_right(tokens, goal, first, body - 1) + 1, body) for goal in goals}
        found |= set(range(max(first + 1, body - _NEAREST), body + 1))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class ExpectedLoss:
    """How many tokens a change is expected to lose, summed up once so that any stretch is two look-ups.

    Attributes:
        tokens: Tokens up to and with each link.
        chance: The weight of the links before each place.
        moment: The same, each weight times the tokens before its link.
    """

    tokens: Sequence[int]
    chance: Sequence[float]
    moment: Sequence[float]

    @classmethod
    def of(cls, tokens: Sequence[int], weights: Sequence[float], *, body: int) -> "ExpectedLoss":
        """Prepare the sums for the body of a prompt and the segment behind it."""
        chances = [0.0, *weights[:body]]
        moments = (chance * start for chance, start in zip(chances, (0, *tokens), strict=False))
        return cls(tokens, (0.0, *accumulate(chances)), (0.0, *accumulate(moments)))

    def between(self, mark: int, end: int) -> float:
        """Return what is lost if any link from ``mark`` on and before ``end`` changes."""
        kept = self.tokens[mark - 1] if mark else 0
        return self.moment[end] - self.moment[mark] - kept * (self.chance[end] - self.chance[mark])


def default_change_weights(prompt: Prompt) -> tuple[float, ...]:
    """Return how likely each segment is the first one to change, where nothing else is known.

    If some files are told to change, as they do from one worker to the next, the others are not expected to.
    """
    told = any(one.section is Section.FILES and one.stability is Stability.SLOW for one in prompt.segments)
    return tuple(
        0.0 if told and one.stability is Stability.STABLE else default_change_weight(one) for one in prompt.segments
    )


def default_change_weight(segment: Segment) -> float:
    """Return how likely a segment is the first one to change, where nothing else is known of it."""
    if segment.section is Section.HISTORY:
        return 0.0
    return _OFTEN if segment.stability is Stability.SLOW else SELDOM


def _best(
    candidates: Sequence[int], free: int, loss: ExpectedLoss, *, body: int, fixed: frozenset[int]
) -> frozenset[int]:
    """Return the at most ``free`` candidates that lose least beside the fixed ones.

    A shortest path: a state is the last breakpoint so far and how many free ones were used; fixed places are always
    taken, and no step leads over one.
    """
    states: dict[tuple[int, int], tuple[float, frozenset[int]]] = {(0, 0): (0.0, frozenset())}
    for place in sorted(set(candidates) | fixed):
        cost = place not in fixed
        reached: dict[tuple[int, int], tuple[float, frozenset[int]]] = {}
        for (mark, used), (lost, chosen) in states.items():
            to, total = (place, used + cost), lost + loss.between(mark, place)
            if to[1] <= free and (to not in reached or total < reached[to][0]):
                reached[to] = (total, chosen | {place})
        states = reached if place in fixed else states | reached
    end = len(loss.chance) - 1
    ends = (
        (lost + loss.between(mark, end), len(chosen), sorted(chosen)) for (mark, _), (lost, chosen) in states.items()
    )
    return frozenset(min(ends)[2])
