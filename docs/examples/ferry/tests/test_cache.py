"""Freshness."""

from ferry.cache import Entry, max_age
from ferry.transport import Response


def test_fresh_until_it_expires() -> None:
    """An entry may be used before it expires, and not afterwards."""
    entry = Entry("", 10.0, "a.csv")
    assert (entry.is_fresh(9.9), entry.is_fresh(10.0)) == (True, False)


def test_max_age() -> None:
    """The age is read among other directives."""
    assert max_age(Response(200, {"cache-control": "public, max-age=60"}, b"")) == 60
