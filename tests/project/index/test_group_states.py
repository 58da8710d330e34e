"""Whether all files of a group are unchanged, without reading one of them (rule I-4)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project.index.samples import HOUR_NS, in_an_hour, key, opened

NAME = key(7)
KEPT = b"what was found out"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return the paths of some files."""
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text("text")
    return [str(path) for path in paths]


def remember(folder: Path, files: list[str], *, seen: Callable[[], int] = in_an_hour) -> None:
    """Keep something of the files, as they are at some time."""
    with opened(folder, now=seen) as index:
        states = [state for state in index.known(files) if state]
        index.remember_group(NAME, states, KEPT)
        index.flush()


def kept(folder: Path, files: list[str], *, now: Callable[[], int] = in_an_hour) -> bytes | None:
    """Return what the index in ``folder`` knows of the files."""
    with opened(folder, now=now) as index:
        [known] = index.look_at_groups([(NAME, files)])
        return known


def test_unchanged_files_are_known_together(tmp_path: Path, files: list[str]) -> None:
    """What was kept is there as long as each file is the same, by the same name, in the same order (rule I-4)."""
    assert kept(tmp_path, files) is None
    remember(tmp_path, files)
    assert kept(tmp_path, files) == KEPT
    assert kept(tmp_path, files[::-1]) is None
    with opened(tmp_path) as index:
        assert index.look_at_groups([(key(8), files)]) == [None]


def test_one_changed_file_is_noticed(tmp_path: Path, files: list[str]) -> None:
    """Also where its size is the same and its time was set back, and where it is gone or no file (rule I-4)."""
    path = Path(files[1])
    before = path.stat()
    remember(tmp_path, files)
    path.write_text("next")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kept(tmp_path, files) is None
    remember(tmp_path, files)
    assert kept(tmp_path, files) == KEPT
    path.unlink()
    assert kept(tmp_path, files) is None
    path.mkdir()
    assert kept(tmp_path, files) is None


def test_what_times_do_not_prove_is_not_kept(tmp_path: Path, files: list[str]) -> None:
    """A file that was changed just before, and a clock that has run backwards, leave nothing known (rule I-4)."""
    changed = Path(files[2]).stat().st_mtime_ns
    remember(tmp_path, files, seen=lambda: changed + 1_000_000_000)
    assert kept(tmp_path, files) is None
    remember(tmp_path, files)
    assert kept(tmp_path, files, now=lambda: in_an_hour() - 2 * HOUR_NS) is None


def test_verifying_takes_no_file_as_unchanged(tmp_path: Path, files: list[str]) -> None:
    """``--verify`` reads all (rule I-4)."""
    remember(tmp_path, files)
    with opened(tmp_path, now=in_an_hour, verify=True) as index:
        assert index.look_at_groups([(NAME, files)]) == [None]
