"""Where a request sets breakpoints, behind those that an earlier one has set, and how long their entries live."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from aggregate.base.text import common_prefix
from aggregate.base.values import Section
from aggregate.sending.cache.block_layout import BlockLayout
from aggregate.sending.cache.breakpoints import choose_breakpoints, expected_change
from aggregate.sending.cache.hashed_prompt import HashedPrompt
from aggregate.sending.cache.lifetimes import (
    CacheLifetime,
    Pauses,
    WrittenStretch,
    count_long,
)
from aggregate.sending.cache.policy import CachePolicy

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
