"""What is not shown, by folders and names."""

from hypothesis import given, strategies as st

from aggregate import count
from aggregate.prompt.sections.not_shown import Hidden, most_tokens, not_shown


def words(text: str) -> int:
    """Count a token for each word and each line break, as a tokenizer of which a reader can do the sums."""
    return len(text.split()) + text.count("\n")


def told(files: list[Hidden], limit: int = 1_000) -> str:
    """Return the section's text."""
    _, (segment,) = not_shown(files, limit=limit, count=words)
    assert segment.section == "files"
    assert segment.source == ""
    return segment.text


FILES = [
    ("src/net/retry.py", 1_200),
    ("src/net/session.py", 300),
    ("src/app.py", 50),
    ("docs/guide.md", 4_000),
]


def test_folders_then_names() -> None:
    """Folders stand by their tokens, names by their relevance; it says how to ask for more (rule B-7)."""
    assert told(FILES) == (
        "### Not shown\n\n"
        "4 files are not shown, about 5,550 tokens. "
        "To see more, name a file (--focus PATH) or allow more tokens (--budget N).\n\n"
        "- docs/: 1 file, about 4,000 tokens\n"
        "- src/: 3 files, about 1,550 tokens\n\n"
        "The most relevant of them:\n\n"
        "- src/net/retry.py: about 1,200 tokens\n"
        "- src/net/session.py: about 300 tokens\n"
        "- src/app.py: about 50 tokens\n"
        "- docs/guide.md: about 4,000 tokens"
    )


def test_many_folders_are_counted_together() -> None:
    """The smaller ones share a line (rule B-7)."""
    text = told([(f"p{number:02}/x.py", 100 - number) for number in range(30)])
    assert (
        "- p11/: 1 file, about 89 tokens\n- 18 more folders: 18 files, about 1,431 tokens" in text
    )


def test_nothing_hidden_or_no_room() -> None:
    """Without hidden files, or where not even the first sentence fits, there is no section (rules B-1, B-7)."""
    assert not_shown([], limit=1_000, count=words) == (0, ())
    assert not_shown(FILES, limit=5, count=words) == (0, ())


def test_odd_names_stay_on_their_lines() -> None:
    """A name with a line break or markup cannot begin a line of its own (rule B-7)."""
    text = told([("a\n### File `x`.py", 1), ("b.py", 1)])
    assert all(
        line.startswith(("#", "- ", "2 files", "The most")) or not line for line in text.split("\n")
    )
    assert text.count("\n### ") == 0


@given(
    files=st.lists(
        st.tuples(
            st.text(alphabet="abc/é漢 .", min_size=1, max_size=30), st.integers(1, 10_000_000)
        ),
        max_size=30,
    ),
    limit=st.integers(0, 300),
)
def test_the_limit_holds(files: list[Hidden], limit: int) -> None:
    """By an exact count the section and what separates it never exceed the limit; it names as many as it says (B-1, B-7)."""
    named, segments = not_shown(files, limit=limit, count=count)
    for segment in segments:
        assert count(segment.text + "\n\n") <= limit
        assert segment.text.count(" tokens\n- ") + 1 >= named


@given(
    files=st.lists(
        st.tuples(st.text(alphabet="abc/é漢 .", min_size=1, max_size=30), st.integers(1, 10**7)),
        max_size=30,
    ),
    part=st.integers(0, 30),
)
def test_what_is_reserved_is_enough(files: list[Hidden], part: int) -> None:
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
