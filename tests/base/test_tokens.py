"""Token counts: exact, additive, offline, in batches and streams, and cached."""

import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import Prompt, count
from aggregate.base.tokens import TokenCounter, count_all, count_batch, cut
from aggregate.prompt import COUNT, File, SavedCounts, count_prompt, token_kind
from aggregate.prompt.files import files_segments
from tests.base.tokens.plain_count import encoding, plain_count
from tests.project.index.samples import opened
from tests.prompt.composing import kept_nothing, segments

PARTS = st.sampled_from(
    [
        *"/\\ \n\r\t#`-~>'_.\u00a0\u2028\u200b\x00\x0b\x0céß\u4e2d\u0301\U0001f600",
        *("\n\n", "\r\n", "//", "/\n/", "   ", "```", "````\n", "---\n", "## Files", "123456"),
        *("<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "don't", "CamelCase"),
        "def f():\n    return 1\n",
    ]
)
CONTENTS = st.lists(PARTS, max_size=14).map("".join)
PATHS = st.lists(
    st.sampled_from([*"abc/. -_`#\n", "ü", "<|endoftext|>"]), min_size=1, max_size=8
).map("".join)
FILES = st.lists(st.tuples(PATHS, CONTENTS), max_size=5)


@given(files=FILES, history=st.lists(CONTENTS, max_size=3), screenshots=CONTENTS)
def test_parts_sum_to_the_whole(
    files: list[tuple[str, str]], history: list[str], screenshots: str
) -> None:
    """Counts of segments and sections sum to the document's independent count."""
    rendered = [File.from_record({"path": path, "content": text}) for path, text in files]
    discussion = segments(history=[screenshots, *history])
    prompt = Prompt((*files_segments(rendered), *discussion))
    tokens = count_prompt(prompt)
    assert tokens.document == plain_count(prompt.markdown)
    assert sum(tokens.segments) == tokens.document
    assert sum(tokens.sections.values()) == tokens.document


@given(text=CONTENTS)
def test_special_tokens_are_plain_text(text: str) -> None:
    """A control token's text is counted as plain characters."""
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
    """Counts equal those of the published o200k vocabulary."""
    assert count(text) == tokens


def test_counts_are_per_text_whatever_the_batch() -> None:
    """Texts beyond one batch are counted in order, as alone."""
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
    """A file shown twice has the sum; headings count for the section only."""
    files = [File.from_record({"path": "a", "content": text}) for text in "xy"]
    tokens = count_prompt(Prompt(tuple(files_segments(files))))
    assert tokens.files == {"a": tokens.segments[1] + tokens.segments[2]}
    assert tokens.document == sum(tokens.segments)


PIECES = st.sampled_from(
    [
        *"/\\ \n\r\t#`-~>'_.\u00a0\u2028\u200b\u3000\x00\x0b\x0c\x1c\x85éßſKDžʰªΩ中\u0301\U0001f600aAzZ09٣",
        *("\r\n", "\n\n", "\n    ", "\n\t\t", "  ", "//", "'s", "'LL", "'ſ"),
        *("don't", "ABCdef", "1234"),
        *("<", "<|endof", "text|>", "<|endoftext|>", "<|im_start|>"),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=20).map("".join),
    st.text(max_size=40),
    st.builds(lambda piece, often: piece * often, PIECES, st.integers(0, 300)),
)


@given(texts=st.lists(TEXTS, max_size=6))
def test_a_batch_counts_each_text_as_alone(texts: list[str]) -> None:
    """Any texts, also with the batch's separator, count as alone."""
    assert count_batch(texts) == [plain_count(text) for text in texts]


@given(text=TEXTS.filter(len), characters=st.integers(1, 12))
def test_parts_have_the_tokens_of_the_whole(text: str, characters: int) -> None:
    """Parts of a cut text join to it, and their counts sum up."""
    parts = list(cut(text, characters))
    assert "".join(parts) == text
    assert sum(map(plain_count, parts)) == plain_count(text)


@pytest.mark.parametrize("after", [chr(code) for code in range(128)])
def test_each_border_between_ascii_characters_is_one_of_tokens(after: str) -> None:
    """After a letter, each ASCII character has equal tokens with and without a cut."""
    for before in ("word", "WORD", " x'l", "\u0301a", "\n  a"):
        for rest in ("", " ", "  x", "\n", "\n /", "s t", "l's", "/\n/", "1234", "\u0301", "É"):
            text = f"{before}{after}{rest}"
            assert sum(map(plain_count, cut(text, 1))) == plain_count(text), repr(text)


def test_a_text_is_cut_soon() -> None:
    """Parts of code are hardly longer than requested, also on one line."""
    code = "function f(a){return a.b+[1,2]}" * 1000
    lengths = [len(part) for part in cut(code, 100)]
    assert max(lengths) < 120


def test_a_text_without_a_border_stays_whole() -> None:
    """A text without a known token border is not cut."""
    assert list(cut("中" * 50, 10)) == ["中" * 50]
    assert list(cut("", 10)) == [""]


@pytest.mark.parametrize(
    "character", [" ", "\n", "a", "=", "\t", "中", "1", "'", "\u0301", "/", "\x00"]
)
def test_long_runs_of_one_character(character: str) -> None:
    """Long runs of one character count as in the reference."""
    text = character * 30_000
    assert count_batch([text, "x" + text + "x"]) == [plain_count(text), plain_count(f"x{text}x")]


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "\ud83d\ude00"])
def test_half_a_surrogate_pair_counts_as_a_replacement_character(text: str) -> None:
    """Lone surrogates count as in tiktoken, also beside other texts."""
    assert count_batch(["é", text, ""]) == [plain_count("é"), plain_count(text), 0]


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(texts=st.lists(TEXTS, max_size=4), characters=st.integers(1, 12))
def test_many_texts(texts: list[str], characters: int) -> None:
    """The same for many texts."""
    assert count_batch(texts) == [plain_count(text) for text in texts]
    for text in texts:
        assert sum(count_batch(list(cut(text, characters)))) == plain_count(text)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("count-tokens")]


def test_results_stand_where_the_texts_were_submitted() -> None:
    """Small, empty and large texts have counts in the order of submission."""
    texts = ["one", "", "word " * 150_000, "x = 1\n" * 40_000, "two"] * 3 + ["end"]
    with TokenCounter() as counter:
        for text in texts:
            counter.submit(text)
        counts = counter.results()
    assert counts == [plain_count(text) for text in texts]


def test_results_may_be_asked_for_on_the_way() -> None:
    """Results cover all texts so far, and more can be submitted."""
    with TokenCounter() as counter:
        counter.submit("hello world")
        assert counter.results() == [2]
        counter.submit("word " * 100_000)
        assert counter.results() == [2, 100_001]
        counter.submit("hello")
        assert counter.results() == [2, 100_001, 1]


def test_a_small_stream_needs_no_thread() -> None:
    """Texts below one batch are counted in the calling thread."""
    with TokenCounter() as counter:
        counter.submit("hello " * 10_000)
        counter.results()
        assert threads() == []


def test_threads_end_with_the_block() -> None:
    """Threads end with the block, and pending texts are dropped."""

    def leave() -> None:
        with TokenCounter() as counter:
            for _ in range(20):
                counter.submit("word " * 100_000)
            assert threads()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert threads() == []


TEXT = "Tell me what this says.\n\n"


@given(st.text())
def test_counts_are_exact(text: str) -> None:
    """Counts equal the reference, uncached and cached (rule B-1)."""
    counts = SavedCounts(kept_nothing())
    assert counts(text) == counts(text) == plain_count(text)


def test_a_count_is_kept_for_the_next_run(tmp_path: Path) -> None:
    """Counts are cached, shared with the segments of a prompt (rule I-1)."""
    with opened(tmp_path) as index:
        SavedCounts(index)(TEXT)
        index.flush()
    with opened(tmp_path) as index:
        (row,) = index.get_many(token_kind(), [sha256(TEXT.encode()).digest()])
        assert row == COUNT.pack(plain_count(TEXT))


def test_what_is_known_is_not_counted_again(tmp_path: Path) -> None:
    """The index's count is used, shown by a planted one (rule I-1)."""
    with opened(tmp_path) as index:
        key = sha256(TEXT.encode()).digest()
        index.put_many(token_kind(), [(key, COUNT.pack(12_345))])
        index.flush()
        assert SavedCounts(index)(TEXT) == 12_345


FIRST_COUNT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from aggregate.base.tokens import TokenCounter, count
already = set(sys.modules)
with TokenCounter() as counter:
    assert counter.results() == []
assert not {"tiktoken", "logging"} & set(sys.modules) - already
def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.")):
        raise SystemExit(f"network: {event}")
sys.addaudithook(refuse)
from aggregate.base.tokens.counter import tokenizer
ready = Barrier(4)
def load(_):
    ready.wait()
    return id(tokenizer())
with ThreadPoolExecutor(4) as pool:
    print(len(set(pool.map(load, range(4)))), count("hello world"))
"""


def test_the_first_count_loads_one_vocabulary_and_needs_no_network() -> None:
    """The vocabulary is loaded once, on the first count, by one thread and offline."""
    done = subprocess.run([sys.executable, "-c", FIRST_COUNT], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1 2\n", "")
