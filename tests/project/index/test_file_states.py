"""Detecting unchanged files without reading them (rule I-4)."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from aggregate.project.index import look_at, settled_mark
from tests.project.index.samples import (
    HOUR_NS,
    fill,
    in_an_hour,
    key,
    known,
    note,
    opened,
    write_files,
)

SECOND_NS = 1_000_000_000


def known_hash(folder: Path, file: Path, *, now: Callable[[], int] = in_an_hour) -> bytes | None:
    with opened(folder, now=now) as index:
        [content_hash] = known(index, [str(file)])
        return content_hash


def remember(folder: Path, file: Path, *, seen_ns: int) -> None:
    """Read a file like a run at some time, and store its content's hash."""
    with opened(folder, now=lambda: seen_ns) as index:
        note(index, str(file), key(1), seen_ns=seen_ns)
        index.flush()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file."""
    path = tmp_path / "file.txt"
    path.write_text("text")
    return path


def test_an_unchanged_file_is_known(tmp_path: Path, file: Path) -> None:
    """A file is known until its times change, as by a new hard link; only regular files are."""
    remember(tmp_path, file, seen_ns=in_an_hour())
    assert known_hash(tmp_path, file) == key(1)
    os.link(file, tmp_path / "other")
    assert known_hash(tmp_path, file) is None
    with opened(tmp_path) as index:
        nothing = ["", str(tmp_path), str(tmp_path / "missing"), "a\0b", "x" * 5000]
        assert known(index, nothing) == [None] * 5


@pytest.mark.parametrize("change", ["content", "size", "touch", "replace", "mode"])
def test_a_changed_file_is_unknown(tmp_path: Path, file: Path, change: str) -> None:
    """Each change is noticed, even with size and mtime restored."""
    remember(tmp_path, file, seen_ns=in_an_hour())
    before = file.stat()
    time.sleep(0.02)  # so that the file system's clock ticks
    if change == "content":
        file.write_text("TEXT")
    elif change == "size":
        file.write_text("longer")
    elif change == "touch":
        file.touch()
    elif change == "mode":
        file.chmod(0o600 if before.st_mode & 0o77 else 0o644)
    else:
        (tmp_path / "new").write_text("TEXT")
        (tmp_path / "new").rename(file)
    if change != "touch":
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert known_hash(tmp_path, file) is None


@pytest.mark.parametrize(
    ("age_ns", "is_known"),
    [
        (-HOUR_NS, False),
        (0, False),
        (2 * SECOND_NS - 1, False),
        (2 * SECOND_NS, True),
        (HOUR_NS, True),
    ],
)
def test_a_file_that_was_changed_just_before_is_read_again(
    tmp_path: Path, file: Path, age_ns: int, is_known: bool
) -> None:
    """Files changed within the last two seconds, or in the future, are read again."""
    info = file.stat()
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns - HOUR_NS))
    changed = file.stat().st_ctime_ns
    remember(tmp_path, file, seen_ns=changed + age_ns)
    assert (known_hash(tmp_path, file) == key(1)) is is_known


def test_an_mtime_in_the_future_proves_nothing(tmp_path: Path, file: Path) -> None:
    """A file with a future mtime is always read; extreme dates are no error."""
    for year_ns in (in_an_hour() + HOUR_NS, 9 * 10**18, -9 * 10**18):
        try:
            os.utime(file, ns=(0, year_ns))
        except (OSError, OverflowError):
            continue
        remember(tmp_path, file, seen_ns=in_an_hour())
        assert known_hash(tmp_path, file) in ((None,) if year_ns > 0 else (None, key(1)))
    with opened(tmp_path) as index:
        for far in (10**30, -(10**30)):
            state = 1, 2, 3, far, -far
            mark = settled_mark(state, seen_ns=in_an_hour())
            index.remember_group(key(2), [mark], key(1))


def test_a_clock_that_ran_backwards_proves_nothing(tmp_path: Path, file: Path) -> None:
    """States stored at a future time are ignored."""
    remember(tmp_path, file, seen_ns=in_an_hour() + HOUR_NS)
    assert known_hash(tmp_path, file) is None
    assert known_hash(tmp_path, file, now=lambda: in_an_hour() + 2 * HOUR_NS) == key(1)


def test_verify_knows_no_file(tmp_path: Path) -> None:
    """``verify`` requires reading every file, and still stores the results (rule I-4)."""
    paths = write_files(tmp_path / "files", 5)
    fill(tmp_path, paths)
    with opened(tmp_path, verify=True) as index:
        assert known(index, paths) == [None] * 5
    with opened(tmp_path) as index:
        assert known(index, paths) == [key(n) for n in range(5)]


def test_what_was_noted_is_known_before_it_is_written(tmp_path: Path, file: Path) -> None:
    """A process knows its own states before a flush; the latest one wins."""
    with opened(tmp_path) as index:
        note(index, str(file), key(1), seen_ns=in_an_hour())
        assert known(index, [str(file)]) == [key(1)]
        index.flush()
        note(index, str(file), key(2), seen_ns=in_an_hour())
        index.flush()
    assert known_hash(tmp_path, file) == key(2)


def test_files_are_known_together(tmp_path: Path) -> None:
    """A group's value is returned with the unchanged ones of its files (rule I-4)."""
    files = write_files(tmp_path / "files", 3)
    name, kept = key(7), b"what was found out"

    def look(
        paths: Sequence[str] = files, now: Callable[[], int] = in_an_hour, *, verify: bool = False
    ) -> tuple[bytes, list[int]]:
        named = [(path, Path(path).name) for path in paths]
        with opened(tmp_path, now=now, verify=verify) as index:
            other, group = index.look_at_groups([(key(8), named), (name, named)])
            assert (other.kept, list(other.places)) == (b"", [])
            return group.kept, list(group.places)

    def keep(seen: Callable[[], int] = in_an_hour) -> None:
        with opened(tmp_path, now=seen) as index:
            marks = [settled_mark(look_at(path), Path(path).name, seen_ns=seen()) for path in files]
            index.remember_group(name, marks, kept)
            index.flush()

    changed = Path(files[2]).stat().st_mtime_ns
    keep(lambda: changed + SECOND_NS)  # just before: its time proves nothing
    assert look() == (kept, [-1, -1, -1])
    keep()
    assert look() == (kept, [0, 1, 2])
    assert look(files[::-1]) == (kept, [2, 1, 0])
    assert look(files[2:]) == (kept, [2])
    assert look(now=lambda: in_an_hour() - 2 * HOUR_NS) == (b"", [])
    assert look(verify=True) == (b"", [])
    Path(files[1]).write_text("next")
    assert look() == (kept, [0, -1, 2])
    keep()
    Path(files[1]).unlink()
    assert look() == (kept, [0, -1, 2])
    Path(files[0]).rename(files[1])
    assert look()[1] == [-1, -1, 2]
