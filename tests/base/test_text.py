"""Pure functions on texts: fences, headings, hidden characters, diffs, warnings, results."""

import random
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it.token import Token

from aggregate import AggregatedResult, LabelledOutput, build_markdown_from_items, merge_outputs
from aggregate.base.text import fence, find_invisible, heading_text, printable
from aggregate.cli.output import group_warnings
from aggregate.prompt.asking import result_text, value_text
from aggregate.sending.cache import patched, unified_diff
from tests.rendering import headings, tokens

PIECES = st.sampled_from(
    [
        *"`~ \t\n\r\x0b\x0c\x1c\x85\u2028\u2029#>-*_=<&|\\[]()!1.a\x00",
        *(
            "```", "````", "~~~", "``` ```\n", "   ```\n", "\t```\n", "> ```\n", "\n```\n",
            "\r```\r",
        ),
        *("\u2028```\u2028", "\r\n", "## Files\n", "### File x\n", "title\n===\n", "<!--"),
        *("<pre>", "</pre>", "- ```\n", "1. ~~~\n", "[a]: b\n"),
    ]
)  # fmt: skip
CONTENTS = st.lists(PIECES, max_size=12).map("".join)
PATHS = st.lists(
    st.sampled_from([*"ab/. #`\n\r\t\x85\u2028\\*_<", "##", "\udcff", ".py", "```"]),
    min_size=1,
    max_size=6,
).map("".join)
SETTINGS = settings(max_examples=60)


def fences(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.type == "fence"]


def rendered(content: str) -> str:
    """Return ``content`` as CommonMark renders it: line ends are line feeds, NUL is replaced."""
    text = content.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text + ("" if not text or text.endswith("\n") else "\n")


@SETTINGS
@given(content=CONTENTS)
def test_a_fence_holds_its_content_and_nothing_else(content: str) -> None:
    """The block parses as one fence with exactly the content and a final newline (M-X16)."""
    parsed = tokens(fence(content, "python"))
    assert [(token.type, token.info) for token in parsed] == [("fence", "python")]
    assert parsed[0].content == rendered(content)


@SETTINGS
@given(content=CONTENTS)
def test_a_fence_leaves_the_bytes_alone(content: str) -> None:
    """A fence adds only its own lines and a missing final newline (M-X18)."""
    block = fence(content)
    opening, _, rest = block.partition("\n")
    body = rest.removesuffix(opening)
    assert set(opening) == {"`"}
    assert body == content + ("" if not content or content.endswith("\n") else "\n")


@SETTINGS
@given(files=st.lists(st.tuples(PATHS, CONTENTS), max_size=5))
def test_a_prompt_has_our_headings_only(files: list[tuple[str, str]]) -> None:
    """For any paths and contents there is one heading per section and file, one fence each (M-X16)."""
    markdown = build_markdown_from_items(
        [{"path": path, "content": text} for path, text in files], "", [], []
    )
    own = [line for line in markdown.split("\n") if line.startswith("### File ")]
    assert len(headings(markdown)) == (len(files) + 1 if files else 0)
    assert [token.content for token in fences(markdown)] == [rendered(text) for _, text in files]
    assert len(own) >= len(files)


@SETTINGS
@given(path=PATHS)
def test_a_path_stays_on_its_line(path: str) -> None:
    """A heading's text has no line end of any renderer or ``str.splitlines`` (M-X16)."""
    shown = heading_text(path)
    assert len(f"x{shown}x".splitlines()) == 1
    shown.encode()


@pytest.mark.parametrize(
    ("content", "ticks"),
    [
        ("", 3),
        ("no fence", 3),
        ("inline ``` is harmless", 3),
        ("```", 4),
        ("``", 3),
        ("  ````\n```", 5),
        ("> ```", 4),
        ("a\r`````", 6),
        ("a\u2028````", 5),
        ("~~~", 3),
        ("`" * 300, 301),
    ],
)
def test_the_length_of_a_fence(content: str, ticks: int) -> None:
    """A fence is longer than any run of backticks at a line's start, at least three (M-X16)."""
    assert fence(content).split("\n")[0] == "`" * ticks


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
    """Bidirectional, zero-width and unassigned characters are counted, with lines."""
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
        "ascii", "byte order mark", "emoji", "skin", "persian", "indian", "khmer", "flag",
        "accents",
    ],
)  # fmt: skip
def test_ordinary_text_is_not_told(text: str) -> None:
    """Joiners in emoji, Persian and Indic scripts are normal text."""
    assert find_invisible(text) is None


def test_the_sentence_names_lines_and_characters() -> None:
    """The sentence has the count, first lines and names, and no hidden character."""
    found = find_invisible("x\u202e\n" * 7)
    assert found is not None
    assert found.sentence == (
        "invisible characters that a model reads: 7 in lines 1, 2, 3, 4, 5 and 2 more (U+202E right-to-left override)"
    )
    assert found.sentence.isascii()


NAMES = [
    ("plain.py", "plain.py"),
    ("a\x1b[31mb", "a\\x1b[31mb"),
    ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
    ("\x9b2J\x7f", "\\x9b2J\\x7f"),
    ("user\u202egpj.exe", "user\\u202egpj.exe"),
    ("a\u200bb\ufeff\u2060", "a\\u200bb\\ufeff\\u2060"),
    ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
    ("half \ud800 and \udcff", "half \\ud800 and \\udcff"),
    ("größe 日本 \U0001f600.md", "größe 日本 \U0001f600.md"),
]


def test_names_fit_into_one_line() -> None:
    """Control, bidirectional, zero-width, tag and surrogate characters are escaped."""
    assert [printable(name) for name, _ in NAMES] == [shown for _, shown in NAMES]


def test_a_body_keeps_its_lines_and_joiners() -> None:
    """Line breaks, tabs and joiners stay; a lone carriage return is escaped."""
    body = "one\n\ttwo\r\nthree \U0001f468\u200d\U0001f469"
    assert printable(body, body=True) == body
    assert printable("done\rfailed\x1b]0;t\x07", body=True) == "done\\x0dfailed\\x1b]0;t\\x07"


@given(st.text(), st.integers(min_value=0))
def test_pieces_of_a_stream_are_as_harmless_as_the_whole(text: str, cut: int) -> None:
    """However a stream is cut, no terminal control is left, and printable text stays."""
    at = cut % (len(text) + 1)
    shown = printable(text[:at], body=True) + printable(text[at:], body=True)
    assert not [
        one for one in shown if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t\r"
    ]
    assert printable(shown, body=True).replace("\\x0d", "\r") == shown.replace("\\x0d", "\r")
    assert "\r" not in shown.replace("\r\n", "")


LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "-", "+x", "@@ -1,1 +1,1 @@", "}"]), max_size=30
)


@given(LINES, LINES)
def test_a_diff_leads_back(older: list[str], newer: list[str]) -> None:
    """Applying a diff gives the newer lines; equal lines have none."""
    diff = list(unified_diff(older, newer))
    assert patched(older, diff) == newer
    assert bool(diff) == (older != newer)


def test_far_changes_in_a_long_file_are_small() -> None:
    """Two changes 20,000 lines apart are two hunks."""
    older = [f"line {n}" for n in range(30_000)]
    newer = [*older]
    newer[100], newer[20_100] = "new", "newer"
    expected: list[str] = []
    for place, word in ((100, "new"), (20_100, "newer")):
        expected += [f"@@ -{place - 2},7 +{place - 2},7 @@"]
        expected += [f" line {n}" for n in range(place - 3, place)]
        expected += [f"-line {place}", f"+{word}"]
        expected += [f" line {n}" for n in range(place + 1, place + 4)]
    assert list(unified_diff(older, newer)) == expected


def test_a_hostile_text_takes_no_time() -> None:
    """Equal lines would take quadratic time; they are replaced as a whole."""
    chance = random.Random(1)
    older = [chance.choice("ab") for _ in range(20_000)]
    newer = [chance.choice("ab") for _ in range(20_000)]
    diff = list(unified_diff(older, newer))
    assert len(diff) <= 1 + len(older) + len(newer)
    assert patched(older, diff) == newer


def test_few_are_told_one_by_one() -> None:
    """Up to twenty warnings of a kind are listed."""
    few = [f"a{number}.py: read as cp1252, not UTF-8" for number in range(20)]
    assert group_warnings(few) == few


def test_many_of_a_kind_are_one_sentence() -> None:
    """Paths, lines, numbers and hashes do not distinguish kinds; kinds keep their order."""
    missing = [f"ERROR: file not found: a{number}.py" for number in range(10_000)]
    secrets = [
        f'a.py:{number}: redacted (x); allow = ["sha256:{number:064x}"]' for number in range(21)
    ]
    unseen = [f"{name}.po: unseen: 2 in line 3 ({name})" for name in map(chr, range(97, 120))]
    assert group_warnings([*missing, "one: alone", *secrets, *unseen], more="--json") == [
        "ERROR: file not found: a0.py; and 9,999 more of this kind (--json lists them)",
        "one: alone",
        f'a.py:0: redacted (x); allow = ["sha256:{0:064x}"]; and 20 more of this kind (--json lists them)',
        "a.po: unseen: 2 in line 3 (a); and 22 more of this kind (--json lists them)",
    ]


def test_names_that_look_like_reasons_do_not_flood() -> None:
    """Names with colons form kinds of their own, up to a limit."""
    lines = group_warnings(
        [f"a: {chr(97 + number % 26) * number}.py: file not found" for number in range(1, 1000)]
    )
    assert len(lines) == 61
    assert lines[-1] == "and 939 more of other kinds"


@dataclass
class Point:
    x: int


LOOP: list[Any] = []
LOOP.append(LOOP)

VALUES = [
    ("text", "text"),
    (7, "7"),
    (None, "null"),
    ({"é": [1]}, '{\n  "é": [\n    1\n  ]\n}'),
    ({"b", "a"}, '[\n  "a",\n  "b"\n]'),
    (Point(1), '{\n  "x": 1\n}'),
    (datetime(2024, 1, 1, tzinfo=UTC), '"2024-01-01T00:00:00+00:00"'),
    (b"x", '"x"'),
    (object(), '"<object>"'),
    (LOOP, '[\n  "<list that holds itself>"\n]'),
]


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_values_as_text(value: object, text: str) -> None:
    """Text stays, other values are JSON, without addresses, times or hash order (O-52)."""
    assert value_text(value) == text


def test_results_as_text() -> None:
    """A concat is joined by blank lines, any other value is one text (O-50)."""
    concat = AggregatedResult("$a", value=["x", 2], labels=("A", ""))
    assert result_text(concat) == "A: x\n\n2"
    assert result_text(merge_outputs([LabelledOutput("x")], "first")) == "x"
    assert result_text(AggregatedResult("$a", value={"_ref_id": "r"})) == '{\n  "_ref_id": "r"\n}'
    assert result_text(AggregatedResult("$a")) == ""
