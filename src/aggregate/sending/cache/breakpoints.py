"""Where a request sets its breakpoints.

An entry of a cache ends at a breakpoint, and a later request reads the longest entry whose bytes it repeats. So one
breakpoint stands at the end, for the next turn, and others in the body for the turn in which something there changes:
at its end, before the first thing that is expected to change, and behind parts of it. Where to set them by how likely
each file changes was tried: it costs about a hundredth less.

A place is a number of segments, the system prompt included: breakpoint 3 stands behind the third one.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence

from aggregate.base.values import Section, Stability
from aggregate.sending.cache.hashed_prompt import HashedSegment
from aggregate.sending.cache.policy import CachePolicy

_PARTS = (5 / 6, 1 / 2)
"""Parts of a body behind which breakpoints stand, if there are any left: files that change often stand last, and in
three of four turns with a budget nothing before the last sixth leaves."""


def choose_breakpoints(
    tokens: Sequence[int],
    policy: CachePolicy,
    *,
    body: int,
    first_change: int,
    ends: Sequence[int],
    old: Collection[int],
    fallback: int = 0,
) -> tuple[int, ...]:
    """Return where to set breakpoints: at most ``policy.max_breakpoints``, none below the minimum.

    Args:
        tokens: Tokens up to and with each segment, the system prompt first.
        policy: The provider's cache.
        body: How many segments stand before the discussion.
        first_change: How many stand before the first one that is expected to change, ``0`` for none in the body.
        ends: Where blocks end for other reasons.
        old: Breakpoints of the last request whose bytes are the same still, and which a cache still holds.
        fallback: The last of these that lives longer than others, ``0`` for none: it is set again, or it would die.
    """
    last = len(tokens)
    if tokens[-1] < policy.minimum:
        return ()
    hit = max(old, default=0)
    chosen = {last}
    blocks_behind_hit = sum(hit < end <= last for end in ends)
    # Set again where the last request wrote: in the body, and where the search from the end does not reach back so far.
    if 0 < hit < last and (hit <= body or blocks_behind_hit >= policy.look_back):
        chosen.add(hit)
    if 0 < fallback < last:
        chosen.add(fallback)
    parts = (bisect_right(tokens, part * tokens[body - 1], 0, body) for part in _PARTS)
    again = sorted((place for place in old if place <= body), reverse=True)
    for place in (body, first_change, *again, *parts):
        # Before the longest entry that is read a new breakpoint would write nothing.
        is_useful = place in old or (place > hit and tokens[place - 1] >= policy.minimum)
        if is_useful and len(chosen) < policy.max_breakpoints:
            chosen.add(place)
    return tuple(sorted(chosen))


def expected_change(parts: Sequence[HashedSegment]) -> int:
    """Return how many segments, the system prompt included, stand before the first one that is expected to change.

    It is the one place that requests of different workers agree on, who share what stands before it and no more.
    """
    has_files = False
    for place, part in enumerate(parts, start=1):
        if part.section is Section.HISTORY:
            break
        # Behind the files it is said what is not shown, which differs from turn to turn.
        is_remainder = has_files and part.section is Section.FILES and not part.path
        if (
            is_remainder
            or part.section is Section.CHANGED
            or part.segment.stability is Stability.SLOW
        ):
            return place
        has_files = has_files or bool(part.path)
    return 0
