"""How long to wait before something that failed is tried again."""

_MOST_DOUBLINGS = 64
"""Beyond these no delay grows any more, and a float would overflow at 1,024."""


def doubling_delay(number: int, base: float, most: float) -> float:
    """Return the seconds to wait after the ``number``-th failure, counted from 1.

    Args:
        number: How often it has failed.
        base: Seconds after the first failure; doubled after each further one.
        most: The most seconds after any.
    """
    doublings = min(number - 1, _MOST_DOUBLINGS)
    return min(base * 2.0**doublings, most)
