"""Regular expressions that every Python from 3.11.0 on reads as they are meant."""

import itertools
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "aggregate"
REPEAT = re.compile(r"\)(\*|\+|\?|\{\d*,?\d*\})\+(?![+*])")

# Up to 3.11.4, Python goes on behind a possessive repeat of a group from where the last try of the group, which failed,
# had got to (https://github.com/python/cpython/issues/106052). So the source says ``(?>(?:…)*)``, which is right
# everywhere but keeps some hundred bytes for each repetition. Texts of any length need possessive repeats: these, which
# are right everywhere, as a failing group has not moved. Each stands here with the characters that its parts tell apart.
ALLOWED = {
    r"(?:[^\"\\\n]++|\\.)*+": 'a"\\\n',
    r"(?:\\[\s\S]|\"[^\"\\]|\"\\[\s\S]|\"\"[^\"\\]|\"\"\\[\s\S]|[^\"\\]++)*+": 'a"\\\n',
    r"(?:'[^']|''[^']|[^']++)*+": "a'\n",
    r"(?:[ \t]*+\n)++": "a \t\n",
    r"(?:[ \t]?>)*+": "a \t>",
    r"(?:[\w.@+~-]++[\\/]){2,}+": "a.\\/ ",
    r"(?:[^\n\\]++|\\\r?\n|\\.)++": "a\\\r\n",
    r"(?:\*++[^*/][^*]*+)*+": "a*/\n",
    r"(?:[^\n\\/]++|/\*%b|/|\\\r?\n|\\.)*+": "a/*\\\r\n",
    r"(?:\\.[^\n\\]*+)*+": "a\\\r\n",
    r"(?:\\.[^\"\\\n]*+)*+": 'a"\\\n',
    r"(?:\s++|//[^\n]*+|/\*%b)*+": "a/* \n",
    r"(?:[^(){};]++|\([^(){};]*+\)|(?!))*+": "a();",
    r"(?:[^(){};]++|\((?:[^(){};]++|\([^(){};]*+\)|(?!))*+\)|(?!))*+": "a();",
    r"(?:[^\n\\]++|\\\r?\n|\\.)*+": "a\\\r\n",
    r"(?:[^()\n]++|\([^()\n]*+\)|(?!))*+": "a()\n",
    r"(?:\s++|%b)*+": "a/* \n",
    r"(?s:[^\"\\]++|\\.)*+": 'a"\\\n',
    r"(?:[^\[\]]++|\[[^\[\]]*+\])*+": "a[]",
    r"(?:[^(){};]++|\([^(){};]*+\))*+": "a();",
}
TO_COMMENT_END = r"[^*]*+(?:\*++[^*/][^*]*+)*+\**+(?:/|\Z)"


def test_possessive_repeats_of_groups_are_those_that_every_python_reads_alike() -> None:
    """No pattern in the source repeats a group possessively but in one of the ways that are tried below."""
    used = {
        repeat
        for path in sorted(SOURCE.rglob("*.py"))
        for repeat in _possessive_groups(path.read_text(encoding="utf-8"))
    }
    assert used == set(ALLOWED)


@pytest.mark.parametrize(("repeat", "characters"), ALLOWED.items())
def test_a_possessive_repeat_matches_what_an_atomic_group_of_it_does(
    repeat: str, characters: str
) -> None:
    """On every short text of the characters that matter, this Python reads the repeat as it is meant."""
    possessive = repeat.replace("%b", TO_COMMENT_END)
    atomic = f"(?>{possessive[:-1]})"
    for end in ("", r"\)", "[\\s\\S]"):
        meant, told = re.compile(atomic + end), re.compile(possessive + end)
        for text in _texts(characters):
            assert _span(told, text) == _span(meant, text), (repeat, end, text)


def test_the_whole_group_of_a_repeat_is_found() -> None:
    """The search knows the whole group, over brackets in classes and behind backslashes."""
    assert _possessive_groups(r'X = r"a(?:b[)(]\)(?:c)++)*+"') == [
        r"(?:c)++",
        r"(?:b[)(]\)(?:c)++)*+",
    ]


def _texts(characters: str) -> list[str]:
    """Return all texts up to six of the characters, five where there are many."""
    longest = 6 if len(characters) < 5 else 5
    return [
        "".join(letters)
        for length in range(longest + 1)
        for letters in itertools.product(characters, repeat=length)
    ]


def _span(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    match = pattern.search(text)
    return match.span() if match else None


def _possessive_groups(source: str) -> list[str]:
    """Return the possessive repeats of groups in a module's text, their quotation marks escaped alike."""
    return [
        re.sub(r'(?<!\\)"', r"\"", source[_opening(source, match.start()) : match.end()])
        for match in REPEAT.finditer(source)
        if not source[: match.start()].endswith("\\")
    ]


def _opening(source: str, closing: int) -> int:
    """Return where the group begins that ends at ``closing``: brackets behind a backslash and in classes are none."""
    depth = 0
    for part in reversed(
        list(re.finditer(r"\\[\s\S]|\[\^?+(?:\\.|[^\]\\\n])*\]|[()]", source[:closing]))
    ):
        depth += {"(": -1, ")": 1}.get(part[0], 0)
        if depth < 0:
            return part.start()
    raise AssertionError("a group has no beginning: " + source[closing - 40 : closing + 2])
