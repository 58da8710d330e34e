"""Breakpoints of a request, and lifetimes of its cache entries.

A request reads the longest cache entry whose bytes it repeats. One breakpoint at the end serves the next turn. Others
inside the body (its end, and after parts of it) serve a turn in which a file changes. Choosing them by how likely each
file changes was tried and saves only one percent.

An entry that lives for an hour costs more to write, but survives pauses that end an entry of five minutes. This pays
for the files, which are written seldom and read often, and elsewhere if long pauses are common. Providers require
longer lifetimes before shorter ones, and an entry may not outlive a shorter-lived one that it extends. So the first new
breakpoints get the longer lifetime, and none after a shorter-lived entry does.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from aggregate.base.text import common_prefix
from aggregate.sending.cache.file_order import TURNS
from aggregate.sending.cache.hashed_prompt import BlockLayout
from aggregate.sending.models import CacheLookup, CachePolicy

# Prior probability that a pause outlasts the shorter lifetime but not the longer one: people answer after 2.5 minutes
# in the median, after more than five in a quarter of all turns, and hardly ever after an hour.
_PRIOR_LOSS = 0.25
_PRIOR_WEIGHT = 4.0  # observed pauses needed to outweigh the prior
# A discussion that was slow this morning may be quick now.
REMEMBERED_PAUSES = 20
# Fractions of the body with spare breakpoints. Files that change often come last: in three of four turns with a
# budget nothing before the last sixth leaves.
_PARTS = (5 / 6, 1 / 2)
# Tokens added to a new discussion by a turn: an answer of 500 words and a question.
EXPECTED_GROWTH = 1_000


def lost_share(pauses: Sequence[float], policy: CachePolicy) -> float:
    """Return the probability of losing short-lived cache entries only.

    This happens if the next pause is longer than the shorter lifetime, but not than the longer one.
    """
    recent = pauses[-REMEMBERED_PAUSES:]
    losses = sum(policy.seconds < pause <= policy.long_seconds for pause in recent)
    return (_PRIOR_WEIGHT * _PRIOR_LOSS + losses) / (_PRIOR_WEIGHT + len(recent))


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    layout: BlockLayout | None = None  # of the last request, ``None`` for the first
    age: float = 0.0  # seconds since the last request
    takes_hours: bool = False  # use the longer lifetime where it pays
    pauses: tuple[float, ...] = ()  # seconds between the last turns
    writes: bool = True  # a later request may read the new entries
    # Segments before the part certainly replaced by the next request, 0 if there is none
    replaced: int = 0


FIRST_REQUEST = EarlierRequest()


@dataclass(frozen=True, slots=True)
class Outline:
    """The pieces of a request, for choosing breakpoints.

    A position is the number of pieces before it.
    """

    digests: tuple[str, ...]  # of the pieces
    tokens: Sequence[int]  # cumulative
    ends: frozenset[int]  # positions where blocks must end
    body: int  # end of the body; the rest only grows
    markable: Collection[int]  # possible positions of breakpoints
    # End of the part shared by other requests, such as instructions and tools
    head: int = 0
    fixed: frozenset[int] = frozenset()  # breakpoints set by the host; they count


def layout_with_breakpoints(
    outline: Outline, policy: CachePolicy, before: EarlierRequest
) -> BlockLayout:
    """Divide a request into blocks, and choose its cache breakpoints.

    Ends and breakpoints in the part shared with the last request are kept. A cache that finds any prefix needs no
    breakpoints; then every piece is a block.
    """
    tokens = outline.tokens
    if policy.lookup is not CacheLookup.BREAKPOINTS:
        return BlockLayout(outline.digests, tuple(range(1, len(tokens) + 1)), ())
    old_ends: list[int] = []
    old: dict[int, int] = {}
    if before.layout:
        shared = common_prefix(outline.digests, before.layout.digests)
        old_ends = [end for end in before.layout.ends if end <= shared]
        old = {
            end: before.layout.lifetime(end, policy.seconds)
            for end in before.layout.alive(before.age, policy.seconds)
            if end <= shared and tokens[end - 1] >= policy.minimum
        }
    # The last breakpoint whose entry has the longer lifetime.
    fallback = max((end for end, seconds in old.items() if seconds > policy.seconds), default=0)
    ends = {*outline.ends, *old_ends}
    breakpoints: tuple[int, ...] = tuple(sorted(old)[-1:])
    if before.writes:
        # The next request could not read an entry that contains a replaced part.
        last = before.replaced or len(tokens)
        ends.add(last)
        breakpoints = _breakpoints(
            outline, policy, last=last, ends=ends, old=old, fallback=fallback
        )
    lifetimes: tuple[int, ...] = ()
    if policy.long_seconds:
        last_long = _last_long(tokens, policy, before, breakpoints, max(old, default=0), fallback)
        lifetimes = tuple(
            policy.long_seconds if end <= last_long else policy.seconds for end in breakpoints
        )
    ends.update(breakpoints)
    return BlockLayout(outline.digests, tuple(sorted(ends)), breakpoints, lifetimes)


def _breakpoints(
    outline: Outline,
    policy: CachePolicy,
    *,
    last: int,
    ends: Collection[int],
    old: Collection[int],
    fallback: int,
) -> tuple[int, ...]:
    """Choose at most ``policy.max_breakpoints`` positions, none below the minimum size.

    ``old`` are breakpoints of the shared prefix with living entries. ``fallback``, the last of them with the longer
    lifetime, is set again, or its entry would expire.
    """
    tokens, body = outline.tokens[:last], min(outline.body, last)
    free = policy.max_breakpoints - len(outline.fixed)
    if tokens[-1] < policy.minimum or free <= 0:
        return tuple(sorted(outline.fixed))
    hit = max((end for end in old if end <= last), default=0)
    new_blocks = sum(hit < end <= last for end in ends)
    is_out_of_reach = hit > 0 and new_blocks >= policy.look_back
    candidates = [last]  # by priority
    # Repeat the last one if it is in the body, or if the provider's search from the end does not reach it.
    if 0 < hit < last and (hit <= body or is_out_of_reach):
        candidates.append(hit)
    if 0 < fallback < last:
        candidates.append(fallback)
    least = bisect_left(tokens, policy.minimum) + 1
    parts = (max(least, bisect_right(tokens, part * tokens[body - 1], 0, body)) for part in _PARTS)
    body_ends = sorted((end for end in old if end <= body), reverse=True)
    for end in (body, outline.head, *body_ends, *parts):
        # A new breakpoint before the longest hit would write nothing.
        is_new = end > hit and end in outline.markable and tokens[end - 1] >= policy.minimum
        if is_new or end in old:
            candidates.append(end)
    breakpoints = [end for end in dict.fromkeys(candidates) if end not in outline.fixed]
    return tuple(sorted({*breakpoints[:free], *outline.fixed}))


def _last_long(
    tokens: Sequence[int],
    policy: CachePolicy,
    before: EarlierRequest,
    breakpoints: Sequence[int],
    hit: int,
    fallback: int,
) -> int:
    """Return the last position with the longer cache lifetime.

    Return 0 if there is none. ``hit`` is the end of the cache entry read by this request.
    """
    new = [end for end in breakpoints if end > hit]
    if not before.takes_hours or fallback != hit or not new:
        return fallback
    start, end = tokens[hit - 1] if hit else 0, tokens[new[-1] - 1]
    growth = tokens[-1] - start if hit else EXPECTED_GROWTH
    # Per token: the surcharge of the longer lifetime, and the expected cost per turn of writing again after a pause.
    surcharge = policy.long_write - policy.write
    rewriting = lost_share(before.pauses, policy) * (policy.write - policy.read)
    stable_end = [hit, *new][-2] if surcharge < TURNS * rewriting else hit
    size = end - (tokens[stable_end - 1] if stable_end else 0)
    # With the shorter lifetime each turn may rewrite the present tokens and the later growth.
    short_cost = rewriting * (TURNS * size + growth * TURNS * (TURNS - 1) / 2)
    return new[-1] if surcharge * (size + TURNS * growth) < short_cost else stable_end
