"""Whatever stands in a section: a reader of Markdown sees the heading of each one, and of each part."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt
from tests.prompt.composing import result, segments

from aggregate import Prompt, build_discussion_section
from aggregate.agents.tracks import Ticket
from aggregate.agents.tracks.ticket_parts import task_message
from aggregate.base.values import Bead, Board
from aggregate.prompt.sections.beads import beads_section

PIECES = st.sampled_from(
    [
        "```", "````", "~~~", "`", "```py", "``` x`y", "<!--", "-->", "<script>", "</script>", "<PRE", "</pre>", "<style>", "<?", "?>",
        "<!A", ">", "<![CDATA[", "]]>", "<div>", "</div>", "<b>x", "\n", "\n", "\n\n", " ", "   ", "    ", "\t", "- ", "1. ", "> ", "foo", "# h",
        "---", "|", "[x]: /u", "\r", "\r\n", "\x0b", "\u2028", "\xa0", "\\",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=16).map("".join)
TURNS = st.fixed_dictionaries({"role": st.sampled_from(["User", "AI", "```"]), "content": TEXTS})


def headings(text: str) -> list[str]:
    """Return the headings that stand in no block, as CommonMark reads a text."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        inline.content
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0 and opening.markup.startswith("#")
    ]


def are_seen(wanted: list[str], text: str) -> bool:
    """Tell whether headings are seen in their order, among others."""
    seen = iter(headings(text))
    return all(heading in seen for heading in wanted)


@example(["```", "x"])
@example([{"role": "AI", "content": "```py\nx\n```"}, "x"])
@example([{"role": "AI", "content": "- a\n  ```\n```"}, "x"])
@example([{"role": "AI", "content": "a\n\x0c<!--"}, "x"])
@given(st.lists(TURNS | TEXTS, min_size=2, max_size=4))
def test_every_turn_is_a_heading(history: list[Any]) -> None:
    """No turn leaves a fence, a comment or other HTML open, and what it is follows from no later one (rule M-50)."""
    body = build_discussion_section(history)
    assert are_seen([f"Discussion Excerpt {number + 1}" for number in range(len(history))], body)
    assert body.startswith(build_discussion_section(history[:-1]))


@given(TEXTS, TEXTS, TEXTS)
def test_every_section_is_a_heading(some: str, other: str, third: str) -> None:
    """Beads, results and a ticket's instructions hide neither what stands behind them nor parts of their own."""
    beads = [
        Bead("b-1", some, other),
        Bead(f"b-2{third}", "", some),
        Bead("b", third, status="closed"),
    ]
    board = Board(source="x", beads=tuple(beads), warnings=(other,))
    results = [
        result(name, text, errors=(other,), warnings=(third,))
        for name, text in (("$a", some), ("$b", third))
    ]
    history = [some, {"role": "AI", "content": other}]
    prompt = Prompt(segments(results=results, history=history))
    message = task_message(Ticket(id="t", prompt="x", title="the task"), instructions=f"-{third}")
    shown_beads = beads_section(board, now=datetime(2026, 1, 1, tzinfo=UTC))
    text = f"{shown_beads}\n\n{prompt.markdown}\n\n{message}"
    assert are_seen(
        [
            "Beads Mode: Progress Track",
            "Sub-Agent Results",
            "$a",
            "$b",
            "Discussion History",
            "Discussion Excerpt 1",
            "Discussion Excerpt 2",
            "Instructions",
            "Task: the task",
        ],
        text,
    )
