"""What a connection was shown."""

from hypothesis import given, strategies as st

from aggregate.mcp.workspace import Ledger


@given(
    st.lists(st.frozensets(st.integers(1, 12), min_size=1), max_size=6),
    st.frozensets(st.integers(1, 12), min_size=1),
)
def test_lines_count_as_shown_only_if_all_were(
    shown: list[frozenset[int]], wanted: frozenset[int]
) -> None:
    """A run of lines is held back only where each of them was shown of this very content."""
    ledger = Ledger()
    for call, lines in enumerate(shown, start=1):
        ledger.record("a.py", "same", lines, call=call)
    everything = frozenset().union(*shown)
    assert bool(ledger.call_of("a.py", "same", wanted)) == (wanted <= everything)
    assert not ledger.call_of("a.py", "other", wanted)
    assert not ledger.call_of("b.py", "same", wanted)


def test_a_change_forgets_what_was_shown() -> None:
    """Lines of a file that has changed are not those that were shown."""
    ledger = Ledger()
    ledger.record("a.py", "x\ny\n", [1, 2], call=1)
    ledger.record("a.py", "new\ny\n", [1], call=2)
    assert ledger.call_of("a.py", "new\ny\n", [1]) == 2
    assert not ledger.call_of("a.py", "new\ny\n", [2])
    assert ledger.earlier_text("a.py", "newer") == ""


def test_texts_are_kept_within_bounds() -> None:
    """Of many files the oldest texts go; that their lines were shown stays known."""
    ledger = Ledger()
    texts = [f"{number}" * 1_000_000 for number in range(10)]
    for number, text in enumerate(texts):
        ledger.record(f"{number}.py", text, [1], call=number + 1)
    assert not ledger.earlier_text("0.py", "other")
    assert ledger.earlier_text("9.py", "other")
    assert ledger.call_of("0.py", texts[0], [1]) == 1
