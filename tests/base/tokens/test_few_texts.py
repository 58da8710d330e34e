"""Counting a few texts exactly without the tokenizer."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from aggregate.base.tokens import count_few
from tests.base.tokens.plain_count import plain_count
from tests.processes import python

LETTERS = "aAbBsStTrevmlLdD'019 \n\r\t\x0b\x1c\x85\xa0/_-.,(){}éÉßſİıǅʰ\u0301中ﬁ½Ⅷ٣\u2028\u200b\U0001f600\ue000\ue004"


@given(texts=st.lists(st.text(LETTERS, max_size=60) | st.text(max_size=20), max_size=4))
def test_as_the_tokenizer_counts(texts: list[str]) -> None:
    """Counts equal tiktoken's for any scripts; lone surrogates are left to it."""
    counts = count_few(texts)
    assert counts is None or counts == [plain_count(text) for text in texts]
    assert counts is not None or not "".join(texts).isascii()


@pytest.mark.slow
def test_every_kind_of_character() -> None:
    """Characters at the borders of all kinds count as in tiktoken, in any context."""
    places = ["a{}b", "A{}B", " {} ", "\n{}\n", "1{}2", "!{}?", "{}'s", "x'{}", "X{}\n\n"]
    kinds = [unicodedata.category(chr(number)) for number in range(0x110000)]
    numbers = [
        number
        for number, kind in enumerate(kinds)
        if number % 40 == 0 or kind != kinds[number - 1] or number < 0x800
    ]
    known = 0
    for number in numbers:
        texts = [place.format(chr(number)) for place in places]
        counts = count_few(texts)
        known += counts is not None
        assert counts in (None, [plain_count(text) for text in texts]), hex(number)
    assert known > 10_000


def test_no_tokenizer_is_loaded() -> None:
    """A few texts load no library, many load one, with equal sums."""
    script = """
        import sys
        from aggregate import count
        libraries = {"tiktoken", "toktok"}
        print(count("def f(größe):\\n    return 'don\\'t'\\n"), bool(libraries & sys.modules.keys()))
        print(count("word " * 50_000), bool(libraries & sys.modules.keys()))
    """
    few = plain_count("def f(größe):\n    return 'don\\'t'\n".replace("\\'", "'"))
    assert python(script).split() == [str(few), "False", str(plain_count("word " * 50_000)), "True"]
