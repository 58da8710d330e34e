"""BM25 by its known properties."""

import pytest

from aggregate.ranking.evidence import K1, rarity, saturation


def test_rarity_falls_with_the_texts_that_hold_the_term() -> None:
    """The fewer texts hold a term the more it counts, always above 0, also where counts were cut off."""
    values = [rarity(100, holding) for holding in (0, 1, 10, 50, 100, 255)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert rarity(0, 0) > 0


@pytest.mark.parametrize("b", [0.0, 0.3, 0.75])
def test_occurrences_count_ever_less(b: float) -> None:
    """One occurrence in a text of average length counts 1; many never more than K1 + 1; long texts count less."""
    assert saturation(1, length=1, b=b) == pytest.approx(1)
    assert saturation(1000, length=1, b=b) < K1 + 1
    assert saturation(2, length=1, b=b) < 2
    if b:
        assert saturation(1, length=3, b=b) < 1 < saturation(1, length=0.3, b=b)
