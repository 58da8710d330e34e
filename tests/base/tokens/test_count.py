"""Token counts: exact, additive, offline."""

import subprocess
import sys
from textwrap import dedent

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import Prompt, count
from aggregate.base.tokens import count_all
from aggregate.base.values import RenderedFile
from aggregate.prompt import count_prompt, files_segments
from aggregate.prompt.layout import discussion_segments, file_block, file_segment, files_section
from tests.base.tokens.plain_count import encoding, plain_count

PIECES = st.sampled_from(
    [
        *"/\\ \n\r\t#`-~>'_.\u00a0\u2028\u200b\x00\x0b\x0céß\u4e2d\u0301\U0001f600",
        *("\n\n", "\r\n", "//", "/\n/", "   ", "```", "````\n", "---\n", "## Files", "123456"),
        *("<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "don't", "CamelCase"),
        "def f():\n    return 1\n",
    ]
)
CONTENTS = st.lists(PIECES, max_size=14).map("".join)
PATHS = st.lists(
    st.sampled_from([*"abc/. -_`#\n", "ü", "<|endoftext|>"]), min_size=1, max_size=8
).map("".join)
FILES = st.lists(st.tuples(PATHS, CONTENTS), max_size=5)
SETTINGS = settings(max_examples=100, deadline=None)


@SETTINGS
@given(files=FILES, history=st.lists(CONTENTS, max_size=3), screenshots=CONTENTS)
def test_parts_sum_to_the_whole(
    files: list[tuple[str, str]], history: list[str], screenshots: str
) -> None:
    """The counts of segments, and of sections, sum to an independent count of the whole document, to the token."""
    rendered = [RenderedFile(path, content=content) for path, content in files]
    discussion = discussion_segments([screenshots, *history])
    prompt = Prompt((*files_segments(rendered), *discussion))
    tokens = count_prompt(prompt)
    assert tokens.document == plain_count(prompt.markdown)
    assert sum(tokens.segments) == tokens.document
    assert sum(tokens.sections.values()) == tokens.document


@SETTINGS
@given(text=CONTENTS)
def test_special_tokens_are_plain_text(text: str) -> None:
    """What looks like a control token is counted as the characters that it is, for which tokens stand that give them back."""
    tokens = encoding().encode(text, allowed_special=set(), disallowed_special=())
    assert count(text) == len(tokens)
    assert encoding().decode(tokens) == text


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("<|endoftext|>", 7),
        ("a\n\n\nb", 3),
        (" " * 40, 1),
        ("1234567", 3),
    ],
)
def test_known_counts(text: str, tokens: int) -> None:
    """Counts are those of the published o200k vocabulary."""
    assert count(text) == tokens


def test_counts_are_per_text_whatever_the_batch() -> None:
    """Many texts, together larger than one batch, are counted in order as each would be alone."""
    texts = [f"{i} text\n" * (i % 7) for i in range(500)] + [
        "word " * 900_000,
        "",
        "x",
        "line\n" * 300_000,
        "end",
    ]
    assert count_all(texts) == [plain_count(text) for text in texts]
    assert count_all([]) == []


def test_a_file_counts_under_its_path() -> None:
    """A file named twice in a prompt has the sum of both; headings count for the section only."""
    blocks = [file_segment("a", file_block("a", text)) for text in "xy"]
    prompt = Prompt(tuple(files_section("## Files", blocks)))
    tokens = count_prompt(prompt)
    assert tokens.files == {"a": tokens.segments[1] + tokens.segments[2]}
    assert tokens.document == sum(tokens.segments)


def test_counting_needs_no_network() -> None:
    """Loading the vocabulary and counting opens no socket and looks up no host."""
    program = dedent("""\
        import sys
        def refuse(event, arguments):
            if event.startswith(("socket.", "urllib.", "http.")):
                raise SystemExit(f"network: {event}")
        sys.addaudithook(refuse)
        from aggregate import count
        print(count("hello world"))
        """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"2\n", b"")


def test_threads_share_one_vocabulary() -> None:
    """Threads that count at the same moment wait for one loading: eight would take eight times its time and memory."""
    script = """
        from concurrent.futures import ThreadPoolExecutor
        from threading import Barrier
        from aggregate.base.tokens.vocabulary import tokenizer

        ready = Barrier(4)

        def load(_):
            ready.wait()
            return id(tokenizer())

        with ThreadPoolExecutor(4) as pool:
            print(len(set(pool.map(load, range(4)))))
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")
