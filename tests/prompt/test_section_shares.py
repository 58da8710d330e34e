"""The discussion and the results within their shares, and what is not shown by folders and names."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import AggregatedResult, Budget, Segment, count, open_project, request_for
from aggregate.prompt.sections import (
    Shares,
    discussion_segments,
    fit_history,
    most_tokens,
    not_shown,
)
from tests.prompt.composing import result as merged

TURNS = ("one " * 10, "two " * 20, "three " * 30, "four " * 40)


def words(text: str) -> int:
    """Count a token for each word and each line break, as a tokenizer of which a reader can do the sums."""
    return len(text.split()) + text.count("\n")


def tokens_of(*segments: Segment) -> int:
    return sum(words(segment.text + "\n\n") for segment in segments)


def result(name: str, size: int) -> AggregatedResult:
    return merged(name, "word " * size)


RESULTS = (result("$small", 10), result("$large", 5_000), result("$middle", 400), result("$new", 5))


def test_the_oldest_turns_go_first() -> None:
    """Whole turns are left out from the beginning, and a line with their number and tokens counts too (rule B-5)."""
    fitted = fit_history(TURNS, 60, words)
    section = discussion_segments(TURNS)
    heading, note, first, last = fitted.segments
    assert (heading, last) == (section[0], section[4])
    assert note.text == f"- 2 earlier turns are left out: {tokens_of(*section[1:3])} tokens"
    assert first == replace(section[3], text=section[3].text.removeprefix("---\n\n"))
    assert fitted.tokens == tokens_of(*fitted.segments)
    (cut,) = fitted.cuts
    assert (cut.section, cut.what) == ("history", "turns 1 to 2")
    assert cut.tokens == tokens_of(*section[1:3])


@pytest.mark.parametrize("turns", [TURNS, TURNS[:1], ()])
def test_the_last_turn_stays(turns: tuple[str, ...]) -> None:
    """It is shown without any share, since it is a pin (rules B-4, B-5)."""
    last = fit_history(turns, 0, words).segments[-1:]
    assert [each.source for each in last] == [f"Discussion Excerpt {len(turns)}"] * bool(turns)


@given(limit=st.integers(0, 400))
def test_a_share_of_the_discussion_is_a_maximum(limit: int) -> None:
    """The section has at most so many tokens more than with its last turn alone, and no turn more fits (rule B-5)."""
    least = fit_history(TURNS, 0, words)
    fitted = fit_history(TURNS, limit, words)
    assert fitted.tokens <= least.tokens + limit
    if fitted.cuts:
        section = discussion_segments(TURNS)
        earlier = len(section) - len(fitted.segments)
        note = fitted.segments[1:2] if earlier else ()
        first = section[earlier + 1]
        first = replace(first, text=first.text.removeprefix("---\n\n"))
        more = (section[0], *note, first, *section[earlier + 2 :])
        assert tokens_of(*more) > least.tokens + limit


def test_shares_are_reserved_as_far_as_they_are_used(tmp_path: Path) -> None:
    """Files get what a section does not need, but not what a whole turn leaves of a share (rule B-5)."""
    request = request_for(open_project({"files": {"base_dir": str(tmp_path), "paths": []}}))
    request = replace(request, results=RESULTS, history=TURNS)
    budget = Budget(10_000, history=0.04, results=0.5)
    shares = Shares(request, budget, words)
    others = shares.within(1_000)
    assert shares.reserved(1_000) == 40 + 500
    cuts = [cut.section for each in others.values() for cut in each.cuts]
    assert {*cuts} == {"history", "results"}
    everything = shares.with_more(others, 9_000)
    assert all(each.tokens == each.needed for each in everything.values())
    assert not any(each.cuts for each in everything.values())
    some = shares.with_more(others, 100)
    before = sum(each.tokens for each in others.values())
    assert before < sum(each.tokens for each in some.values()) <= before + 100


def told(files: list[tuple[str, int, str]], limit: int = 1_000) -> str:
    _, (segment,) = not_shown(files, limit=limit, count=words)
    assert segment.section == "files"
    assert segment.source == ""
    return segment.text


FILES = [
    ("src/net/retry.py", 1_200, ""),
    ("src/net/session.py", 300, ""),
    ("src/app.py", 50, ""),
    ("docs/guide.md", 4_000, ""),
]


def test_folders_then_names() -> None:
    """Folders stand by their tokens, names by their relevance; it says how to ask for more (rule B-7)."""
    assert told(FILES) == (
        "### Not shown\n\n"
        "4 files are not shown, about 5,550 tokens. "
        "Ask for the files you need by their paths.\n\n"
        "- docs/: 1 file, about 4,000 tokens\n"
        "- src/: 3 files, about 1,550 tokens\n\n"
        "The most relevant files, with their tokens:\n\n"
        "- src/net/: retry.py 1,200, session.py 300\n"
        "- src/: app.py 50\n"
        "- docs/: guide.md 4,000"
    )


def test_what_shown_code_calls_goes_before_names() -> None:
    """Definitions that are called and not shown stand with their files, and a sentence says why it ends (B-6, B-7)."""
    called = [("src/net/retry.py", ["wait", "give_up"]), ("src/app.py", ["main"])]
    _, (segment,) = not_shown(
        FILES,
        limit=1_000,
        count=words,
        called=called,
        note="Nothing else scores 0.02% for the task. ",
    )
    assert "tokens. Nothing else scores 0.02% for the task. Ask for" in segment.text
    assert (
        "\n\nShown code calls these, which are not shown:\n\n"
        "- src/net/retry.py: wait, give_up\n"
        "- src/app.py: main\n\n"
        "The most relevant files" in segment.text
    )


def test_many_folders_are_counted_together() -> None:
    """The smaller ones share a line (rule B-7)."""
    text = told([(f"p{number:02}/x.py", 100 - number, "") for number in range(30)])
    assert (
        "- p11/: 1 file, about 89 tokens\n- 18 more folders: 18 files, about 1,431 tokens" in text
    )


def test_nothing_hidden_or_no_room() -> None:
    """Without hidden files, or where not even the first sentence fits, there is no section (rules B-1, B-7)."""
    assert not_shown([], limit=1_000, count=words) == (0, ())
    assert not_shown(FILES, limit=5, count=words) == (0, ())


def test_odd_names_stay_on_their_lines() -> None:
    """A name with a line break or markup cannot begin a line of its own (rule B-7)."""
    text = told([("a\n### File `x`.py", 1, ""), ("b.py", 1, "a\n### File `x`.py")])
    assert all(
        line.startswith(("#", "- ", "2 files", "The most")) or not line for line in text.split("\n")
    )
    assert text.count("\n### ") == 0


NAMES = st.text(alphabet="abc/é漢 .", min_size=1, max_size=30)
HIDDEN = st.tuples(NAMES, st.integers(1, 10_000_000), st.just("") | NAMES)


@given(files=st.lists(HIDDEN, max_size=30), limit=st.integers(0, 300))
def test_the_limit_holds(files: list[tuple[str, int, str]], limit: int) -> None:
    """By an exact count the section and what separates it never exceed the limit; names have a list (B-1, B-7)."""
    named, segments = not_shown(files, limit=limit, count=count)
    for segment in segments:
        assert count(segment.text + "\n\n") <= limit
        assert bool(named) <= ("\nThe most relevant files" in segment.text)


@given(files=st.lists(HIDDEN, max_size=30), part=st.integers(0, 30))
def test_what_is_reserved_is_enough(files: list[tuple[str, int, str]], part: int) -> None:
    """Telling all files takes no more than is reserved for them, and for some of them no more is (rules B-6, B-12)."""
    _, segments = not_shown(files, limit=10_000, count=count)
    most = most_tokens(files, limit=10_000, count=count)
    assert most >= sum(count(segment.text + "\n\n") for segment in segments)
    assert most_tokens(files[:part], limit=10_000, count=count) <= most


def test_more_room_tells_no_less() -> None:
    """With more tokens the section has as many lines or more (rule B-6)."""
    told = [not_shown(FILES, limit=limit, count=words) for limit in range(25, 125, 5)]
    named = [number for number, _ in told]
    lines = [sum(one.text.count("\n- ") for one in segments) for _, segments in told]
    assert (named, lines) == (sorted(named), sorted(lines))
