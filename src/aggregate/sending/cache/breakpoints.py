"""Where a request sets its breakpoints.

An entry of a cache ends at a breakpoint, and a later request reads the longest entry whose bytes it repeats. So one
breakpoint stands at the end, for the next turn, and others in the body for the turn in which something there changes:
at its end, before the first thing that is expected to change, and behind parts of it. Where to set them by how likely
each file changes was tried: it costs about a hundredth less.

A place is a number of segments, the system prompt included: breakpoint 3 stands behind the third one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from aggregate.base.text import common_prefix
from aggregate.base.values import Section, Stability
from aggregate.sending.cache.hashed_prompt import HashedPrompt, HashedSegment
from aggregate.sending.cache.lifetimes import (
    CacheLifetime,
    Pauses,
    WrittenStretch,
    count_long,
)
from aggregate.sending.cache.policy import CachePolicy


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """Where a request's blocks end.

    Attributes:
        digests: The hashes of the segments.
        ends: Where blocks end, in order; behind every segment where the cache finds any prefix.
        breakpoints: Where breakpoints stand, in order; a subset of ``ends``.
        lifetimes: How many seconds the entry at each breakpoint lives; empty where all live as long as usual.
    """

    digests: tuple[str, ...]
    ends: tuple[int, ...]
    breakpoints: tuple[int, ...]
    lifetimes: tuple[int, ...] = ()

    def lifetime(self, place: int, usual: int) -> int:
        """Return how many seconds the entry at a breakpoint lives, the usual ones where none are recorded."""
        return dict(zip(self.breakpoints, self.lifetimes, strict=False)).get(place, usual)

    def alive(self, age: float, usual: int) -> tuple[int, ...]:
        """Return the breakpoints whose entries still live after ``age`` seconds."""
        return tuple(place for place in self.breakpoints if age <= self.lifetime(place, usual))


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
    least = bisect_left(tokens, policy.minimum) + 1
    parts = (max(least, bisect_right(tokens, part * tokens[body - 1], 0, body)) for part in _PARTS)
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


EXPECTED_GROWTH = 1_000
"""Tokens that a further turn is expected to add to a discussion that begins: an answer of 500 words and a question."""


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """What went before a request.

    Attributes:
        layout: Of the last request, ``None`` if there was none.
        age: Seconds since then.
        lifetime: How long new entries are to live.
        pauses: Those between the last turns.
        writes: Whether a request follows that may read what this one writes.
        replaced: How many segments of the new prompt stand before what the next request replaces for certain, ``0``
            where nothing is.
    """

    layout: BlockLayout | None
    age: float
    lifetime: CacheLifetime
    pauses: Pauses
    writes: bool
    replaced: int


def layout_with_breakpoints(
    prompt: HashedPrompt,
    digests: tuple[str, ...],
    tokens: Sequence[int],
    policy: CachePolicy,
    before: EarlierRequest,
) -> BlockLayout:
    """Return a layout that keeps the ends and breakpoints of the earlier one where the bytes are the same."""
    old_ends: list[int] = []
    old: dict[int, int] = {}
    if before.layout:
        shared = common_prefix(digests, before.layout.digests)
        old_ends = [end for end in before.layout.ends if end <= shared]
        old = {
            place: before.layout.lifetime(place, policy.seconds)
            for place in before.layout.alive(before.age, policy.seconds)
            if place <= shared and tokens[place - 1] >= policy.minimum
        }
    stable = takewhile(lambda part: part.section is not Section.HISTORY, prompt.segments)
    body = 1 + sum(1 for _ in stable)
    # Each excerpt of the discussion is a block of its own: it only grows, so none of them is ever cut anew.
    ends = {1, body, *old_ends, *range(body, len(digests) + 1), *image_ends(prompt)}
    breakpoints: tuple[int, ...] = tuple(sorted(old)[-1:])
    if before.writes:
        # Behind what the next request replaces no entry could ever be read.
        last = before.replaced or len(tokens)
        ends.add(last)
        breakpoints = choose_breakpoints(
            tokens[:last],
            policy,
            body=min(body, last),
            first_change=expected_change(prompt.segments),
            ends=sorted(end for end in ends if end <= last),
            old=[place for place in old if place <= last],
            fallback=_last_long(old, policy),
        )
    lifetimes = _lifetimes(breakpoints, tokens, policy, old, before)
    return BlockLayout(digests, tuple(sorted(ends.union(breakpoints))), breakpoints, lifetimes)


def _last_long(old: Mapping[int, int], policy: CachePolicy) -> int:
    """Return the last breakpoint whose entry lives for the longer time, ``0`` for none."""
    long = (place for place, seconds in old.items() if seconds > policy.seconds)
    return max(long, default=0)


def _lifetimes(
    breakpoints: Sequence[int],
    tokens: Sequence[int],
    policy: CachePolicy,
    old: Mapping[int, int],
    before: EarlierRequest,
) -> tuple[int, ...]:
    """Return how long the entry at each breakpoint is to live: old ones as before, new ones as is expected to pay."""
    if not policy.long_seconds:
        return ()
    hit, fallback = max(old, default=0), _last_long(old, policy)
    new = [place for place in breakpoints if place > hit]
    start = tokens[hit - 1] if hit else 0
    stretch = WrittenStretch(
        start,
        [tokens[place - 1] for place in new],
        not hit or fallback == hit,
        tokens[fallback - 1] if fallback else 0,
        tokens[-1] - start if hit else EXPECTED_GROWTH,
    )
    number = count_long(stretch, policy, before.lifetime, before.pauses)
    long_places = {*new[:number], fallback}
    last = max(long_places)
    return tuple(policy.long_seconds if place <= last else policy.seconds for place in breakpoints)


def image_ends(prompt: HashedPrompt) -> list[int]:
    """Return where blocks end because images follow."""
    return [place for place, part in enumerate(prompt.segments, start=2) if part.images]
