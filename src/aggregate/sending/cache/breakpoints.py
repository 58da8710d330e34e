"""Where a request sets its breakpoints, and how long the entries that end there should live.

An entry of a cache ends at a breakpoint, and a later request reads the longest entry whose bytes it repeats. So one
breakpoint stands at the end, for the next turn, and others in the body for the turn in which something there changes:
at its end, and behind parts of it. Where to set them by how likely each file changes was tried: it costs about a
hundredth less; before what a question adds to the files it costs more.

An entry that lives for an hour costs more when it is written, and saves writing it again after each pause that an entry
of five minutes does not survive. What is written seldom and read often, such as the files, earns that soon; what only
the next turn adds earns it where long pauses are common. Providers want longer lifetimes before shorter ones, and an
entry cannot be trusted to outlive the shorter-lived one that it was built on: so the first new breakpoints get the
longer lifetime, the others the shorter one, and none behind a shorter-lived entry a longer one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from aggregate.base.text import common_prefix
from aggregate.prompt.document import Section, Stability
from aggregate.sending.cache.file_order import TURNS
from aggregate.sending.cache.fingerprint import BlockLayout, HashedPrompt
from aggregate.sending.models import CacheLookup, CachePolicy

# People answer after 2.5 minutes in the median and after more than five in a quarter of all turns, hardly ever after an
# hour: so likely a pause ends the shorter lifetime and not the longer one, before any was seen.
_USUALLY_LOST = 0.25
_PRIOR_WEIGHT = 4.0  # in pauses that were seen: after five short ones a discussion passes for quick
# How many pauses are recorded: a discussion that was slow this morning may be quick now.
REMEMBERED_PAUSES = 20
# Parts of a body behind which breakpoints stand, if there are any left: files that change often stand last, and in
# three of four turns with a budget nothing before the last sixth leaves.
_PARTS = (5 / 6, 1 / 2)
# Tokens that a further turn is expected to add to a discussion that begins: an answer of 500 words and a question.
EXPECTED_GROWTH = 1_000


def with_pause(pauses: tuple[float, ...], seconds: float) -> tuple[float, ...]:
    return (*pauses, seconds)[-REMEMBERED_PAUSES:]


def lost_share(pauses: Sequence[float], policy: CachePolicy) -> float:
    """Return how likely the next pause ends the shorter lifetime and not the longer one."""
    seen = sum(policy.seconds < pause <= policy.long_seconds for pause in pauses)
    return (_PRIOR_WEIGHT * _USUALLY_LOST + seen) / (_PRIOR_WEIGHT + len(pauses))


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    layout: BlockLayout | None = None  # of the last request, ``None`` if there was none
    age: float = 0.0  # seconds since then
    # Whether new entries live for the longer time where that is expected to pay
    takes_hours: bool = False
    pauses: tuple[float, ...] = ()  # seconds between the last turns
    writes: bool = True  # whether a request follows that may read what this one writes
    # Segments before what the next request replaces for certain, 0 where nothing is
    replaced: int = 0


FIRST_REQUEST = EarlierRequest()


@dataclass(frozen=True, slots=True)
class Outline:
    """A request as its cache sees it; a place is the number of pieces before it."""

    digests: tuple[str, ...]  # of the pieces
    tokens: Sequence[int]  # up to and with each piece
    ends: frozenset[int]  # behind which blocks end in any case
    body: int  # behind it the request only grows
    markable: Collection[int]  # places where a breakpoint may stand
    # Behind what others begin with too: instructions and tools, or what tickets share
    head: int = 0
    fixed: frozenset[int] = frozenset()  # where others have set one, which counts

    @classmethod
    def of(cls, prompt: HashedPrompt) -> "Outline":
        fingerprint = prompt.fingerprint
        number = len(fingerprint.segments)
        tokens = tuple(accumulate(segment.tokens for segment in fingerprint.segments))
        stable = takewhile(lambda part: part.section is not Section.HISTORY, prompt.segments)
        body = 1 + sum(1 for _ in stable)
        # Each excerpt of the discussion is a block of its own: it only grows, so none of them is ever cut anew.
        ends = frozenset((1, body, *range(body, number + 1), *image_ends(prompt)))
        slow = (
            place
            for place, part in enumerate(prompt.segments, start=1)
            if part.segment.stability is Stability.SLOW
        )
        return cls(fingerprint.digests, tokens, ends, body, range(1, number + 1), next(slow, 0))


def layout_with_breakpoints(
    outline: Outline, policy: CachePolicy, before: EarlierRequest
) -> BlockLayout:
    """Return a layout that keeps the ends and breakpoints of the earlier one where the bytes are the same.

    Where a cache finds any prefix it needs no breakpoint, and a block ends behind every piece.
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
            place: before.layout.lifetime(place, policy.seconds)
            for place in before.layout.alive(before.age, policy.seconds)
            if place <= shared and tokens[place - 1] >= policy.minimum
        }
    # The last breakpoint whose entry lives for the longer time.
    fallback = max((place for place, seconds in old.items() if seconds > policy.seconds), default=0)
    ends = {*outline.ends, *old_ends}
    breakpoints: tuple[int, ...] = tuple(sorted(old)[-1:])
    if before.writes:
        # Behind what the next request replaces no entry could ever be read.
        last = before.replaced or len(tokens)
        ends.add(last)
        breakpoints = _chosen(outline, policy, last=last, ends=ends, old=old, fallback=fallback)
    lifetimes: tuple[int, ...] = ()
    if policy.long_seconds:
        last_long = _last_long(tokens, policy, before, breakpoints, max(old, default=0), fallback)
        # Old ones live as before, new ones as is expected to pay.
        lifetimes = tuple(
            policy.long_seconds if place <= last_long else policy.seconds for place in breakpoints
        )
    ends.update(breakpoints)
    return BlockLayout(outline.digests, tuple(sorted(ends)), breakpoints, lifetimes)


def _chosen(
    outline: Outline,
    policy: CachePolicy,
    *,
    last: int,
    ends: Collection[int],
    old: Collection[int],
    fallback: int,
) -> tuple[int, ...]:
    """Return where to set breakpoints: at most ``policy.max_breakpoints``, none below the minimum.

    ``old`` are those of the last request whose bytes are the same still, and which a cache still holds. The last of
    these that lives longer than others, the ``fallback``, is set again, or it would die.
    """
    tokens, body = outline.tokens[:last], min(outline.body, last)
    free = policy.max_breakpoints - len(outline.fixed)
    if tokens[-1] < policy.minimum or free <= 0:
        return tuple(sorted(outline.fixed))
    hit = max((place for place in old if place <= last), default=0)
    behind_hit = sorted(end for end in ends if hit < end <= last)
    is_out_of_reach = hit > 0 and len(behind_hit) >= policy.look_back
    wanted = [last]
    # Set again where the last request wrote: in the body, and where the search from the end does not reach back so far.
    if 0 < hit < last and (hit <= body or is_out_of_reach):
        wanted.append(hit)
    if 0 < fallback < last:
        wanted.append(fallback)
    least = bisect_left(tokens, policy.minimum) + 1
    parts = (max(least, bisect_right(tokens, part * tokens[body - 1], 0, body)) for part in _PARTS)
    again = sorted((place for place in old if place <= body), reverse=True)
    for place in (body, outline.head, *again, *parts):
        # Before the longest entry that is read a new breakpoint would write nothing.
        is_new = place > hit and place in outline.markable and tokens[place - 1] >= policy.minimum
        if is_new or place in old:
            wanted.append(place)
    chosen = [place for place in dict.fromkeys(wanted) if place not in outline.fixed]
    return tuple(sorted({*chosen[:free], *outline.fixed}))


def image_ends(prompt: HashedPrompt) -> list[int]:
    return [place for place, part in enumerate(prompt.segments, start=2) if part.images]


def _last_long(
    tokens: Sequence[int],
    policy: CachePolicy,
    before: EarlierRequest,
    breakpoints: Sequence[int],
    hit: int,
    fallback: int,
) -> int:
    """Return the last place whose entry is to live for the longer time, 0 for none; ``hit`` is what is read."""
    new = [place for place in breakpoints if place > hit]
    if not before.takes_hours or fallback != hit or not new:
        return fallback
    start, end = tokens[hit - 1] if hit else 0, tokens[new[-1] - 1]
    growth = tokens[-1] - start if hit else EXPECTED_GROWTH
    # Of each token: what the longer time costs more, and what is paid again after a pause, of which each turn may have
    # one: in the first for what stands there now, later for what has grown behind it too.
    more = policy.long_write - policy.write
    again = lost_share(before.pauses, policy) * (policy.write - policy.read)
    kept = [hit, *new][-2] if more < TURNS * again else hit
    behind = end - (tokens[kept - 1] if kept else 0)
    short = again * (TURNS * behind + growth * TURNS * (TURNS - 1) / 2)
    return new[-1] if more * (behind + TURNS * growth) < short else kept
