"""Where the blocks of a request end, and where breakpoints stand, as numbers of its segments."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """Where a request's blocks end.

    Attributes:
        digests: The hashes of the segments.
        ends: Where blocks end, in order; behind every segment where the cache finds any prefix.
        breakpoints: Where breakpoints stand, in order; a subset of ``ends``.
        lifetimes: How many seconds the entry at each breakpoint lives; empty where all live as long as usual.
    """

    digests: tuple[str, ...]
    ends: tuple[int, ...]
    breakpoints: tuple[int, ...]
    lifetimes: tuple[int, ...] = ()

    def lifetime(self, place: int, usual: int) -> int:
        """Return how many seconds the entry at a breakpoint lives, the usual ones where none are recorded."""
        return dict(zip(self.breakpoints, self.lifetimes, strict=False)).get(place, usual)

    def alive(self, age: float, usual: int) -> tuple[int, ...]:
        """Return the breakpoints whose entries still live after ``age`` seconds."""
        return tuple(place for place in self.breakpoints if age <= self.lifetime(place, usual))
