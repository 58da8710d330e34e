"""The index for its users: storing, place, limit and report."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aggregate import AggregateError, ConfigError
from aggregate.project.index import (
    Index,
    Kind,
    byte_limit,
    clear_index,
    index_path,
    open_index,
    read_report,
)
from tests.project.index.samples import (
    LIMIT,
    TOKENS,
    VIEW,
    check,
    fill,
    in_an_hour,
    key,
    known,
    note,
    opened,
    payload,
    place,
    put_all,
    write_files,
)

KINDS = (VIEW, VIEW._replace(version="2"), TOKENS)
NUMBERS = st.integers(0, 30)


class IndexMachine(RuleBasedStateMachine):
    """Two processes' indexes on one file, compared with dictionaries."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(os.environ["AGGREGATE_CACHE_DIR"]) / os.urandom(8).hex()
        self.indexes = [Index(place(self.folder), limit=LIMIT) for _ in range(2)]
        self.written: dict[tuple[Kind, bytes], bytes] = {}
        self.waiting: list[dict[tuple[Kind, bytes], bytes]] = [{}, {}]

    @rule(who=st.integers(0, 1), kind=st.sampled_from(KINDS), numbers=st.lists(NUMBERS))
    def put(self, who: int, kind: Kind, numbers: list[int]) -> None:
        rows = [(key(n), kind.version.encode() + payload(n)) for n in numbers]
        self.indexes[who].put_many(kind, rows)
        self.waiting[who] |= {(kind, row_key): data for row_key, data in rows}

    @rule(who=st.integers(0, 1), kind=st.sampled_from(KINDS), numbers=st.lists(NUMBERS))
    def get(self, who: int, kind: Kind, numbers: list[int]) -> None:
        expected = self.written | self.waiting[who]
        keys = [key(n) for n in numbers]
        assert self.indexes[who].get_many(kind, keys) == [expected.get((kind, k)) for k in keys]

    @rule(who=st.integers(0, 1))
    def flush(self, who: int) -> None:
        self.indexes[who].flush()
        self.written |= self.waiting[who]
        self.waiting[who] = {}

    @rule(who=st.integers(0, 1))
    def close(self, who: int) -> None:
        self.indexes[who].close()
        self.waiting[who] = {}

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert all(index.warning == "" for index in self.indexes)

    def teardown(self) -> None:
        for index in self.indexes:
            index.close()


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=12, stateful_step_count=25)
"""What was put comes back under its kind and key, from every process once it is flushed (rule I-1)."""


def test_nothing_is_made_before_flush(tmp_path: Path) -> None:
    """Only a flush with content creates the index, for the user alone (rule I-5)."""
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
    """Without a folder everything is a miss, and nothing is written."""
    file = tmp_path / "a.txt"
    file.write_text("a")
    index = Index(None, limit=LIMIT)
    index.put_many(VIEW, [(key(1), b"one")])
    note(index, str(file), key(1), seen_ns=in_an_hour())
    index.flush()
    assert index.get_many(VIEW, [key(1)]) == [None]
    assert known(index, [str(file)]) == [None]
    assert (index.is_used, index.warning, list(tmp_path.iterdir())) == (False, "", [file])


def test_a_kind_without_a_version_is_not_kept(tmp_path: Path) -> None:
    """Results of code with an unknown version are not stored (rule I-1)."""
    with opened(tmp_path) as index:
        index.put_many(Kind("view", ""), [(key(1), b"one")])
        index.flush()
        assert index.get_many(Kind("view", ""), [key(1)]) == [None]
    assert not place(tmp_path).exists()


def test_what_is_too_much_for_memory_is_written_before(tmp_path: Path) -> None:
    """More than 16 MB are written in portions; results over 8 MB are not stored."""
    with opened(tmp_path) as index:
        index.put_many(VIEW, ((key(n), b"x" * 1_000_000) for n in range(30)))
        index.put_many(VIEW, [(key(99), b"x" * 8_000_001)])
        assert place(tmp_path).exists()
        assert None not in index.get_many(VIEW, [key(n) for n in range(30)])
        index.flush()
        assert index.get_many(VIEW, [key(99)]) == [None]


def test_threads_share_an_index(tmp_path: Path) -> None:
    """Threads that put, get and flush together find all their results."""
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
    """A fork inherits neither locks nor the connection (rule I-2)."""
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
    """The environment sets or disables the user's index; a limit of 0 disables it too (I-1, I-3)."""
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
    """The next run continues with the results of an interrupted one (rule I-1)."""

    def put_and_end() -> None:
        with Index(place(tmp_path), limit=LIMIT) as index:
            index.put_many(VIEW, [(key(1), payload(1))])
            raise ending

    with pytest.raises(ending):
        put_and_end()
    assert Index(place(tmp_path), limit=LIMIT).get_many(VIEW, [key(1)]) == [payload(1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 10**9),
        ("  ", 10**9),
        ("1GB", 10**9),
        ("500MB", 500 * 10**6),
        ("2g", 2 * 10**9),
        ("1.5 kb", 1500),
        ("3KiB", 3 * 1024),
        ("12345", 12345),
        ("0", 0),
        ("1T", 10**12),
    ],
)
def test_a_limit_is_a_size(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    """A limit is bytes or a number with a unit, a gigabyte by default (rule I-3)."""
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", text)
    assert byte_limit() == expected


@pytest.mark.parametrize("text", ["lots", "-1", "1e9", "GB", "1XB", "1,000", "١GB", "9" * 400])
def test_a_limit_that_is_no_size_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The sentence has the problem and a valid value (rule I-3)."""
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", text)
    with pytest.raises(ConfigError) as caught:
        byte_limit()
    assert str(caught.value) == (
        f'AGGREGATE_CACHE_LIMIT is "{text}", which is not a size: use bytes, or a number with a unit such as 500MB or 2g'
    )


def test_the_cache_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset or empty is the default folder, an absolute path another one (rule I-1)."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "x" / ".." / "cache"))
    assert index_path() == tmp_path / "cache" / "aggregate-index" / "index.sqlite"
    for empty in (True, False):
        if empty:
            monkeypatch.setenv("AGGREGATE_CACHE_DIR", "")
        else:
            monkeypatch.delenv("AGGREGATE_CACHE_DIR")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
        usual = index_path()
        assert usual is not None
        assert usual.is_absolute()
        assert usual.parts[-3:] == ("manual_slop", "aggregate-index", "index.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["cache", "./cache", "../cache", "~/cache"])
def test_a_relative_cache_folder_is_refused(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """A relative path could be the index of a foreign project (rule I-1)."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", path)
    with pytest.raises(
        ConfigError, match=r'is "\S+", a relative path, .* set it to an absolute path'
    ):
        index_path()


def test_no_default_leads_into_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path in the system's own variable is ignored too (rule I-1)."""
    monkeypatch.delenv("AGGREGATE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    path = index_path()
    assert path is None or path.is_absolute()


DAY_NS = 86_400_000_000_000
SIZE = 2_000


def keep(folder: Path, kind: Kind, numbers: range, *, day: int, limit: int = 10**9) -> None:
    with opened(folder, limit=limit, now=lambda: in_an_hour() + day * DAY_NS) as index:
        index.put_many(kind, ((key(n), os.urandom(SIZE)) for n in numbers))
        index.flush()
        assert index.warning == ""


def look_up(folder: Path, kind: Kind, numbers: range, *, day: int, limit: int = 10**9) -> int:
    """Look results up in a run on some day; return the number found."""
    with opened(folder, limit=limit, now=lambda: in_an_hour() + day * DAY_NS) as index:
        there = index.get_many(kind, [key(n) for n in numbers])
        index.flush()
        assert index.warning == ""
        return len(there) - there.count(None)


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    """A result in use outlives an unused one (rule I-3)."""
    keep(tmp_path, VIEW, range(100), day=0)
    keep(tmp_path, VIEW, range(100, 200), day=1)
    assert look_up(tmp_path, VIEW, range(50), day=2) == 50
    keep(tmp_path, VIEW, range(200, 220), day=3, limit=400_000)
    assert read_report(place(tmp_path), 0)[0].bytes <= 400_000
    assert look_up(tmp_path, VIEW, range(50), day=3) == 50
    assert look_up(tmp_path, VIEW, range(200, 220), day=3) == 20
    assert look_up(tmp_path, VIEW, range(50, 100), day=3) == 0
    assert 0 < look_up(tmp_path, VIEW, range(100, 200), day=3) < 100


def test_versions_that_nobody_uses_go_before_all_else(tmp_path: Path) -> None:
    """Results of earlier code are removed first, even newer ones (rule I-3)."""
    keep(tmp_path, TOKENS, range(100), day=0)
    keep(tmp_path, VIEW, range(100), day=1)
    keep(tmp_path, VIEW._replace(version="2"), range(100), day=2)
    keep(tmp_path, VIEW._replace(version="2"), range(100, 102), day=3, limit=640_000)
    assert look_up(tmp_path, VIEW, range(100), day=3) < 50
    assert look_up(tmp_path, TOKENS, range(100), day=3) == 100
    assert look_up(tmp_path, VIEW._replace(version="2"), range(102), day=3) == 102


@pytest.mark.parametrize("limit", [1, 50_000, 300_000])
def test_the_limit_holds_whatever_it_is(tmp_path: Path, limit: int) -> None:
    """The limit holds within one run, and after it was lowered (rule I-3)."""
    keep(tmp_path, VIEW, range(300), day=0)
    keep(tmp_path, VIEW, range(300, 400), day=0, limit=limit)
    assert read_report(place(tmp_path), 0)[0].bytes <= max(
        limit, 120_000
    )  # an empty one takes seven pages


def test_files_go_too(tmp_path: Path) -> None:
    """States of files count for the limit; removed ones are read again."""
    paths = write_files(tmp_path / "files", 50)
    fill(tmp_path, paths)
    keep(tmp_path, VIEW, range(100, 110), day=5, limit=1)
    with opened(tmp_path) as index:
        assert {*known(index, paths)} == {None}


def test_the_report_counts(tmp_path: Path) -> None:
    """The report has path, bytes, entries, hits, misses and limit, and creates nothing (rule I-3)."""
    path = place(tmp_path / "cache")
    assert read_report(path, 7) == ((path, 0, 0, 0, 0, 7), "")
    assert not (tmp_path / "cache").exists()
    fill(tmp_path / "cache", write_files(tmp_path / "files", 5))
    for _ in range(2):
        with opened(tmp_path / "cache") as index:
            check(index, count=50)
            index.flush()
    size = path.stat().st_size
    assert read_report(path, 7) == ((path, size, 85, 160, 40, 7), "")


def test_a_report_of_a_damaged_index_says_so(tmp_path: Path) -> None:
    """Figures are zero, the size is real, and one sentence has the reason."""
    fill(tmp_path)
    place(tmp_path).write_bytes(b"x" * 5000)
    report, warning = read_report(place(tmp_path), 7)
    assert report == (place(tmp_path), 5000, 0, 0, 0, 7)
    assert warning == f"the index {place(tmp_path)} was damaged: the index is rebuilt"


def test_clearing_takes_all_that_is_ours(tmp_path: Path) -> None:
    """Damaged indexes, logs and temporary files are cleared, other files not (rule I-3)."""
    folder = tmp_path / "cache"
    fill(folder)
    place(folder).write_bytes(b"damaged")
    place(folder).with_name("index.sqlite-wal").write_bytes(b"log")
    (folder / ".aggregate-index-0123.tmp").mkdir()
    (folder / "mine.txt").write_text("mine")
    assert clear_index(place(folder)) is True
    assert list(folder.iterdir()) == [folder / "mine.txt"]
    assert clear_index(place(folder)) is False


def test_clearing_follows_no_link(tmp_path: Path) -> None:
    """A link in the folder's place is an error, and its target stays."""
    fill(tmp_path / "elsewhere")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "aggregate-index").symlink_to(place(tmp_path / "elsewhere").parent)
    with pytest.raises(AggregateError, match="aggregate-index is not a folder: delete it yourself"):
        clear_index(place(cache))
    with opened(tmp_path / "elsewhere") as index:
        assert check(index) == 80
