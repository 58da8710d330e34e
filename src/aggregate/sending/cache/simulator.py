"""What a provider's cache would read and write for a request, by its policy.

The model is on the strict side where the rules leave room: an entry is found only behind blocks that are cut as they
were when it was written, breakpoints before the longest prefix that is read write nothing, and an entry that is built
on a shorter-lived one lives no longer than that. An entry is renewed when it is read, and where a breakpoint is set on
it again; providers do not say whether the latter is so.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from aggregate.base.values import Usage
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.policy import CacheLookup
from aggregate.sending.cache.request_plan import RequestPlan


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    """When entries, by a hash of their prefix, were last used in seconds, and which lifetimes are not the usual one."""

    entries: Mapping[str, float] = field(default_factory=dict)
    lifetimes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def after(cls, layout: BlockLayout, *, age: float = 0.0) -> "SimulatedCache":
        ends = frozenset(layout.breakpoints or layout.ends)
        entries = {prefix: end for end, prefix in block_prefixes(layout) if end in ends}
        seconds = dict(zip(layout.breakpoints, layout.lifetimes, strict=False))
        lifetimes = {prefix: seconds[end] for prefix, end in entries.items() if end in seconds}
        return cls(dict.fromkeys(entries, -age), lifetimes)

    def used(
        self, prefixes: Iterable[str], *, at: float, lifetimes: Mapping[str, int] | None = None
    ) -> "SimulatedCache":
        return SimulatedCache(
            {**self.entries, **dict.fromkeys(prefixes, at)}, {**self.lifetimes, **(lifetimes or {})}
        )

    def alive(self, at: float, usual: int) -> frozenset[str]:
        return frozenset(
            prefix
            for prefix, used in self.entries.items()
            if at - used <= self.lifetimes.get(prefix, usual)
        )


def charge(
    plan: RequestPlan, cache: SimulatedCache, *, at: float = 0.0
) -> tuple[Usage, SimulatedCache]:
    """Return the input tokens of a request at a time in seconds, and the cache behind it; output is left at zero."""
    policy = plan.policy
    if policy.lookup is CacheLookup.NONE:
        return Usage(fresh=plan.total), cache
    alive = cache.alive(at, policy.seconds)
    prefixes = [
        (end, prefix)
        for end, prefix in block_prefixes(plan.layout)
        if plan.tokens[end - 1] >= policy.minimum
    ]
    if policy.lookup is CacheLookup.PREFIX:
        longest = max((end for end, prefix in prefixes if prefix in alive), default=0)
        read = plan.tokens[longest - 1] // policy.step * policy.step if longest else 0
        behind = cache.used((prefix for _, prefix in prefixes), at=at)
        return Usage(plan.total - read, 0, read), behind
    breakpoints = plan.layout.breakpoints
    # The longest entry that a breakpoint finds among the blocks before it.
    block_numbers = {end: number for number, end in enumerate(plan.layout.ends)}
    searched_from = [block_numbers[place] for place in breakpoints]
    longest = 0
    for end, prefix in prefixes:
        distances = (start - block_numbers[end] for start in searched_from)
        if prefix in alive and any(0 <= far < policy.look_back for far in distances):
            longest = end
    read = plan.tokens[longest - 1] if longest else 0
    write = max(plan.tokens[breakpoints[-1] - 1] - read, 0) if breakpoints else 0
    by_end = dict(prefixes)
    marked = [end for end in breakpoints if end in by_end]
    kept = [end for end in marked if end < longest and by_end[end] in alive]
    written = [end for end in marked if end > longest]
    seconds = {end: plan.layout.lifetime(end, policy.seconds) for end in written}
    long_ends = [plan.tokens[end - 1] for end in written if seconds[end] > policy.seconds]
    if longest:
        most = cache.lifetimes.get(by_end[longest], policy.seconds)
        seconds = {end: min(lives, most) for end, lives in seconds.items()}
    used = [by_end[end] for end in (*kept, *([longest] if longest else ()), *written)]
    lifetimes = {by_end[end]: lives for end, lives in seconds.items()}
    long = max(max(long_ends, default=0) - read, 0)
    usage = Usage(plan.total - read - write, write, read, cache_write_long=long)
    return usage, cache.used(used, at=at, lifetimes=lifetimes)


def expected_usage(plan: RequestPlan, earlier: BlockLayout | None, *, age: float = 0.0) -> Usage:
    cache = SimulatedCache.after(earlier, age=age) if earlier else SimulatedCache()
    return charge(plan, cache)[0]


def block_prefixes(layout: BlockLayout) -> Iterator[tuple[int, str]]:
    """Yield where each block ends, with a hash of everything up to there, the cuts between blocks included."""
    running = hashlib.blake2b(digest_size=12)
    for start, end in pairwise((0, *layout.ends)):
        running.update("\n".join((*layout.digests[start:end], "\n")).encode())
        yield end, running.copy().hexdigest()
