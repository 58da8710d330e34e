"""Characters that nobody sees."""

import pytest

from aggregate.base.text import find_invisible


@pytest.mark.parametrize(
    ("text", "lines", "count"),
    [
        ("a\nif x:\u202e # \u2066end\u2069\n", (2,), 3),
        ("a\u200bb\n\nc\u2060d", (1, 3), 2),
        ("pass\u200dword = 1", (1,), 1),
        ("x\ufeffy", (1,), 1),
        ("ok" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all"), (1,), 10),
        ("a\ufe0f" + "\U000e0101\U000e0142" * 3, (1,), 7),
    ],
    ids=["bidi", "zero width", "joiner in a word", "mark inside", "tags", "variation selectors"],
)
def test_hidden_characters_are_told(text: str, lines: tuple[int, ...], count: int) -> None:
    """What turns the direction, has no width or is no glyph is counted, with its lines."""
    found = find_invisible(text)
    assert found is not None
    assert (found.lines, found.count) == (lines, count)


@pytest.mark.parametrize(
    "text",
    [
        "plain ASCII\n",
        "\ufeffint main() {}",
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467, pride \U0001f3f3\ufe0f\u200d\U0001f308, \u2764\ufe0f\u200d\U0001f525",
        "skin \U0001f469\U0001f3fd\u200d\U0001f4bb",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937 \u0d28\u0d4d\u200c",
        "\u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "na\u00efve \u4f60\u597d \u00ad soft",
    ],
    ids=[
        "ascii",
        "byte order mark",
        "emoji",
        "skin",
        "persian",
        "indian",
        "khmer",
        "flag",
        "accents",
    ],
)
def test_ordinary_text_is_not_told(text: str) -> None:
    """Joiners in emoji, Persian and the scripts of India are how these are written."""
    assert find_invisible(text) is None


def test_the_sentence_names_lines_and_characters() -> None:
    """The sentence counts, names the first lines and the characters, and shows none of them."""
    found = find_invisible("x\u202e\n" * 7)
    assert found is not None
    assert found.sentence == (
        "7 characters that are invisible, in lines 1, 2, 3, 4, 5 and 2 more (U+202E right-to-left override): "
        "a model reads what nobody sees"
    )
    assert found.sentence.isascii()
