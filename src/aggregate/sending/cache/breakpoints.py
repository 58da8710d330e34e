"""Where a request sets its breakpoints.

An entry of a cache ends at a breakpoint, and a later request reads the longest entry whose bytes it repeats. So one
breakpoint stands at the end, for the next turn, and the others inside the body, for the turn in which a file changes:
then everything is read up to the last breakpoint before that file. They stand where the expected loss is smallest,
given how likely each file is to be the next one to change.

A place is a number of segments, the system prompt included: breakpoint 3 stands behind the third one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from aggregate.base.values import Prompt, Section, Segment, Stability
from aggregate.sending.cache.policy import CachePolicy

_SPREAD_CANDIDATES = 32
"""Places looked at over the whole body, evenly by tokens: they lie 3 % of the body apart, and the time to choose grows
with their square."""
_LAST_CANDIDATES = 8
"""Places at the body's end that are all looked at: there stand the files that change most often."""
SELDOM = 0.02
"""The weight of a file that was never seen to change; one that changed just now has 1. About what is left of a change
after 200 further turns with changes (``file_order.FORGET``), so that any change that is remembered weighs more."""
_OFTEN = 1.0
"""The weight of a section that is expected to change now and then, such as the beads: that of a fresh change."""
EACH_TURN = inf
"""The weight of what stands behind the discussion for one question alone: the next request replaces it for certain, so
that no breakpoint stands behind it."""


def choose_breakpoints(
    tokens: Sequence[int],
    policy: CachePolicy,
    *,
    body: int,
    ends: Sequence[int],
    old: Sequence[int],
    weights: Sequence[float],
    fallback: int = 0,
) -> tuple[int, ...]:
    """Return where to set breakpoints: at most ``policy.max_breakpoints``, none below the minimum.

    Args:
        tokens: Tokens up to and with each segment, the system prompt first.
        policy: The provider's cache.
        body: How many segments stand before the discussion.
        ends: Where blocks end for other reasons.
        old: Breakpoints of the last request whose bytes are the same still, and which a cache still holds.
        weights: How likely each segment of the prompt is the first one to change.
        fallback: The last of these that lives longer than others, ``0`` for none: it is set again, or it would die.
    """
    last = len(tokens)
    if tokens[-1] < policy.minimum:
        return ()
    hit = max((place for place in old if tokens[place - 1] >= policy.minimum), default=0)
    fixed = {last}
    blocks_behind_hit = sum(hit < end <= last for end in ends)
    # Set again where the last request wrote: in the body, and where the search from the end does not reach back so far.
    if 0 < hit < last and (hit <= body or blocks_behind_hit >= policy.look_back):
        fixed.add(hit)
    if 0 < fallback < last and len(fixed) < policy.max_breakpoints:
        fixed.add(fallback)
    candidates = _candidates(tokens, body, hit, old, minimum=policy.minimum)
    shared = _before_first_change(weights, body)
    if hit < shared and tokens[shared - 1] >= policy.minimum:
        candidates.append(shared)
    chosen = _least_loss(
        candidates,
        policy.max_breakpoints - len(fixed),
        ExpectedLoss.of(tokens, weights, body=body),
        fixed=frozenset(place for place in fixed if place <= body),
    )
    return tuple(sorted(fixed | chosen))


def default_change_weights(prompt: Prompt) -> tuple[float, ...]:
    """Return how likely each segment is the first one to change, where nothing else is known.

    If some files are known to change, as they do from one worker to the next, the others are not expected to.
    """
    changing_files_known = any(
        segment.section is Section.FILES and segment.stability is Stability.SLOW
        for segment in prompt.segments
    )
    return tuple(
        0.0
        if changing_files_known and segment.stability is Stability.STABLE
        else default_change_weight(segment)
        for segment in prompt.segments
    )


def default_change_weight(segment: Segment) -> float:
    """Return how likely a segment is the first one to change, where nothing else is known of it."""
    if segment.section is Section.HISTORY:
        return 0.0
    return _OFTEN if segment.stability is Stability.SLOW else SELDOM


@dataclass(frozen=True, slots=True)
class ExpectedLoss:
    """How many tokens a change is expected to lose, summed up once so that any stretch is two look-ups.

    Attributes:
        tokens: Tokens up to and with each segment.
        chance: The weight of the segments before each place.
        moment: The same, each weight times the tokens before its segment.
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

    @property
    def end(self) -> int:
        """The last place that it knows of."""
        return len(self.chance) - 1

    def between(self, breakpoint_: int, end: int) -> float:
        """Return what is lost if any segment from a breakpoint on and before ``end`` changes."""
        read = self.tokens[breakpoint_ - 1] if breakpoint_ else 0
        return (
            self.moment[end]
            - self.moment[breakpoint_]
            - read * (self.chance[end] - self.chance[breakpoint_])
        )


def _before_first_change(weights: Sequence[float], body: int) -> int:
    """Return how many segments stand before the first one that is likely to change, ``0`` for none in the body.

    It is the one place that requests of different workers agree on, who share what stands before it and no more.
    """
    return next((place for place in range(1, body) if weights[place - 1] >= _OFTEN), 0)


def _candidates(
    tokens: Sequence[int], body: int, hit: int, old: Sequence[int], *, minimum: int
) -> list[int]:
    """Return where a breakpoint in the body would be of use: old ones, and places that will now be written."""
    candidates = {place for place in old if place <= body and tokens[place - 1] >= minimum}
    # The place behind is the first that may be chosen.
    before_first = max(hit, bisect_left(tokens, minimum))
    if before_first < body:
        start = tokens[before_first]
        size = tokens[body - 1] - start
        for step in range(_SPREAD_CANDIDATES + 1):
            goal = start + size * step // _SPREAD_CANDIDATES
            candidates.add(min(bisect_right(tokens, goal, before_first, body - 1) + 1, body))
        candidates.update(range(max(before_first + 1, body - _LAST_CANDIDATES), body + 1))
    return sorted(candidates)


def _least_loss(
    candidates: Sequence[int], free: int, loss: ExpectedLoss, *, fixed: frozenset[int]
) -> frozenset[int]:
    """Return the at most ``free`` candidates that lose least, together with the fixed places.

    A shortest path: a state is the last breakpoint so far and how many free ones were used; fixed places are always
    taken, and no step leads over one.
    """
    states: dict[tuple[int, int], tuple[float, frozenset[int]]] = {(0, 0): (0.0, frozenset())}
    for place in sorted(fixed.union(candidates)):
        reached: dict[tuple[int, int], tuple[float, frozenset[int]]] = {}
        for (last, used), (lost, chosen) in states.items():
            state = (place, used + (place not in fixed))
            total = lost + loss.between(last, place)
            if state[1] <= free and (state not in reached or total < reached[state][0]):
                reached[state] = (total, chosen | {place})
        states = reached if place in fixed else states | reached
    # Of equal losses the fewest breakpoints win, then the earliest: the same request is always planned alike.
    paths = (
        (lost + loss.between(last, loss.end), len(chosen), sorted(chosen))
        for (last, _), (lost, chosen) in states.items()
    )
    return frozenset(min(paths)[2])
