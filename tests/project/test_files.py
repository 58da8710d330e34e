"""Reading one file: text, or one sentence that says why not."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aggregate import build_file_items
from aggregate.project.files import SourceFile, read_file
from aggregate.project.files.file_content import MAX_FILE_BYTES

GERMAN = "Grüße aus Köln: der Bär läuft über die Brücke, während die Möwe schläft.\n" * 3


def read(folder: Path, data: bytes) -> SourceFile:
    """Return what reading a file that holds ``data`` gives."""
    path = folder / "file.txt"
    path.write_bytes(data)
    return read_file(path)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("é€😀\n".encode(), "é€😀\n", "utf-8"),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n", "utf-8"),
        (b"\xef\xbb\xbfa\n", "a\n", "utf-8-sig"),
        ("\ufeffaé\n".encode("utf-16-le"), "aé\n", "utf-16"),
        ("\ufeffaé\n".encode("utf-16-be"), "aé\n", "utf-16"),
        ("\ufeffa😀\n".encode("utf-32-le"), "a😀\n", "utf-32"),
        ("\ufeffa😀\n".encode("utf-32-be"), "a😀\n", "utf-32"),
        (b"a" * 8191 + "é".encode(), "a" * 8191 + "é", "utf-8"),
        (b"a" * 1023 + "é".encode() * 2000, "a" * 1023 + "é" * 2000, "utf-8"),
        ("\ufffd kept\n".encode(), "\ufffd kept\n", "utf-8"),
        (b"a\x1b[31mred\x0c\x07\n", "a\x1b[31mred\x0c\x07\n", "utf-8"),
    ],
)
def test_text_comes_back_as_it_is(tmp_path: Path, data: bytes, text: str, encoding: str) -> None:
    """Marks decide the encoding, UTF-8 is the rule, line ends and control characters stay (M-31, M-X18)."""
    source = read(tmp_path, data)
    assert (source.text, source.encoding, source.error) == (text, encoding, "")
    assert source.mtime > 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary content (11 bytes)"),
        (b"\x7fELF\x02\xff\0\xfe", "binary content (8 bytes)"),
        (b"text with a \0 in it", "binary content (19 bytes)"),
        (b"caf\xe9", "unknown encoding"),
        (b"\xff" * 200, "unknown encoding"),
        (bytes(range(1, 256)) * 4, "unknown encoding"),
    ],
)
def test_what_is_no_text_says_so(tmp_path: Path, data: bytes, reason: str) -> None:
    """Binary files and bytes in no sure encoding are an error with its reason, never guessed characters (M-X18)."""
    source = read(tmp_path, data)
    assert source.error.startswith(reason)
    assert source.text == ""
    assert source.mtime > 0


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf"])
def test_a_mark_that_lies_is_no_crash(tmp_path: Path, mark: bytes) -> None:
    """A byte order mark before bytes that are not in its encoding leads to an error text (M-X18)."""
    assert read(tmp_path, mark + b"\xd8\x00\xd8").error


def test_a_sure_guess_is_text_and_noted(tmp_path: Path) -> None:
    """A text long enough to recognise its language is read in its encoding, which the result names (M-X18)."""
    source = read(tmp_path, GERMAN.encode("cp1252"))
    assert (source.text, source.error) == (GERMAN, "")
    assert source.encoding != "utf-8"


def test_a_missing_file_has_the_fixed_words(tmp_path: Path) -> None:
    """A path without a file, or below a file, or a link to nothing, is ``file not found`` with no time (M-5)."""
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("gone")
    for name in ("gone", "file/below", "dangling"):
        assert read_file(tmp_path / name) == SourceFile("", 0.0, "file not found")
    record = build_file_items(tmp_path, ["gone"])[0]
    assert (record["content"], record["error"], record["mtime"]) == (
        "ERROR: file not found: gone",
        True,
        0.0,
    )


@pytest.mark.parametrize("name", ["a" * 5000, "nul\0name", "round"])
def test_a_path_that_cannot_be_opened_is_said(tmp_path: Path, name: str) -> None:
    """Names beyond what the system takes, and links in circles, become an error text (M-X18)."""
    (tmp_path / "round").symlink_to("round")
    source = read_file(f"{tmp_path}/{name}")
    assert source.error.startswith("cannot be read: ")
    assert build_file_items(tmp_path, [name])[0]["error"]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be nobody for a while, where the tests are run by root, to whom nothing is forbidden."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_forbidden_file_is_said(tmp_path: Path) -> None:
    """A file that the user may not read says so (M-X18)."""
    path = tmp_path / "secret"
    path.touch(mode=0o000)
    with unprivileged():
        source = read_file(path)
    assert source.error == "no permission to read it"


def test_what_is_no_file_is_said_at_once(tmp_path: Path) -> None:
    """A folder names the way out; a FIFO without a writer and a device do not hang the run (M-X18)."""
    os.mkfifo(tmp_path / "fifo")
    assert (
        read_file(tmp_path).error == "is a directory: name its files or use a glob such as dir/**"
    )
    assert read_file(tmp_path / "fifo").error == "is no regular file"
    assert read_file("/dev/zero").error == "is no regular file"


def test_a_huge_file_is_reported_not_read(tmp_path: Path) -> None:
    """A file beyond the limit costs nothing but its line (M-X18)."""
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(40 << 30)
    assert read_file(path).error == f"too large: {40 << 30:,} bytes, the most is {MAX_FILE_BYTES:,}"


def test_a_growing_file_is_read_to_where_it_was(tmp_path: Path) -> None:
    """A file that is appended to meanwhile gives whole lines from its beginning, and the read ends (M-X18)."""
    path = tmp_path / "growing.log"
    path.write_bytes(b"line\n" * 1000)
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not stop.is_set() and file.tell() < 2_000_000:
                file.write(b"line\n" * 1000)
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(10):
            source = read_file(path)
            assert source.error == ""
            assert set(source.text.removesuffix("\n").split("\n")) <= {"line", "lin", "li", "l"}
    finally:
        stop.set()
        writer.join()
