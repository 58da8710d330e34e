"""Source maps as a short text."""

import zlib
from array import array
from base64 import b85encode

import pytest
from hypothesis import given, settings, strategies as st

from aggregate.base.values import Label, PackedRuns, SourceMap, pack_map, unpack_map
from aggregate.base.values.source_map import WITHOUT_SOURCE
from aggregate.prompt.source_map import RunCollector

NAMES = ("a.py", "b.py", "c.py", "3")
numbers = st.integers(min_value=1, max_value=2**31)


@st.composite
def _runs(draw: st.DrawFn) -> SourceMap:
    """Return a map of up to a dozen runs."""
    collector = RunCollector()
    for _ in range(draw(st.integers(0, 12))):
        label = draw(st.sampled_from(Label))
        if label in WITHOUT_SOURCE:
            collector.add(draw(st.integers(1, 9)), label)
            continue
        first = draw(st.one_of(st.just(0), numbers))
        last = first + draw(st.integers(0, 99)) if first else 0
        collector.add(draw(st.integers(1, 99)), label, draw(st.sampled_from(NAMES)), first, last)
    return SourceMap(collector.runs())


@given(source_map=_runs(), known=st.lists(st.sampled_from(NAMES), max_size=5))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_what_is_packed_is_unpacked(source_map: SourceMap, known: list[str]) -> None:
    """A map stays the same, whatever sources its reader knows already, and in whatever order (rule L-3)."""
    others, text = pack_map(source_map, known)
    assert not set(others) & set(known)
    back = unpack_map(text, [*known, *others])
    assert [*back.runs] == [*source_map.runs]
    assert [*back.origins()] == [*source_map.origins()]


GOOD = pack_map(SourceMap(PackedRuns(("", "a"), array("I", [3, 0, 1, 1, 3]))), ["a"])[1]


BOMB = b85encode(zlib.compress(bytes(1 << 24))).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        BOMB,
        b85encode(zlib.compress(b"\xff" * 99)).decode(),
        "~~~",
        GOOD[:-2],
        GOOD[::-1],
        "0" * 999,
        "ä",
    ],
)
def test_a_damaged_map_is_refused(text: str) -> None:
    """What is no map of ours is a ``ValueError``, nothing else (rule L-2)."""
    with pytest.raises(ValueError, match=r"\S"):
        unpack_map(text, ["a"])


def test_a_map_needs_its_sources() -> None:
    """A map whose sources are gone leads nowhere, so it is refused (rule L-2)."""
    assert unpack_map(GOOD, ["a"]).find("a", 2) == 2
    with pytest.raises(ValueError, match="is not a map of sources"):
        unpack_map(GOOD, [])
