"""The index as the rest of the program sees it: what was put comes back, and nothing else."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aggregate.project.index import Index, Kind, open_index
from tests.project.index.samples import (
    LIMIT,
    TOKENS,
    VIEW,
    check,
    fill,
    key,
    opened,
    payload,
    place,
    put_all,
)

KINDS = (VIEW, VIEW._replace(version="2"), TOKENS)
NUMBERS = st.integers(0, 30)


class IndexMachine(RuleBasedStateMachine):
    """Two processes' indexes on one file, beside dictionaries of what each of them has put and what is written."""

    @initialize()
    def begin(self) -> None:
        """Start with nothing."""
        self.folder = Path(os.environ["AGGREGATE_CACHE_DIR"]) / os.urandom(8).hex()
        self.indexes = [Index(place(self.folder), limit=LIMIT) for _ in range(2)]
        self.written: dict[tuple[Kind, bytes], bytes] = {}
        self.waiting: list[dict[tuple[Kind, bytes], bytes]] = [{}, {}]

    @rule(who=st.integers(0, 1), kind=st.sampled_from(KINDS), numbers=st.lists(NUMBERS))
    def put(self, who: int, kind: Kind, numbers: list[int]) -> None:
        """Put what follows from some contents."""
        rows = [(key(n), kind.version.encode() + payload(n)) for n in numbers]
        self.indexes[who].put_many(kind, rows)
        self.waiting[who] |= {(kind, row_key): data for row_key, data in rows}

    @rule(who=st.integers(0, 1), kind=st.sampled_from(KINDS), numbers=st.lists(NUMBERS))
    def get(self, who: int, kind: Kind, numbers: list[int]) -> None:
        """Ask for some."""
        expected = self.written | self.waiting[who]
        keys = [key(n) for n in numbers]
        assert self.indexes[who].get_many(kind, keys) == [expected.get((kind, k)) for k in keys]

    @rule(who=st.integers(0, 1))
    def flush(self, who: int) -> None:
        """Write what waits."""
        self.indexes[who].flush()
        self.written |= self.waiting[who]
        self.waiting[who] = {}

    @rule(who=st.integers(0, 1))
    def close(self, who: int) -> None:
        """Forget what waits."""
        self.indexes[who].close()
        self.waiting[who] = {}

    @invariant()
    def nothing_is_wrong(self) -> None:
        """No warning is due."""
        assert all(index.warning == "" for index in self.indexes)

    def teardown(self) -> None:
        """Close the files."""
        for index in self.indexes:
            index.close()


TestIndexMachine = IndexMachine.TestCase
"""What was put comes back under its kind and key, from every process once it is flushed (rule I-1)."""


def test_nothing_is_made_before_flush(tmp_path: Path) -> None:
    """Reading makes no index, nor does what is counted alone; a flush of something makes it, private (rule I-5)."""
    with opened(tmp_path / "cache") as index:
        assert index.get_many(VIEW, [key(1)]) == [None]
        index.flush()
        index.put_many(VIEW, [(key(1), b"one")])
        assert index.get_many(VIEW, [key(1)]) == [b"one"]
        assert not (tmp_path / "cache").exists()
        index.flush()
    path = place(tmp_path / "cache")
    assert list(path.parent.iterdir()) == [path]
    assert [p.stat().st_mode & 0o777 for p in (path, path.parent, tmp_path / "cache")] == [
        0o600,
        0o700,
        0o700,
    ]


def test_an_index_without_a_place_keeps_nothing(tmp_path: Path) -> None:
    """Without an index everything is a miss, files are looked at all the same, and nothing is made."""
    file = tmp_path / "a.txt"
    file.write_text("a")
    index = Index(None, limit=LIMIT)
    index.put_many(VIEW, [(key(1), b"one")])
    [state] = index.known([str(file)])
    assert state is not None
    index.remember(state, key(1))
    index.flush()
    assert index.get_many(VIEW, [key(1)]) == [None]
    assert [state] == [s and s._replace(seen_ns=state.seen_ns) for s in index.known([str(file)])]
    assert (index.is_used, index.warning, list(tmp_path.iterdir())) == (False, "", [file])


def test_a_kind_without_a_version_is_not_kept(tmp_path: Path) -> None:
    """Where the version of the code cannot be told, nothing of it is kept (rule I-1)."""
    with opened(tmp_path) as index:
        index.put_many(Kind("view", ""), [(key(1), b"one")])
        index.flush()
        assert index.get_many(Kind("view", ""), [key(1)]) == [None]
    assert not place(tmp_path).exists()


def test_what_is_too_much_for_memory_is_written_before(tmp_path: Path) -> None:
    """More than 16 MB that wait are written in portions; a single result of more than 8 MB is not kept."""
    with opened(tmp_path) as index:
        index.put_many(VIEW, ((key(n), b"x" * 1_000_000) for n in range(30)))
        index.put_many(VIEW, [(key(99), b"x" * 8_000_001)])
        assert place(tmp_path).exists()
        assert None not in index.get_many(VIEW, [key(n) for n in range(30)])
        index.flush()
        assert index.get_many(VIEW, [key(99)]) == [None]


def test_threads_share_an_index(tmp_path: Path) -> None:
    """Threads that put, get and flush at the same time find what each of them has put."""
    failures: list[str] = []
    with opened(tmp_path) as index:

        def work(first: int) -> None:
            for number in range(first, first + 30):
                index.put_many(VIEW, [(key(number), payload(number))])
                if index.get_many(VIEW, [key(number)]) != [payload(number)]:
                    failures.append(f"{number} is missing")
                index.flush()

        threads = [threading.Thread(target=work, args=(n * 100,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert index.warning == ""
        expected = [n * 100 + i for n in range(4) for i in range(30)]
        assert index.get_many(VIEW, [key(n) for n in expected]) == [payload(n) for n in expected]
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_opens_the_file_for_itself(tmp_path: Path) -> None:
    """Neither of two processes takes the other's locks or connection along (rule I-2)."""
    fill(tmp_path)
    with opened(tmp_path) as index:
        assert check(index) == 80
        child = os.fork()
        if not child:
            code = 1
            try:
                index.put_many(VIEW, [(key(99), payload(99))])
                index.flush()
                code = 0 if check(index) == 80 and not index.warning else 1
            finally:
                os._exit(code)
        put_all(index, count=50)
        index.flush()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert check(index, count=50) == 100
        assert index.get_many(VIEW, [key(99)]) == [payload(99)]
        assert index.warning == ""


def test_the_environment_says_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's index lies where the environment says; it can be left out, and a limit of 0 does so too (I-1, I-3)."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path))
    for index in (open_index(), open_index(use=False)):
        index.put_many(VIEW, [(key(1), b"one")])
        index.flush()
        index.close()
        assert place(tmp_path).exists() is True
    assert open_index(use=False).get_many(VIEW, [key(1)]) == [None]
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", "0")
    assert open_index().is_used is False


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_was_put_before_an_interruption_is_there_again(
    tmp_path: Path, ending: type[BaseException]
) -> None:
    """However a run ends, the next one goes on with what it has found out (rule I-1)."""

    def put_and_end() -> None:
        with Index(place(tmp_path), limit=LIMIT) as index:
            index.put_many(VIEW, [(key(1), payload(1))])
            raise ending

    with pytest.raises(ending):
        put_and_end()
    assert Index(place(tmp_path), limit=LIMIT).get_many(VIEW, [key(1)]) == [payload(1)]
