"""Reading what somebody else may have put there."""

import os
import sys
from pathlib import Path

import pytest

from aggregate.base.disk import UnreadableError, read_bytes, read_regular, read_text


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """A file of just as many bytes as allowed is read, one of a byte more is refused with both figures."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    assert read_bytes(path, limit=1000) == b"x" * 1000
    with pytest.raises(UnreadableError) as error:
        read_bytes(path, limit=999)
    assert error.value.strerror == "too large: 1,000 bytes, the most is 999"


def test_text_has_its_own_line_ends_and_no_mark(tmp_path: Path) -> None:
    """Text is UTF-8 without a byte order mark; its line ends stay."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\n\xc3\xa9\n")
    assert read_text(tmp_path / "a") == "a\r\né\n"


def test_what_the_file_is_comes_with_its_bytes(tmp_path: Path) -> None:
    """The time belongs to the bytes that were read, through a link too."""
    (tmp_path / "a").write_bytes(b"")
    os.utime(tmp_path / "a", (1_000_000_000, 1_000_000_000))
    (tmp_path / "b").symlink_to("a")
    data, info = read_regular(tmp_path / "b", limit=10)
    assert (data, info.st_mtime) == (b"", 1_000_000_000)


@pytest.mark.skipif(sys.platform == "win32", reason="these are files of Unix")
@pytest.mark.parametrize(
    "target", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty", "fifo", "socket"]
)
def test_what_is_no_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Devices, FIFOs and sockets, also behind a link, are refused at once."""
    import socket

    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        server.bind("socket")
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(OSError, match="is no regular file"):
            read_bytes(tmp_path / "link")


def test_a_folder_is_not_read(tmp_path: Path) -> None:
    """A folder in the place of a file is one."""
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


def test_a_hole_of_terabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    """A file that is longer than any disk is refused without being read."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(UnreadableError, match="too large: 4,398,046,511,104 bytes"):
        read_bytes(tmp_path / "sparse")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_files_without_a_size_are_read_whole() -> None:
    """Files of the system say that they are empty and are not; their limit holds all the same."""
    assert Path("/proc/self/status").stat().st_size == 0
    assert read_bytes("/proc/self/status").count(b"\n") > 10
    with pytest.raises(UnreadableError, match="too large"):
        read_bytes("/proc/self/status", limit=20)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_what_another_user_has_put_there_is_not_our_own(tmp_path: Path) -> None:
    """A state is read only where this user has written it."""
    file = tmp_path / "state.json"
    file.write_text("{}")
    assert read_text(file, is_own=True) == "{}"
    os.chown(file, 12345, -1)
    with pytest.raises(UnreadableError, match="another user"):
        read_text(file, is_own=True)
