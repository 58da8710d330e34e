"""What a provider's cache would read and write for a request, by its rules.

The model is on the strict side where the rules leave room: an entry is found only behind blocks that are cut as they
were when it was written, and breakpoints before the longest prefix that is read write nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from aggregate.models.usage import Usage
from aggregate.prompt_cache.policy import CacheLookup, CachePolicy
from aggregate.prompt_cache.request_plan import BlockLayout, RequestPlan


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    """The entries of a cache: a hash of each cached prefix, and when it was last used, in seconds."""

    entries: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def after(cls, layout: BlockLayout, *, at: float = 0.0) -> "SimulatedCache":
        """Return what an earlier request has left at the time ``at``."""
        return cls({prefix: at for end, prefix in block_prefixes(layout) if not layout.marks or end in layout.marks})


def charge(plan: RequestPlan, cache: SimulatedCache, *, at: float = 0.0) -> tuple[Usage, SimulatedCache]:
    """Return the input tokens of a request at the time ``at``, and the cache behind it; output is left at zero."""
    rules, layout = plan.rules, plan.layout
    if rules.caching is CacheLookup.NONE:
        return Usage(fresh=plan.total), cache
    alive = {prefix for prefix, used in cache.entries.items() if at - used <= rules.seconds}
    places = [(end, prefix) for end, prefix in block_prefixes(layout) if plan.tokens[end - 1] >= rules.minimum]
    if rules.caching is CacheLookup.PREFIX:
        found = max((end for end, prefix in places if prefix in alive), default=0)
        read = plan.tokens[found - 1] // rules.step * rules.step if found else 0
        return Usage(plan.total - read, 0, read), _used(cache, [prefix for _, prefix in places], at)
    found = _look_back(places, layout, rules, alive)
    read = plan.tokens[found - 1] if found else 0
    written = max((plan.tokens[mark - 1] for mark in layout.marks), default=0)
    touched = [
        prefix for end, prefix in places if end == found or (end in layout.marks and (end > found or prefix in alive))
    ]
    write = max(written - read, 0)
    return Usage(plan.total - read - write, write, read), _used(cache, touched, at)


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


def _look_back(places: list[tuple[int, str]], layout: BlockLayout, rules: CachePolicy, alive: set[str]) -> int:
    """Return where the longest entry ends that a breakpoint finds among the blocks before it, ``0`` for none."""
    position = {end: number for number, end in enumerate(layout.ends)}
    marked = [position[mark] for mark in layout.marks]
    found = 0
    for end, prefix in places:
        if prefix in alive and any(0 <= mark - position[end] < rules.look_back for mark in marked):
            found = end
    return found


def _used(cache: SimulatedCache, touched: list[str], at: float) -> SimulatedCache:
    return SimulatedCache({**cache.entries, **dict.fromkeys(touched, at)})
