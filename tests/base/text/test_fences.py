"""Fences that nothing inside can close, headings that nothing can forge."""

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it.token import Token

from aggregate import build_markdown_from_items
from aggregate.base.text import fence, heading_text
from tests.rendering import headings, tokens

PIECES = st.sampled_from(
    [
        *"`~ \t\n\r\x0b\x0c\x1c\x85\u2028\u2029#>-*_=<&|\\[]()!1.a\x00",
        *(
            "```",
            "````",
            "~~~",
            "``` ```\n",
            "   ```\n",
            "\t```\n",
            "> ```\n",
            "\n```\n",
            "\r```\r",
        ),
        *("\u2028```\u2028", "\r\n", "## Files\n", "### File x\n", "title\n===\n", "<!--"),
        *("<pre>", "</pre>", "- ```\n", "1. ~~~\n", "[a]: b\n"),
    ]
)
CONTENTS = st.lists(PIECES, max_size=12).map("".join)
PATHS = st.lists(
    st.sampled_from([*"ab/. #`\n\r\t\x85\u2028\\*_<", "##", "\udcff", ".py", "```"]),
    min_size=1,
    max_size=6,
).map("".join)
SETTINGS = settings(max_examples=60)


def fences(text: str) -> list[Token]:
    """Return the fenced blocks that a CommonMark renderer finds."""
    return [token for token in tokens(text) if token.type == "fence"]


def rendered(content: str) -> str:
    """Return ``content`` as CommonMark hands it on: any line end is a line feed, NUL is the replacement character."""
    text = content.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text + ("" if not text or text.endswith("\n") else "\n")


@SETTINGS
@given(content=CONTENTS)
def test_a_fence_holds_its_content_and_nothing_else(content: str) -> None:
    """The block parses as exactly one fence whose content is the content, with a final newline (M-X16)."""
    parsed = tokens(fence(content, "python"))
    assert [(token.type, token.info) for token in parsed] == [("fence", "python")]
    assert parsed[0].content == rendered(content)


@SETTINGS
@given(content=CONTENTS)
def test_a_fence_leaves_the_bytes_alone(content: str) -> None:
    """Between the fence's own lines stand the content's bytes, and a newline only where they end without one (M-X18)."""
    block = fence(content)
    opening, _, rest = block.partition("\n")
    body = rest.removesuffix(opening)
    assert set(opening) == {"`"}
    assert body == content + ("" if not content or content.endswith("\n") else "\n")


@SETTINGS
@given(files=st.lists(st.tuples(PATHS, CONTENTS), max_size=5))
def test_a_prompt_has_our_headings_only(files: list[tuple[str, str]]) -> None:
    """Whatever paths and contents say, the document has one heading per section and per file, one fence each (M-X16)."""
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
    """A heading's text has no character that any renderer or ``str.splitlines`` takes for a line end (M-X16)."""
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
    """A fence is one backtick longer than any run at a line's start, three at least (M-X16)."""
    assert fence(content).split("\n")[0] == "`" * ticks
