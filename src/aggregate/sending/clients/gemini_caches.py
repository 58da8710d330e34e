"""When an explicit cache of Gemini's pays: the beginning of a prompt, kept by Google for a fee for each hour.

Google's own cache costs nothing, finds the beginning of a prompt at times, and promises nothing. So a cache is made
only after that one has missed, and only where the turns that are expected within its lifetime save more than it costs.
Making one is charged like sending the same text; each use is then charged as read. Source: Google's documentation and
price list, as read in November 2026.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aggregate.base.values import bare_model_name

AS_OF: Final = "2026-11-22"
LIFETIME: Final = 900.0
"""Seconds that a cache is asked for, and extended by: longer ones cost more if the discussion ends."""
_MARGIN: Final = 30.0
"""Seconds before its end from which on a cache is not relied on: a request may wait before it is sent."""
_SHORTEST_PAUSE: Final = 20.0
"""Seconds between two turns below which a pause says nothing of the next one."""
_MOST_READS: Final = 10
"""Turns within a lifetime that are counted on, however fast the last ones came."""
_STORAGE: Final = (("gemini-2.5-flash", 1.0), ("gemini-3-flash", 1.0), ("gemini-3.5-flash", 1.0))
_USUAL_STORAGE: Final = 4.5
"""Dollars for a million tokens and an hour: that of the large models is taken for all that are not listed."""


@dataclass(frozen=True, slots=True)
class ExplicitCache:
    """A cache that was made.

    Attributes:
        name: As Google calls it.
        model: Whose cache it is.
        digest: A hash of what it holds.
        tokens: How many tokens that has, by o200k.
        expires: When it ends, in seconds since the epoch.
        base_url: Where it was made, ``""`` for Google's own address.
    """

    name: str
    model: str
    digest: str
    tokens: int
    expires: float
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class ImplicitHits:
    """What Google's own cache could have read of earlier requests, and what it has read, in tokens."""

    expected: float = 0.0
    read: float = 0.0

    @property
    def share(self) -> float | None:
        """The part that was read, ``None`` where it had no occasion yet."""
        return min(self.read / self.expected, 1.0) if self.expected > 0 else None

    def after(self, expected: int, read: int) -> "ImplicitHits":
        """Return the sums with one more request; earlier ones count half, for the cache differs by the hour."""
        return ImplicitHits(self.expected / 2 + expected, self.read / 2 + read)


class Action(StrEnum):
    """What is done with an explicit cache before a request."""

    NONE = "none"
    USE = "use"
    EXTEND = "extend"
    CREATE = "create"


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a token of input, and the part of it that a token costs which is read."""

    input: float
    read: float


@dataclass(frozen=True, slots=True)
class CacheDecision:
    """What is done with an explicit cache, and why.

    Attributes:
        action: What is done.
        model: Whose cache.
        digest: A hash of what it holds.
        tokens: Of what it holds, by o200k.
        storage: Dollars that its lifetime costs, ``0`` where nothing is bought.
        saved: Dollars that the turns within its lifetime are expected to save.
        cache: The one to be used or extended.
        stale: Those of this project that hold another beginning and cost storage still.
    """

    action: Action
    model: str
    digest: str
    tokens: int
    storage: float = 0.0
    saved: float = 0.0
    cache: ExplicitCache | None = None
    stale: tuple[ExplicitCache, ...] = ()

    @property
    def sentence(self) -> str:
        """What a user is told, ``""`` where nothing is done."""
        held = f"{self.tokens:,} tokens"
        bought = f"{held} for {LIFETIME / 60:g} minutes at ${self.storage:.4f}, expected to save ${self.saved:.4f}"
        match self.action:
            case Action.CREATE:
                return f"an explicit cache is made: {bought}"
            case Action.EXTEND:
                return f"the explicit cache is extended: {bought}"
            case Action.USE:
                return f"the explicit cache is used: {held}"
            case Action.NONE:
                return ""


def decide(
    wanted: CacheDecision,
    caches: Sequence[ExplicitCache],
    hits: ImplicitHits,
    *,
    now: float,
    pause: float | None,
    prices: Prices | None,
    minimum: int,
) -> CacheDecision:
    """Return what to do before a request.

    Args:
        wanted: The beginning of the prompt, its model and its tokens.
        caches: What this project has made.
        hits: How Google's own cache has done.
        now: Seconds since the epoch.
        pause: Seconds since the last request to the model, ``None`` for the first one.
        prices: Of the model, ``None`` where they are not known: then nothing is bought.
        minimum: The fewest tokens that a cache holds.
    """
    alive = [cache for cache in caches if cache.expires > now + _MARGIN]
    same = (wanted.model, wanted.digest)
    cache = next((one for one in alive if (one.model, one.digest) == same), None)
    stale = tuple(one for one in alive if one.model == wanted.model and one is not cache)
    reads = 0 if pause is None else min(int(LIFETIME / max(pause, _SHORTEST_PAUSE)), _MOST_READS)
    storage = wanted.tokens * _storage_price(wanted.model) / 1e6 * LIFETIME / 3600
    share = hits.share
    saved = 0.0
    if prices is not None and share is not None:
        saved = wanted.tokens * prices.input * reads * (1 - prices.read) * (1 - share)
    if cache is not None:
        is_late = pause is not None and cache.expires - now < pause + _MARGIN
        action = Action.EXTEND if is_late and saved > storage else Action.USE
    else:
        # The request that makes it pays for the text once, and then reads it.
        first = wanted.tokens * prices.input * prices.read if prices else 0.0
        pays = wanted.tokens >= minimum and saved > storage + first
        action = Action.CREATE if pays else Action.NONE
    is_bought = action in (Action.EXTEND, Action.CREATE)
    return CacheDecision(
        action,
        wanted.model,
        wanted.digest,
        wanted.tokens,
        storage if is_bought else 0.0,
        saved if is_bought else 0.0,
        cache,
        stale,
    )


def _storage_price(model: str) -> float:
    name = bare_model_name(model)
    known = [(start, price) for start, price in _STORAGE if name.startswith(start)]
    return max(known, key=lambda row: len(row[0]))[1] if known else _USUAL_STORAGE
