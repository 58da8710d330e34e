"""Damaged, foreign and unusable indexes: never wrong data, at most one warning."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.project.index.samples import (
    VIEW,
    check,
    fill,
    key,
    opened,
    payload,
    place,
    put_all,
    write_files,
)

ALL = 100
"""What ``fill`` keeps with 20 files."""
_PAGE = 16_384


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a full index, and the files it knows."""
    folder = tmp_path_factory.mktemp("full")
    paths = write_files(folder / "files", 20)
    fill(folder, paths)
    return folder, paths


@pytest.fixture
def cache(full: tuple[Path, list[str]], tmp_path: Path) -> tuple[Path, list[str]]:
    """Return a copy of a full index, and the files it knows."""
    folder, paths = full
    shutil.copytree(place(folder).parent, place(tmp_path).parent)
    return tmp_path, paths


def use(folder: Path, paths: list[str]) -> tuple[int, str]:
    """Use an index like a run; return its values and the warning."""
    with opened(folder) as index:
        there = check(index, paths)
        put_all(index, paths)
        index.flush()
        return there, index.warning


def content(folder: Path, paths: list[str]) -> int:
    with opened(folder) as index:
        there = check(index, paths)
        assert index.warning == ""
        return there


def use_damaged(data: bytearray, folder: Path, paths: list[str]) -> None:
    """Use a damaged index several times, and assert that it is repaired."""
    shutil.rmtree(place(folder).parent, ignore_errors=True)
    place(folder).parent.mkdir(mode=0o700, parents=True)
    place(folder).write_bytes(data)
    place(folder).chmod(0o600)
    _, warning = use(folder, paths)
    assert "\n" not in warning
    there = 0
    for _ in range(5):
        if there != ALL:
            there, warning = use(folder, paths)
    assert there == ALL or "is not an index of this program" in warning or "later" in warning


def flips(size: int, step: int) -> Iterator[int]:
    """Yield offsets in an index file: header, page headers, and some others."""
    every = 1 if step < 100 else 4
    for at in range(size):
        if at % step == 0 or ((at < 112 or at % _PAGE < 8) and at % every == 0):
            yield at


@pytest.mark.parametrize(
    "step", [9001, pytest.param(31, marks=pytest.mark.slow)], ids=["few bytes", "many bytes"]
)
def test_a_flipped_byte_is_never_shown(
    full: tuple[Path, list[str]], tmp_path: Path, step: int
) -> None:
    """With any byte damaged, entries are right or missing, and the next runs repair it (rule I-2)."""
    folder, paths = full
    data = place(folder).read_bytes()
    for at in flips(len(data), step):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF if at % 2 else 1 << at % 8
        use_damaged(damaged, tmp_path, paths)


@pytest.mark.parametrize(
    "rounds", [8, pytest.param(1000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_pages_that_are_lost_mixed_or_cut_are_never_shown(
    full: tuple[Path, list[str]], tmp_path: Path, rounds: int
) -> None:
    """Zeroed, random, swapped and truncated pages do no harm (rule I-2)."""
    folder, paths = full
    data = place(folder).read_bytes()
    draw = random.Random(7)
    for _ in range(rounds):
        use_damaged(_damaged(bytearray(data), draw), tmp_path, paths)


def _damaged(data: bytearray, draw: random.Random) -> bytearray:
    at = draw.randrange(len(data))
    pages = len(data) // _PAGE
    first, second = (draw.randrange(pages) * _PAGE for _ in range(2))
    match draw.randrange(4):
        case 0:
            return data[:at]
        case 1:
            data[first : first + _PAGE] = bytes(_PAGE)
        case 2:
            data[first : first + _PAGE] = data[second : second + _PAGE]
        case 3:
            for _ in range(draw.randrange(2, 200)):
                data[draw.randrange(len(data))] = draw.randrange(256)
    return data


def test_a_damaged_log_is_not_shown(tmp_path: Path) -> None:
    """The log of a killed process is used as far as it is intact (rule I-2)."""
    fill(tmp_path, count=10)
    code = (
        "import os, sys; from pathlib import Path; from tests.project.index.samples import *\n"
        "with opened(Path(sys.argv[1])) as index:\n"
        "    put_all(index, count=40); index.flush(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    log = place(tmp_path).with_name("index.sqlite-wal")
    data = log.read_bytes()
    saved = tmp_path / "saved"
    shutil.copytree(place(tmp_path).parent, saved)
    for at in range(0, len(data), 4999):
        shutil.rmtree(place(tmp_path).parent)
        shutil.copytree(saved, place(tmp_path).parent)
        log.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with opened(tmp_path) as index:
            assert check(index) >= 20
            assert index.warning == ""


def test_a_wrong_entry_is_computed_anew(tmp_path: Path) -> None:
    """A damaged entry is a miss, deleted at the next flush, and replaced (rule I-2)."""
    fill(tmp_path)
    data = place(tmp_path).read_bytes()
    at = data.index(payload(16))
    place(tmp_path).write_bytes(data[:at] + b"\0\0" + data[at + 2 :])
    with opened(tmp_path) as index:
        assert index.get_many(VIEW, [key(16), key(17)]) == [None, payload(17)]
        index.flush()
        assert index.warning == ""
    with closing(sqlite3.connect(place(tmp_path))) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (79,)
        assert connection.execute("SELECT count(*) FROM payloads").fetchone() == (79,)
    fill(tmp_path)
    with opened(tmp_path) as index:
        assert index.get_many(VIEW, [key(16)]) == [payload(16)]


def _with(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()

    return change


def _foreign(path: Path) -> None:
    path.unlink()
    _with("CREATE TABLE entries (id, kind, used, place)")(path)
    path.chmod(0o600)


def _replaced(make: Callable[[Path, Path], object]) -> Callable[[Path], None]:
    """Return a function that replaces the file by something else."""

    def change(path: Path) -> None:
        elsewhere = path.rename(path.parents[1] / "elsewhere")
        make(path, elsewhere)

    return change


def _linked_folder(path: Path) -> None:
    path.parent.rename(path.parents[1] / "elsewhere")
    path.parent.symlink_to(path.parents[1] / "elsewhere")


@pytest.mark.parametrize(
    ("change", "warning", "is_renewed"),
    [
        (_foreign, "is not an index of this program, so nothing is cached", False),
        (_with("PRAGMA user_version = 99"), "is of a later release", False),
        (_with("PRAGMA user_version = 0"), "of an earlier release: the index is rebuilt", True),
        (
            _replaced(lambda path, _: path.mkdir()),
            "is not a regular file, so nothing is cached",
            False,
        ),
        (_replaced(lambda path, there: path.symlink_to(there)), "is not a regular file", False),
        (_replaced(lambda path, _: os.mkfifo(path, 0o600)), "is not a regular file", False),
        (_linked_folder, "is not a folder, so nothing is cached", False),
        (lambda path: path.chmod(0o644), "was open to other users: the index is rebuilt", True),
    ],
    ids=["foreign", "later", "earlier", "folder", "link", "fifo", "linked folder", "open"],
)
def test_what_is_not_ours_is_named_and_stays(
    cache: tuple[Path, list[str]],
    change: Callable[[Path], object],
    warning: str,
    *,
    is_renewed: bool,
) -> None:
    """Foreign files are neither read, changed, followed nor waited for; old ones are replaced (I-2, I-5)."""
    folder, paths = cache
    change(place(folder))
    there, said = use(folder, paths)
    assert there == 0
    assert warning in said
    assert use(folder, paths)[0] == (ALL if is_renewed else 0)
    if is_renewed:
        assert place(folder).stat().st_mode & 0o777 == 0o600
        assert place(folder).parent.stat().st_mode & 0o777 == 0o700
    else:
        assert 'nothing is cached for the next run: try "aggregate cache clear"' in said


def test_a_log_without_its_database_is_removed(cache: tuple[Path, list[str]]) -> None:
    """A new database does not use the log of a deleted one (rule I-2)."""
    folder, paths = cache
    place(folder).rename(place(folder).with_name("index.sqlite-wal"))
    assert use(folder, paths) == (0, "")
    assert list(place(folder).parent.iterdir()) == [place(folder)]
    assert content(folder, paths) == ALL


def test_deleting_it_while_it_is_open_harms_nothing(cache: tuple[Path, list[str]]) -> None:
    """A process whose index was deleted goes on, and writes a new one (rule I-2)."""
    folder, paths = cache
    with opened(folder) as index:
        assert check(index, paths) == ALL
        shutil.rmtree(place(folder).parent)
        assert check(index, paths) == ALL
        put_all(index, paths)
        index.flush()
        assert index.warning == ""
        assert check(index, paths) == ALL
    assert content(folder, paths) == ALL


def test_replacing_it_while_it_is_open_harms_nothing(cache: tuple[Path, list[str]]) -> None:
    """A process whose index was replaced writes into the new one (rule I-2)."""
    folder, _ = cache
    with opened(folder) as first:
        assert check(first) == 80
        shutil.rmtree(place(folder).parent)
        fill(folder, count=3)
        first.put_many(VIEW, [(key(99), payload(99))])
        first.flush()
    with opened(folder) as index:
        assert check(index) == 6
        assert index.get_many(VIEW, [key(99)]) == [payload(99)]


def test_damage_while_it_is_open_is_found(cache: tuple[Path, list[str]]) -> None:
    """An index overwritten while open gives no wrong data, and is replaced (rule I-2)."""
    folder, paths = cache
    with opened(folder) as index:
        assert index.get_many(VIEW, [key(1)]) == [payload(1)]
        with place(folder).open("r+b") as file:
            file.write(b"\xee" * place(folder).stat().st_size)
        check(index, paths)
        put_all(index, paths)
        index.flush()
    use(folder, paths)
    assert content(folder, paths) == ALL


def in_a_fork(task: Callable[[], None]) -> int:
    """Run ``task`` in a fork of this process and return its exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            task()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder writable by everybody."""
    folder = Path("/tmp") / f"aggregate-test-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    folder.chmod(0o777)
    yield folder
    for below, _, files in os.walk(folder):
        for path in (Path(below), *(Path(below, name) for name in files)):
            path.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="rights and users are those of POSIX")
def test_a_folder_that_cannot_be_written_is_named(open_folder: Path) -> None:
    """Nothing is stored, with one sentence (rule I-2)."""
    cache = open_folder / "cache"

    def task() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        fill(cache)
        place(cache).parent.chmod(0o500)
        cache.chmod(0o500)
        for folder in (cache, cache / "deeper"):
            with opened(folder) as index:
                index.put_many(VIEW, [(key(99), payload(99))])
                index.flush()
                assert "nothing is cached for the next run" in index.warning
        assert list(place(cache).parent.iterdir()) == [place(cache)]

    assert in_a_fork(task) == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="takes two users")
def test_another_users_index_is_not_believed(open_folder: Path) -> None:
    """Another user's index in a shared folder is neither read nor replaced (rule I-5)."""
    fill(open_folder)
    os.chown(place(open_folder).parent, 65533, 65533)
    os.chown(place(open_folder), 65533, 65533)
    with opened(open_folder) as index:
        put_all(index)
        index.flush()
        assert "belongs to another user" in index.warning
    assert place(open_folder).stat().st_uid == 65533


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="limits of files are those of POSIX")
def test_a_full_disk_is_named_and_what_is_there_stays(tmp_path: Path) -> None:
    """On a full disk the index keeps its content, with one sentence (rule I-2)."""
    fill(tmp_path)

    def task() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        with opened(tmp_path) as index:
            assert check(index) == 80
            index.put_many(VIEW, ((key(n), os.urandom(5_000)) for n in range(100, 200)))
            index.flush()
            assert index.warning.count("nothing is cached for the next run") <= 1

    assert in_a_fork(task) == 0
    with opened(tmp_path) as index:
        assert check(index) == 80
        assert index.warning == ""


def test_a_locked_index_is_read_and_not_waited_for_long(cache: tuple[Path, list[str]]) -> None:
    """While another process writes, reads work; a blocked write is dropped silently."""
    folder, paths = cache
    with closing(sqlite3.connect(place(folder), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with opened(folder) as index:
            assert check(index, paths) == ALL
            index.put_many(VIEW, [(key(99), payload(99))])
            index.flush()
            assert index.warning == ""
            assert index.get_many(VIEW, [key(99)]) == [None]
        other.execute("ROLLBACK")
