"""Keeping to the limit, and what the index tells of itself (rule I-3)."""

import os
from pathlib import Path

import pytest

from aggregate.base.errors import OutputError
from aggregate.project.index import Kind, clear_index, read_report
from tests.project.index.samples import (
    TOKENS,
    VIEW,
    check,
    fill,
    in_an_hour,
    key,
    opened,
    place,
    write_files,
)

DAY_NS = 86_400_000_000_000
SIZE = 2_000


def keep(folder: Path, kind: Kind, numbers: range, *, day: int, limit: int = 10**9) -> None:
    """Put results in a run on some day."""
    with opened(folder, limit=limit, now=lambda: in_an_hour() + day * DAY_NS) as index:
        index.put_many(kind, ((key(n), os.urandom(SIZE)) for n in numbers))
        index.flush()
        assert index.warning == ""


def look_up(folder: Path, kind: Kind, numbers: range, *, day: int, limit: int = 10**9) -> int:
    """Ask for results in a run on some day and return how many are there."""
    with opened(folder, limit=limit, now=lambda: in_an_hour() + day * DAY_NS) as index:
        there = index.get_many(kind, [key(n) for n in numbers])
        index.flush()
        assert index.warning == ""
        return len(there) - there.count(None)


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    """A result that is only read stays longer than one that nobody asked for (rule I-3)."""
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
    """Results of an earlier version of the code go first, also where others are older (rule I-3)."""
    keep(tmp_path, TOKENS, range(100), day=0)
    keep(tmp_path, VIEW, range(100), day=1)
    keep(tmp_path, VIEW._replace(version="2"), range(100), day=2)
    keep(tmp_path, VIEW._replace(version="2"), range(100, 102), day=3, limit=640_000)
    assert look_up(tmp_path, VIEW, range(100), day=3) < 50
    assert look_up(tmp_path, TOKENS, range(100), day=3) == 100
    assert look_up(tmp_path, VIEW._replace(version="2"), range(102), day=3) == 102


@pytest.mark.parametrize("limit", [1, 50_000, 300_000])
def test_the_limit_holds_whatever_it_is(tmp_path: Path, limit: int) -> None:
    """Also where one run has more than that, and where the limit was lowered (rule I-3)."""
    keep(tmp_path, VIEW, range(300), day=0)
    keep(tmp_path, VIEW, range(300, 400), day=0, limit=limit)
    assert read_report(place(tmp_path), 0)[0].bytes <= max(
        limit, 120_000
    )  # an empty one takes seven pages


def test_files_go_too(tmp_path: Path) -> None:
    """What is known of files counts for the limit; they are read again then."""
    paths = write_files(tmp_path / "files", 50)
    fill(tmp_path, paths)
    keep(tmp_path, VIEW, range(100, 110), day=5, limit=1)
    with opened(tmp_path) as index:
        assert {state and state.content_hash for state in index.known(paths)} == {None}


def test_the_report_counts(tmp_path: Path) -> None:
    """Path, bytes, entries, hits and misses of all runs, and the limit; asking makes nothing (rule I-3)."""
    path = place(tmp_path / "cache")
    assert read_report(path, 7) == ((path, 0, 0, 0, 0, 7), "")
    assert not (tmp_path / "cache").exists()
    fill(tmp_path / "cache", write_files(tmp_path / "files", 5))
    for _ in range(2):
        with opened(tmp_path / "cache") as index:
            check(index, count=50)
            index.flush()
    size = path.stat().st_size
    assert read_report(path, 7) == ((path, size, 85, 160, 45, 7), "")


def test_a_report_of_a_damaged_index_says_so(tmp_path: Path) -> None:
    """The figures are zeros, the size is what it is, and one sentence says why."""
    fill(tmp_path)
    place(tmp_path).write_bytes(b"x" * 5000)
    report, warning = read_report(place(tmp_path), 7)
    assert report == (place(tmp_path), 5000, 0, 0, 0, 7)
    assert warning == f"the index {place(tmp_path)} was damaged: it is made anew"


def test_clearing_takes_all_that_is_ours(tmp_path: Path) -> None:
    """Also a damaged index, its log and what a kill has left; nothing else in the folder (rule I-3)."""
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
    """A link in the place of the folder is named, and what it leads to stays."""
    fill(tmp_path / "elsewhere")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "aggregate-index").symlink_to(place(tmp_path / "elsewhere").parent)
    with pytest.raises(OutputError, match="aggregate-index is no folder: delete it yourself"):
        clear_index(place(cache))
    with opened(tmp_path / "elsewhere") as index:
        assert check(index) == 80
