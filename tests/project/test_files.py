"""Reading one file: text, image, or an error in one sentence."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import build_file_items
from aggregate.project.files import ImageHeader, SourceFile, read_file, read_image_header
from tests.fakes.images import gif, jpeg, png, webp

GERMAN = "Grüße aus Köln: der Bär läuft über die Brücke, während die Möwe schläft.\n" * 3


def read(folder: Path, data: bytes) -> SourceFile:
    path = folder / "file.txt"
    path.write_bytes(data)
    return read_file(path)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("é€😀\n".encode(), "é€😀\n", "utf-8"),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n", "utf-8"),
        (b"a\rb\r\r", "a\nb\n\n", "utf-8"),
        ("\ufeffa\rb\r".encode("utf-16-le"), "a\nb\n", "utf-16"),
        (b"\xef\xbb\xbfa\n", "a\n", "utf-8-sig"),
        ("\ufeffaé\n".encode("utf-16-le"), "aé\n", "utf-16"),
        ("\ufeffaé\n".encode("utf-16-be"), "aé\n", "utf-16"),
        ("\ufeffa😀\n".encode("utf-32-le"), "a😀\n", "utf-32"),
        ("\ufeffa😀\n".encode("utf-32-be"), "a😀\n", "utf-32"),
        (b"a" * 8191 + "é".encode(), "a" * 8191 + "é", "utf-8"),
        (b"a" * 1023 + "é".encode() * 2000, "a" * 1023 + "é" * 2000, "utf-8"),
        ("\ufffd kept\n".encode(), "\ufffd kept\n", "utf-8"),
        (GERMAN.encode("cp1252"), GERMAN, "cp1252"),
        (b"a\x1b[31mred\x0c\x07\n", "a\x1b[31mred\x0c\x07\n", "utf-8"),
    ],
)
def test_text_comes_back_as_it_is(tmp_path: Path, data: bytes, text: str, encoding: str) -> None:
    """The default is UTF-8, marks override it; line ends but CR alone and control characters stay (M-31, M-X18)."""
    source = read(tmp_path, data)
    assert (source.text, source.encoding, source.error) == (text, encoding, "")
    assert source.mtime > 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary content (11 bytes)"),
        (b"\x7fELF\x02\xff\0\xfe", "binary content (8 bytes)"),
        (b"text with a \0 in it", "binary content (19 bytes)"),
        (b"\xff" * 200, "unknown encoding"),
        (bytes(range(1, 256)) * 4, "unknown encoding"),
    ],
)
def test_what_is_no_text_says_so(tmp_path: Path, data: bytes, reason: str) -> None:
    """Binary files and uncertain encodings are errors, never guessed characters (M-X18)."""
    source = read(tmp_path, data)
    assert source.error.startswith(reason)
    assert source.text == ""
    assert source.mtime > 0


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf"])
def test_a_mark_that_lies_is_no_crash(tmp_path: Path, mark: bytes) -> None:
    """Bytes that contradict their byte order mark are an error text (M-X18)."""
    assert read(tmp_path, mark + b"\xd8\x00\xd8").error


def test_a_growing_file_is_read_to_where_it_was(tmp_path: Path) -> None:
    """Reading a growing file ends, with whole lines (M-X18)."""
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


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("gone", "file not found"),
        ("file/below", "file not found"),
        ("dangling", "file not found"),
        ("forbidden", "no permission to read it"),
        ("folder", "is a directory: name its files or use a glob such as dir/**"),
        ("fifo", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        ("huge", f"too large: {40 << 30:,} bytes, the limit is 50,000,000"),
        ("a" * 5000, "cannot be read: File name too long"),
        ("nul\0name", "cannot be read: embedded null byte"),
        ("round", "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_what_cannot_be_read_says_so_at_once(tmp_path: Path, name: str, error: str) -> None:
    """Missing, forbidden, special and too large files never hang (M-5, M-X18)."""
    (tmp_path / "file").touch()
    (tmp_path / "forbidden").touch(mode=0o000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("missing")
    (tmp_path / "round").symlink_to("round")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(40 << 30)
    user = os.geteuid()
    if user == 0 and name == "forbidden":  # to root nothing is forbidden
        os.seteuid(65534)
    try:
        source = read_file(os.path.join(tmp_path, name))
    finally:
        os.seteuid(user)
    assert (source.text, source.error) == ("", error)
    if error == "file not found":
        record = build_file_items(tmp_path, [name])[0]
        shown = record["content"], record["error"], record["mtime"]
        assert shown == (f"ERROR: file not found: {name}", True, 0.0)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(640, 480), "image/png"),
        (gif(640, 480), "image/gif"),
        (jpeg(640, 480), "image/jpeg"),
        (jpeg(640, 480, marker=0xC2), "image/jpeg"),
        (webp(640, 480), "image/webp"),
        (webp(640, 480, kind=b"VP8L"), "image/webp"),
        (webp(640, 480, kind=b"VP8 "), "image/webp"),
    ],
)
def test_each_kind(data: bytes, media_type: str) -> None:
    """All image types of providers are detected by content, with their size."""
    assert read_image_header(data) == ImageHeader(media_type, 640, 480)


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg/>", b"%PDF-1.7", png(0, 5), png(5, 5)[:20], jpeg(5, 5)[:14], b"\xff\xd8\xff", b"BM" + b"\0" * 60],
)  # fmt: skip
def test_what_is_no_image(data: bytes) -> None:
    """Other types and truncated headers are no images."""
    assert read_image_header(data) is None


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8", b"GIF89a", b"RIFF1234WEBPVP8 "]))
def test_any_bytes_are_read(data: bytes, beginning: bytes) -> None:
    """Any bytes are read as a header without an error."""
    header = read_image_header(beginning + data)
    assert header is None or min(header.width, header.height) > 0
