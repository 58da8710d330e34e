"""Counts by the optional fast library: equal to tiktoken's, or left to it."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate.base.tokens import count_batch, count_exact, counts_exactly
from tests.base.tokens.plain_count import encoding, plain_count
from tests.processes import python

CONTEXTS = ["{}", "{}'s", "..{}'s", "{}123", "a{}b'll"]
"""A letter takes the contraction, a mark joins signs, a digit joins digits: each context tells two kinds apart."""
SCRIPTS = [
    "Größe, naïve façade, İstanbul ſtraße",
    "Привет, мир: это функция",
    "日本語のコメント、한국어 주석，中文注释",
    "هذا تعليق و עברית",
    "हिन्दी टिप्पणी ไทย",
    "Ελληνικά ∑ ∂ → 😀👩‍👩‍👧",
]
LETTERS = (
    "aAsStT'019 \n\r\t/_-.éÉſİǅʰ\u0301中Ⅷ٣\u2028\u088f\ua7ce\U0001f600\U000323b0\U00011de0\ue000"
)
pytest.importorskip("toktok", reason="the extra [fast] is not installed")


def assert_equal_counts(texts: list[str]) -> int:
    """Compare texts accepted by the guard; return the number of others."""
    exact = [text for text in texts if counts_exactly(text)]
    assert count_exact(exact) == [plain_count(text) for text in exact]
    return len(texts) - len(exact)


def test_borders_of_the_guard() -> None:
    """Neighbours of guarded characters count exactly; guarded ones are refused."""
    blocks = [range(start, start + 0x80) for start in range(0x80, 0x110000, 0x80)]
    guarded = [block for block in blocks if not counts_exactly("".join(map(chr, block)))]
    numbers = [n for block in guarded for n in block if not counts_exactly(chr(n))]
    letters = [number for number in numbers if not 0xD800 <= number <= 0xDFFF]
    assert len(letters) == 4_699
    around = sorted({number + step for number in letters[::7] for step in (-1, 1)} - set(letters))
    texts = [context.format(chr(number)) for number in around for context in CONTEXTS]
    assert assert_equal_counts(texts) == 0
    differing = [
        context.format(chr(number))
        for number in letters[::50]
        for context in CONTEXTS
        if count_exact([context.format(chr(number))]) != [plain_count(context.format(chr(number)))]
    ]
    assert len(differing) >= len(letters[::50])


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_every_character(context: str) -> None:
    """Each code point counts as in tiktoken, or is refused by the guard."""
    numbers = [number for number in range(0x110000) if not 0xD800 <= number <= 0xDFFF]
    assert assert_equal_counts([context.format(chr(number)) for number in numbers]) == 4_699


@given(texts=st.lists(st.text(LETTERS, max_size=60) | st.text(max_size=20), max_size=6))
def test_any_text_counts_exactly(texts: list[str]) -> None:
    """Accepted and refused texts are counted together, in order."""
    replaced = [
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
    ]
    assert count_batch(texts) == [plain_count(text) for text in replaced]
    assert_equal_counts(texts)


def test_characters_that_python_lacks() -> None:
    """New and unassigned characters are counted exactly without tiktoken."""
    numbers = [
        number
        for number in range(0x300, 0x1F000)
        if unicodedata.category(chr(number)) == "Cn"
        and (number % 9 == 0 or not counts_exactly(chr(number)))
    ]
    rows = [map(chr, numbers[start : start + 8]) for start in range(0, len(numbers), 8)]
    texts = [context.format("-'s".join(row)) for row in rows for context in CONTEXTS]
    script = """
        import json, sys
        from aggregate.base.tokens import count_batch
        counts = count_batch(["word größe " * 50_000, *json.load(sys.stdin)])[1:]
        print(json.dumps([counts, "tiktoken" in sys.modules]))
    """
    printed = python(script, stdin=json.dumps(texts))
    assert json.loads(printed) == [[plain_count(text) for text in texts], False]


@pytest.mark.parametrize(
    "text", [*SCRIPTS, "<|endoftext|> and <|im_start|>", "'\u017f", "x'\u017fy"]
)
def test_scripts_and_special_tokens(text: str) -> None:
    """Scripts mix with code, special tokens are plain text; contractions with a long s go to tiktoken."""
    texts = [text, f"def f():  # {text}\n    return '{text}'\n" * 50, text.upper()]
    assert count_batch(texts) == [len(encoding().encode_ordinary(part)) for part in texts]
    assert counts_exactly(text) == ("'\u017f" not in text)


@pytest.mark.parametrize(
    ("library", "is_used"),
    [("", True), ("__version__ = '0.3.1'\ndef batch_count(*_): raise SystemExit(1)\n", False)],
)
def test_another_version_is_not_used(tmp_path: Path, library: str, *, is_used: bool) -> None:
    """Only the tested version is used, else tiktoken, with equal sums."""
    if library:
        (tmp_path / "toktok.py").write_text(library, encoding="utf-8")
    script = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from aggregate import count
        print(count("word größe " * 50_000), "tiktoken" in sys.modules)
    """
    assert python(script).split() == [str(plain_count("word größe " * 50_000)), str(not is_used)]
