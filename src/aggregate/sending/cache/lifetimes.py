"""How long the entries of a request should live, by the pauses that are expected between two turns.

An entry that lives for an hour costs more when it is written, and saves writing it again after each pause that an entry
of five minutes does not survive. What is written seldom and read often, such as the files, earns that soon; what only
the next turn adds earns it where long pauses are common. Providers want longer lifetimes before shorter ones, and an
entry cannot be trusted to outlive the shorter-lived one that it was built on: so the first new breakpoints get the
longer lifetime, the others the shorter one, and none behind a shorter-lived entry a longer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import erf, log, sqrt

from aggregate.sending.cache.policy import CachePolicy
from aggregate.sending.cache.retention import TURNS

_MEDIAN_PAUSE, _SPREAD = 150.0, 1.028
"""People answer after 2.5 minutes in the median and after more than five in a quarter of all turns: as logarithms, a
normal distribution with this deviation."""
_PRIOR_WEIGHT = 4.0
"""The expectation counts like this many pauses that were seen: after five short ones a discussion passes for a quick
one, and one long pause among ten is believed."""
REMEMBERED_PAUSES = 20
"""How many pauses are recorded: a discussion that was slow this morning may be quick now."""


class CacheLifetime(StrEnum):
    """What the user wants of a provider's cache."""

    AUTO = "auto"
    SHORT = "5m"
    LONG = "1h"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses between the last turns of a discussion, in seconds."""

    seconds: Sequence[float] = ()

    def share(self, longer_than: float, up_to: float) -> float:
        """Return how likely the next pause is longer than one time and not longer than another, in seconds."""
        expected = _expected_share_below(up_to) - _expected_share_below(longer_than)
        seen = sum(longer_than < pause <= up_to for pause in self.seconds)
        return (_PRIOR_WEIGHT * expected + seen) / (_PRIOR_WEIGHT + len(self.seconds))

    def then(self, seconds: float) -> "Pauses":
        """Return the pauses with one more; those that were longest ago are forgotten."""
        return Pauses((*self.seconds, seconds)[-REMEMBERED_PAUSES:])


@dataclass(frozen=True, slots=True)
class WrittenStretch:
    """What a request writes.

    Attributes:
        start: Tokens that are read before it.
        ends: Tokens up to each new breakpoint, in order.
        is_long_before: Whether what is read lives for the longer time.
        fallback: Tokens up to the last entry that lives for the longer time, ``0`` for none.
        growth: How many tokens each further turn is expected to add.
    """

    start: int
    ends: Sequence[int]
    is_long_before: bool
    fallback: int
    growth: int


def count_long(
    stretch: WrittenStretch, policy: CachePolicy, lifetime: CacheLifetime, pauses: Pauses
) -> int:
    """Return how many of the new breakpoints, the first ones, get the longer lifetime.

    Args:
        stretch: What is written.
        policy: The provider's cache.
        lifetime: What the user wants.
        pauses: Those seen so far.
    """
    is_short = lifetime in (CacheLifetime.SHORT, CacheLifetime.OFF)
    if is_short or not policy.long_seconds or not stretch.is_long_before:
        return 0
    if lifetime is CacheLifetime.LONG:
        return len(stretch.ends)
    lost = pauses.share(policy.seconds, policy.long_seconds)
    costs = [
        (_expected_cost(stretch, number, policy, lost), number)
        for number in range(len(stretch.ends) + 1)
    ]
    return min(costs)[1]


def _expected_cost(stretch: WrittenStretch, number: int, policy: CachePolicy, lost: float) -> float:
    """Return what this turn and those after it cost if the first ``number`` new entries live for the longer time.

    Args:
        stretch: What is written.
        number: How many entries.
        policy: The provider's cache.
        lost: How likely a pause ends the shorter lifetime and not the longer one.
    """
    end = stretch.ends[-1] if stretch.ends else stretch.start
    long_end = stretch.ends[number - 1] if number else stretch.start
    cost = policy.long_write * (long_end - stretch.start) + policy.write * (end - long_end)
    if number == len(stretch.ends):
        return cost + policy.long_write * TURNS * stretch.growth
    short = end - (long_end if number else stretch.fallback)
    # After each of the turns to come all that is short-lived by then may be written again.
    rewritten = TURNS * short + stretch.growth * TURNS * (TURNS - 1) / 2
    again = lost * (policy.write - policy.read) * rewritten
    return cost + policy.write * TURNS * stretch.growth + again


def _expected_share_below(seconds: float) -> float:
    deviations = log(max(seconds, 1.0) / _MEDIAN_PAUSE) / _SPREAD
    return 0.5 * (
        1.0 + erf(deviations / sqrt(2.0))
    )  # ``statistics`` takes as long to load as all of this package
