"""Counts of single texts that are kept from run to run."""

from hashlib import sha256
from pathlib import Path

from hypothesis import given, strategies as st

from aggregate.project.index import Index
from aggregate.prompt import SavedCounts
from aggregate.prompt.token_counts import COUNT, token_kind
from tests.base.tokens.plain_count import plain_count
from tests.project.index.samples import opened

TEXT = "Tell me what this says.\n\n"


@given(st.text())
def test_counts_are_exact(text: str) -> None:
    """A text has as many tokens as the reference says, the first time and the next (rule B-1)."""
    counts = SavedCounts(Index(None, limit=1))
    assert counts(text) == counts(text) == plain_count(text)


def test_half_of_a_character_pair_is_counted() -> None:
    """Text that UTF-8 cannot hold is no error."""
    assert SavedCounts(Index(None, limit=1))("a\ud800b") > 0


def test_a_count_is_kept_for_the_next_run(tmp_path: Path) -> None:
    """What was counted once is looked up, in the same place as the counts of a prompt's segments (rule I-1)."""
    with opened(tmp_path) as index:
        SavedCounts(index)(TEXT)
        index.flush()
    with opened(tmp_path) as index:
        (row,) = index.get_many(token_kind(), [sha256(TEXT.encode()).digest()])
        assert row == COUNT.pack(plain_count(TEXT))


def test_what_is_known_is_not_counted_again(tmp_path: Path) -> None:
    """The index's count is believed, which shows in one that is planted there (rule I-1)."""
    with opened(tmp_path) as index:
        key = sha256(TEXT.encode()).digest()
        index.put_many(token_kind(), [(key, COUNT.pack(12_345))])
        index.flush()
        assert SavedCounts(index)(TEXT) == 12_345
