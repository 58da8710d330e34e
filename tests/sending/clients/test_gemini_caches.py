"""When an explicit cache of Gemini's pays."""

import pytest

from aggregate.sending.clients.gemini_caches import (
    LIFETIME,
    Action,
    CacheDecision,
    ExplicitCache,
    ImplicitHits,
    Prices,
    decide,
)

MODEL = "gemini-3.5-flash"
WANTED = CacheDecision(Action.NONE, MODEL, "d", 100_000)
MISSED, HIT = ImplicitHits(50_000, 0), ImplicitHits(50_000, 50_000)
PRICES = Prices(1.5e-6, 0.1)
NOW = 1000.0


def cache(*, digest: str = "d", model: str = MODEL, left: float = LIFETIME) -> ExplicitCache:
    """Return a cache that ends in ``left`` seconds."""
    return ExplicitCache(f"cachedContents/{digest}", model, digest, 100_000, NOW + left)


def decided(
    *caches: ExplicitCache,
    hits: ImplicitHits = MISSED,
    pause: float | None = 120.0,
    prices: Prices | None = PRICES,
    wanted: CacheDecision = WANTED,
) -> CacheDecision:
    """Decide for a discussion with a turn every two minutes."""
    return decide(wanted, caches, hits, now=NOW, pause=pause, prices=prices, minimum=4096)


def test_a_cache_is_made_where_it_pays() -> None:
    """Seven turns of 100,000 tokens save $0.945; storing them for a quarter of an hour costs $0.025."""
    made = decided()
    assert (made.action, made.cache) == (Action.CREATE, None)
    assert made.storage == pytest.approx(0.1 * 1.0 / 4)
    assert made.saved == pytest.approx(0.1 * 1.5 * 7 * 0.9)
    assert made.sentence == (
        "an explicit cache is made: 100,000 tokens for 15 minutes at $0.0250, expected to save $0.9450"
    )


@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("the first request of a discussion", {"pause": None}),
        ("a pause longer than the lifetime", {"pause": 901.0}),
        ("Google's own cache has not been asked yet", {"hits": ImplicitHits()}),
        ("Google's own cache reads it all", {"hits": HIT}),
        ("no price is known", {"prices": None}),
        ("less than a cache holds", {"wanted": CacheDecision(Action.NONE, MODEL, "d", 4000)}),
        ("storage that costs more", {"prices": Prices(2e-8, 0.1)}),
    ],
)
def test_no_cache_without_benefit(why: str, more: dict[str, object]) -> None:
    """Each alone is a reason to buy nothing."""
    assert decided(**more).action is Action.NONE, why  # type: ignore[arg-type]
    assert decided(**more).storage == 0  # type: ignore[arg-type]


def test_a_cache_is_used_and_extended() -> None:
    """It is used while it lives; near its end it is extended if that pays again, else used up."""
    assert decided(cache()).action is Action.USE
    assert decided(cache(), pause=None).action is Action.USE
    late = decided(cache(left=140.0))
    assert (late.action, late.cache) == (Action.EXTEND, cache(left=140.0))
    assert decided(cache(left=140.0), hits=HIT).action is Action.USE
    assert decided(cache(left=20.0)).action is Action.CREATE


def test_other_caches_of_the_project() -> None:
    """One of another beginning is replaced and then deleted; one of another model is let be."""
    other, foreign = cache(digest="e"), cache(digest="f", model="gemini-3-pro")
    made = decided(other, foreign, cache(digest="g", left=1.0))
    assert (made.action, made.stale) == (Action.CREATE, (other,))
