"""Counts of a stream of texts."""

import subprocess
import sys
import threading
from textwrap import dedent

import pytest

from aggregate.base.tokens import TokenCounter
from tests.base.tokens.plain_count import plain_count


def threads() -> list[threading.Thread]:
    """Return the threads that count."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("count-tokens")]


def test_results_stand_where_the_texts_were_submitted() -> None:
    """Small, empty and very large texts have their counts at the positions that were returned for them."""
    texts = ["one", "", "word " * 150_000, "x = 1\n" * 40_000, "two"] * 3 + ["end"]
    with TokenCounter() as counter:
        positions = [counter.submit(text) for text in texts]
        counts = counter.results()
    assert positions == list(range(len(texts)))
    assert counts == [plain_count(text) for text in texts]


def test_results_may_be_asked_for_on_the_way() -> None:
    """The results are those of all texts up to then, and more can be submitted."""
    with TokenCounter() as counter:
        counter.submit("hello world")
        assert counter.results() == [2]
        counter.submit("word " * 100_000)
        assert counter.results() == [2, 100_001]
        counter.submit("hello")
        assert counter.results() == [2, 100_001, 1]


def test_a_small_stream_needs_no_thread() -> None:
    """Texts that are less than a batch together are counted by the thread that asks."""
    with TokenCounter() as counter:
        counter.submit("hello " * 10_000)
        counter.results()
        assert threads() == []


def test_threads_end_with_the_block() -> None:
    """However the block is left, no thread goes on, and texts that nobody asks for are given up."""

    def leave() -> None:
        with TokenCounter() as counter:
            for _ in range(20):
                counter.submit("word " * 100_000)
            assert threads()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert threads() == []


def test_a_counter_without_texts_loads_nothing() -> None:
    """A run whose counts are all known loads neither tokenizer nor vocabulary, nor the module of threads."""
    program = dedent("""\
        import sys
        from aggregate.base.tokens.counter import TokenCounter
        with TokenCounter() as counter:
            assert counter.results() == []
        print(sorted({"tiktoken", "concurrent.futures.thread", "logging"} & set(sys.modules)))
        """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
