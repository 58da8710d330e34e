"""Read and decode files; read the size of images."""

import re
import struct
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from aggregate.base.disk.reading import CONTENT_BYTES, UnreadableError, read_regular
from aggregate.base.disk.witnesses import State, described
from aggregate.base.redaction import Finding
from aggregate.base.text import may_hide, with_line_feeds
from aggregate.project.files.encodings import declared_text, guessed_text

MAX_FILE_BYTES = CONTENT_BYTES  # larger files are only reported, for lack of memory

UTF_8 = "utf-8"  # the default encoding
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_IS_FOLDER = "is a directory: name its files or use a glob such as dir/**"
_BINARY_PROBE = 8192  # bytes searched for a NUL; git searches 8,000
# A Git LFS pointer in place of a file, as in a clone without its objects; the key comes first.
_LFS_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\r?\n(?:.*\n)*?size (\d+)\s*\Z"
)
_LFS_BYTES = 1024


@dataclass(slots=True)
class SourceFile:
    """The content of a file, or why it cannot be read.

    Not frozen, which would take three times as long.
    """

    text: str
    error: str = ""
    encoding: str = UTF_8
    is_guess: bool = False  # the encoding is not certain
    is_binary: bool = False
    may_hide: bool = False  # may contain invisible characters
    mtime: float = 0.0  # Unix time in seconds, ``0.0`` without a file
    content_hash: bytes = b""  # SHA-256, if requested and without secrets
    state: State | None = None  # at the time of reading, if the hash was requested
    secrets: tuple[Finding, ...] = ()
    redacted: tuple[tuple[int, int], ...] = ()  # first and last lines of runs with replaced secrets
    without_secrets: "SourceFile | None" = None  # for caches, if the prompt shows secrets


def read_file(path: str | Path, *, hashed: bool = False) -> SourceFile:
    try:
        data, info = read_regular(path, limit=MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return SourceFile("", error="file not found")
    except (OSError, ValueError) as error:
        return SourceFile("", mtime=modified_at(path), error=_reason(error))
    source = decode(data)
    source.mtime = info.st_mtime
    if hashed:
        source.content_hash, source.state = sha256(data).digest(), described(info)
    return source


def decode(data: bytes) -> SourceFile:
    """Decode the bytes of a file.

    Line ends of CR alone become LF. The encoding follows from a byte order mark, strict UTF-8, a declaration, or is the
    likeliest one. NUL bytes mean a binary file. Escapes of ISO 2022 are valid UTF-8 too.
    """
    source = _decode(data)
    source.text = with_line_feeds(source.text)
    return source


def _decode(data: bytes) -> SourceFile:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            try:
                return SourceFile(data.decode(encoding), "", encoding, may_hide=True)
            except UnicodeDecodeError:
                break
    try:
        text = data.decode(UTF_8)
    except UnicodeDecodeError:
        return _not_utf8(data)
    if "\0" in text[:_BINARY_PROBE]:
        return _binary(data)
    if len(data) < _LFS_BYTES and (pointer := _LFS_POINTER.match(data)):
        problem = f"binary content ({int(pointer[1]):,} bytes), a Git LFS pointer"
        return SourceFile("", problem, is_binary=True)
    if "\x1b" in text:
        declared = declared_text(data)
        if declared and declared.encoding.startswith("iso2022"):
            return SourceFile(declared.text, "", declared.encoding, may_hide=True)
    return SourceFile(text, may_hide=may_hide(data))


def _not_utf8(data: bytes) -> SourceFile:
    if b"\0" in data[:_BINARY_PROBE]:
        return _binary(data)
    decoded = declared_text(data) or guessed_text(data)
    if decoded is None:
        return SourceFile(
            "", "unknown encoding: not UTF-8 or any recognised one; convert it to UTF-8"
        )
    return SourceFile(decoded.text, "", decoded.encoding, is_guess=decoded.is_guess, may_hide=True)


def _binary(data: bytes) -> SourceFile:
    return SourceFile("", f"binary content ({len(data):,} bytes)", is_binary=True)


def modified_at(path: str | Path) -> float:
    try:
        return Path(path).stat().st_mtime
    except (OSError, ValueError):
        return 0.0


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, IsADirectoryError):
        return _IS_FOLDER
    if isinstance(error, UnreadableError):
        return str(error.strerror)
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


# Image formats accepted by all providers. Sources: PNG (ISO/IEC 15948, IHDR), GIF89a (logical screen), JPEG
# (ITU-T T.81, B.2.2), and WebP (RFC 9649).
_PNG = b"\x89PNG\r\n\x1a\n"
# JPEG markers of frames; the three others define tables.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})  # JPEG markers without data


class ImageHeader(NamedTuple):
    media_type: str
    width: int
    height: int


def read_image_header(data: bytes) -> ImageHeader | None:
    kind, width, height = "", 0, 0
    try:
        if data.startswith(_PNG) and data[12:16] == b"IHDR":
            kind, (width, height) = "png", struct.unpack_from(">II", data, 16)
        elif data[:6] in (b"GIF87a", b"GIF89a"):
            kind, (width, height) = "gif", struct.unpack_from("<HH", data, 6)
        elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            kind, (width, height) = "webp", _webp(data)
        elif data[:2] == b"\xff\xd8":
            kind, (width, height) = "jpeg", _jpeg(data)
    except (struct.error, IndexError):
        return None
    return ImageHeader(f"image/{kind}", width, height) if width > 0 and height > 0 else None


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return width, height
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0


def _jpeg(data: bytes) -> tuple[int, int]:
    offset = 2
    while data[offset] == 0xFF:
        marker = data[offset + 1]
        if marker == 0xFF:  # fill bytes before a marker
            offset += 1
        elif marker in _JPEG_ALONE:
            offset += 2
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, offset + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", data, offset + 2)
            offset += 2 + length
    return 0, 0
