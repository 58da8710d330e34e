"""Delays between attempts."""

from aggregate.base.concurrency import doubling_delay


def test_delays_double_up_to_a_limit() -> None:
    """However often something has failed."""
    assert [doubling_delay(number, 1, 8) for number in range(1, 6)] == [1, 2, 4, 8, 8]
    assert doubling_delay(1, 30, 8) == 8
    assert doubling_delay(100_000, 0.5, 60) == 60
