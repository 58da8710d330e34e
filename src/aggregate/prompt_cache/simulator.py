"""What a provider's cache would read and write for a request, by its policy.

The model is on the strict side where the rules leave room: an entry is found only behind blocks that are cut as they
were when it was written, and breakpoints before the longest prefix that is read write nothing.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from aggregate.models.usage import Usage
from aggregate.prompt_cache.policy import CacheLookup
from aggregate.prompt_cache.request_plan import BlockLayout, RequestPlan


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    """The entries of a cache: a hash of each cached prefix, and when it was last used, in seconds."""

    entries: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def after(cls, layout: BlockLayout) -> "SimulatedCache":
        """Return what an earlier request has left at the time 0."""
        ends = frozenset(layout.breakpoints or layout.ends)
        return cls({prefix: 0.0 for end, prefix in block_prefixes(layout) if end in ends})

    def used(self, prefixes: Iterable[str], *, at: float) -> "SimulatedCache":
        """Return the cache behind a request that has read or written ``prefixes``."""
        return SimulatedCache({**self.entries, **dict.fromkeys(prefixes, at)})


def charge(
    plan: RequestPlan, cache: SimulatedCache, *, at: float = 0.0
) -> tuple[Usage, SimulatedCache]:
    """Return the input tokens of a request at the time ``at``, and the cache behind it; output is left at zero."""
    policy = plan.policy
    if policy.lookup is CacheLookup.NONE:
        return Usage(fresh=plan.total), cache
    alive = {prefix for prefix, used in cache.entries.items() if at - used <= policy.seconds}
    prefixes = [
        (end, prefix)
        for end, prefix in block_prefixes(plan.layout)
        if plan.tokens[end - 1] >= policy.minimum
    ]
    if policy.lookup is CacheLookup.PREFIX:
        longest = max((end for end, prefix in prefixes if prefix in alive), default=0)
        read = plan.tokens[longest - 1] // policy.step * policy.step if longest else 0
        return Usage(plan.total - read, 0, read), cache.used(
            (prefix for _, prefix in prefixes), at=at
        )
    breakpoints = plan.layout.breakpoints
    longest = _longest_entry(plan, prefixes, alive)
    read = plan.tokens[longest - 1] if longest else 0
    write = max(plan.tokens[breakpoints[-1] - 1] - read, 0) if breakpoints else 0
    entries = [
        (end, prefix)
        for end, prefix in prefixes
        if end in breakpoints and (end > longest or prefix in alive)
    ]
    entries += [(end, prefix) for end, prefix in prefixes if end == longest]
    return Usage(plan.total - read - write, write, read), cache.used(
        (prefix for _, prefix in entries), at=at
    )


def expected_usage(plan: RequestPlan, earlier: BlockLayout | None, *, age: float = 0.0) -> Usage:
    """Return the input tokens of a request that follows an earlier one after ``age`` seconds."""
    cache = SimulatedCache.after(earlier) if earlier else SimulatedCache()
    return charge(plan, cache, at=age)[0]


def block_prefixes(layout: BlockLayout) -> Iterator[tuple[int, str]]:
    """Yield where each block ends, with a hash of everything up to there, the cuts between blocks included."""
    running = hashlib.blake2b(digest_size=12)
    for start, end in pairwise((0, *layout.ends)):
        running.update("\n".join((*layout.digests[start:end], "\n")).encode())
        yield end, running.copy().hexdigest()


def _longest_entry(
    plan: RequestPlan, prefixes: Sequence[tuple[int, str]], alive: Collection[str]
) -> int:
    """Return where the longest entry ends that a breakpoint finds among the blocks before it, ``0`` for none."""
    block_numbers = {end: number for number, end in enumerate(plan.layout.ends)}
    searched_from = [block_numbers[place] for place in plan.layout.breakpoints]
    longest = 0
    for end, prefix in prefixes:
        number = block_numbers[end]
        is_searched = any(0 <= start - number < plan.policy.look_back for start in searched_from)
        if is_searched and prefix in alive:
            longest = end
    return longest
