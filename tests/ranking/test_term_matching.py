"""A task's terms in names."""

import pytest

from aggregate.ranking.inquiry import TermMatcher

NAMES = ("retry_loop", "", "run", "Entries", "loops", "with\nloop", "entryRetry", "a retry", "loop")


@pytest.mark.parametrize("names", [NAMES, ("café_loop", "İİ_loop", *NAMES), ("run", "go"), ()])
def test_many_names_are_matched_as_each_alone(names: tuple[str, ...]) -> None:
    """Names that are searched as one text hold the terms that each holds by itself, whatever stands in them."""
    terms = ("retry", "loop", "entry")
    together = TermMatcher(terms).matched_in(names)
    assert together == [TermMatcher(terms).matched(name) for name in names]


def test_terms_are_told_of_the_names_that_hold_them() -> None:
    """What matches stands at the place of its name, and no other name has any."""
    matched = TermMatcher(["loop", "retry"]).matched_in(["run", "retry_loop", "go", "loops"])
    assert matched == [(), ("loop", "retry"), (), ("loop",)]
