"""Counts of several texts by one call, and of the parts of one text."""

import pytest
from hypothesis import given, settings, strategies as st

from aggregate.base.tokens import count_batch
from aggregate.base.tokens.counter import cut
from aggregate.base.tokens.vocabulary import END_OF_TEXT
from tests.base.tokens.plain_count import plain_count

SETTINGS = settings(max_examples=200, deadline=None)
PIECES = st.sampled_from(
    [
        *"/\\ \n\r\t#`-~>'_.\u00a0\u2028\u200b\u3000\x00\x0b\x0c\x1c\x85éßſKDžʰªΩ中\u0301\U0001f600aAzZ09٣",
        *("\r\n", "\n\n", "\n    ", "\n\t\t", "  ", "//", "'s", "'LL", "'ſ"),
        *("don't", "ABCdef", "1234"),
        *("<", "<|endof", "text|>", END_OF_TEXT, "<|im_start|>"),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=20).map("".join),
    st.text(max_size=40),
    st.builds(lambda piece, often: piece * often, PIECES, st.integers(0, 300)),
)


@SETTINGS
@given(texts=st.lists(TEXTS, max_size=6))
def test_a_batch_counts_each_text_as_alone(texts: list[str]) -> None:
    """Any texts, also empty ones and such that hold what stands between them, have the counts that they have alone."""
    assert count_batch(texts) == [plain_count(text) for text in texts]


@SETTINGS
@given(text=TEXTS.filter(len), characters=st.integers(1, 12))
def test_parts_have_the_tokens_of_the_whole(text: str, characters: int) -> None:
    """Wherever a text is cut, its parts give it back, and their counts sum up to its own."""
    parts = list(cut(text, characters))
    assert "".join(parts) == text
    assert sum(map(plain_count, parts)) == plain_count(text)


@pytest.mark.parametrize("after", [chr(code) for code in range(128)])
def test_each_border_between_ascii_characters_is_one_of_tokens(after: str) -> None:
    """Each ASCII character behind a letter, with what may follow it, has the same tokens behind a cut as without one."""
    for before in ("word", "WORD", " x'l", "\u0301a", "\n  a"):
        for rest in ("", " ", "  x", "\n", "\n /", "s t", "l's", "/\n/", "1234", "\u0301", "É"):
            text = f"{before}{after}{rest}"
            assert sum(map(plain_count, cut(text, 1))) == plain_count(text), repr(text)


def test_a_text_is_cut_soon() -> None:
    """Parts of code are hardly longer than asked for, also where it stands on one line."""
    code = "function f(a){return a.b+[1,2]}" * 1000
    lengths = [len(part) for part in cut(code, 100)]
    assert max(lengths) < 120


def test_a_text_without_a_border_stays_whole() -> None:
    """Where no place is known to be one between tokens, nothing is cut."""
    assert list(cut("中" * 50, 10)) == ["中" * 50]
    assert list(cut("", 10)) == [""]


@pytest.mark.parametrize(
    "character", [" ", "\n", "a", "=", "\t", "中", "1", "'", "\u0301", "/", "\x00"]
)
def test_long_runs_of_one_character(character: str) -> None:
    """Texts of one character many times are counted as the reference counts them."""
    text = character * 30_000
    assert count_batch([text, "x" + text + "x"]) == [plain_count(text), plain_count(f"x{text}x")]


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "\ud83d\ude00"])
def test_half_a_surrogate_pair_counts_as_a_replacement_character(text: str) -> None:
    """A text that no file can hold is counted as tiktoken counts it, beside others too."""
    assert count_batch(["é", text, ""]) == [plain_count("é"), plain_count(text), 0]


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(texts=st.lists(TEXTS, max_size=4), characters=st.integers(1, 12))
def test_many_texts(texts: list[str], characters: int) -> None:
    """What holds for some texts holds for many."""
    assert count_batch(texts) == [plain_count(text) for text in texts]
    for text in texts:
        assert sum(count_batch(list(cut(text, characters)))) == plain_count(text)
