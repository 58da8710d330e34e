"""Read files and decode them in their declared or likeliest encoding; read the size of images."""

import codecs
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.reading import CONTENT_BYTES, UnreadableError, read_regular
from aggregate.base.disk.witnesses import State, described
from aggregate.base.redaction import Finding
from aggregate.base.text import may_hide, with_line_feeds

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
                return _decoded(data.decode(encoding), encoding)
            except UnicodeDecodeError:
                break
    try:
        text = data.decode(UTF_8)
        is_binary = "\0" in text[:_BINARY_PROBE]
    except UnicodeDecodeError:
        text, is_binary = None, b"\0" in data[:_BINARY_PROBE]
    if is_binary:
        return SourceFile("", f"binary content ({len(data):,} bytes)", is_binary=True)
    if text is None:
        unknown = "unknown encoding: not UTF-8 or any recognised one; convert it to UTF-8"
        return _declared_text(data) or _guessed_text(data) or SourceFile("", unknown)
    if len(data) < _LFS_BYTES and (pointer := _LFS_POINTER.match(data)):
        problem = f"binary content ({int(pointer[1]):,} bytes), a Git LFS pointer"
        return SourceFile("", problem, is_binary=True)
    if "\x1b" in text:
        declared = _declared_text(data)
        if declared and declared.encoding.startswith("iso2022"):
            return declared
    return SourceFile(text, may_hide=may_hide(data))


def _decoded(text: str, encoding: str, *, is_guess: bool = False) -> SourceFile:
    return SourceFile(text, "", encoding, is_guess=is_guess, may_hide=True)


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


# Searched for declarations: browsers read 1,024 bytes, Vim and Emacs also the end of a file.
_TOP_BYTES: Final = 1024
_END_BYTES: Final = 3000
_DECLARATIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rb"\A(?:[^\n\r]*[\n\r]+)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)",  # PEP 263, Ruby
        rb"-\*-.*?coding:[ \t]*([-\w.]+).*-\*-",  # Emacs
        rb"\A\s*<\?xml\b[^>]*\bencoding\s*=\s*[\"']([-\w.:]+)",
        rb"\A@charset\s+[\"']([-\w.]+)",
        rb"\bcharset\s*=\s*[\"']?([-\w.:]+)",  # HTML, and headers of message catalogues
        rb"\[(\w+)\]\{inputenc\}",  # LaTeX
    )
)
_MODELINE: Final = re.compile(
    rb"(?:^|\s)(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([-\w.]+)"
    rb"|^[^\n]*Local Variables:(?:[^\n]*\n)+?[^\n\w]*coding:[ \t]*([-\w.]+)",
    re.IGNORECASE | re.MULTILINE,
)
_EDITORS_SUFFIX: Final = re.compile(r"-(?:unix|dos|mac)$")
# Codecs for other purposes than files, and those contradicting a declaration in ASCII.
_NO_CHARSETS: Final = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"}
)
_NO_CHARSET: Final = re.compile(r"utf[-_]?(?:7|16|32)")
# Supersets in use under the narrower name (WHATWG Encoding Standard, 4.2).
_SUPERSETS: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_WESTERN: Final = "cp1252"
_CENTRAL_EUROPEAN: Final = "cp1250"
_CANDIDATES: Final = (
    _WESTERN, "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253",
    _CENTRAL_EUROPEAN, "cp1255", "cp1256", "cp874",
)  # fmt: skip
_CENTRAL_LANGUAGES: Final = frozenset(
    {"Croatian", "Czech", "Hungarian", "Polish", "Slovak", "Slovene"}
)
# Misread Hebrew looks like Kazakh, whose letters no candidate has.
_NEVER_WRITTEN_SO: Final = frozenset({"Kazakh"})
_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]+")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS: Final = 0.005  # share in a text; random bytes have a tenth
_MOST_HIGH: Final = 0.4  # share of high bytes in a text in no recognised language
# Signs and letters of Western languages.
_TYPOGRAPHY: Final = frozenset("‘’‚“”„†‡•…–—™©®°§¶·±²³µ¼½¾×«»€£¥¢\xa0\xad")
_LETTERS: Final = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœ¡¿ªº")
_AFTER_DIGIT: Final = re.compile(r"\d[À-ÿ]")  # a degree sign in another code page
_ISOLATED: Final = 0.7  # least share of single bytes among runs of high bytes in a Western text
_CERTAIN_RUNS: Final = 3  # with fewer, an encoding is a guess
_FEW_RUNS: Final = 12  # with fewer, Central European letters count as Western
_SAMPLE: Final = 20_000  # bytes used for a guess
_MOST_CHAOS: Final = 5.0  # percent of unlikely characters in a recognised encoding


def _declared_text(data: bytes) -> SourceFile | None:
    """Decode a text in the encoding that it declares itself, ``None`` if that fails."""
    for name in _declared_names(data):
        try:
            codec = codecs.lookup(_EDITORS_SUFFIX.sub("", name))
            b"".decode(codec.name)  # raises for codecs from bytes to bytes
        except (LookupError, ValueError):
            continue
        if codec.name in _NO_CHARSETS or _NO_CHARSET.fullmatch(codec.name):
            continue
        text = _strictly(data, codec.name)
        # C1 controls are really quotes and dashes of the superset.
        if text is None or re.search("[\x80-\x9f]", text):
            superset = _SUPERSETS.get(codec.name, codec.name)
            wider = _strictly(data, superset)
            if wider is not None:
                return _decoded(wider, superset)
        if text is not None:
            return _decoded(text, codec.name)
    return None


def _declared_names(data: bytes) -> Iterator[str]:
    top, end = data[:_TOP_BYTES], data[-_END_BYTES:]
    for pattern in _DECLARATIONS:
        if match := pattern.search(top):
            yield match[1].decode("ascii", "replace").lower()
    for part in (top, end):
        for match in _MODELINE.finditer(part):
            yield (match[1] or match[2]).decode("ascii", "replace").lower()


def _guessed_text(data: bytes) -> SourceFile | None:
    """Decode a text in the likeliest encoding.

    Returns ``None`` if the data are probably not text. Tries UTF-8 with a few broken bytes, then windows-1252 for
    typical Western texts, then other encodings if a language is recognised.
    """
    if len(_CONTROL.findall(data)) > _MOST_CONTROLS * len(data):
        return None
    high = sum(map(len, _HIGH_RUN.findall(data)))
    broken = _decoded(data.decode("utf-8", "replace"), "utf-8", is_guess=True)
    if high > 3 * broken.text.count("\ufffd"):  # mostly valid UTF-8
        return broken
    sample = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    runs = _HIGH_RUN.findall(sample)
    if sum(len(run) == 1 for run in runs) >= _ISOLATED * len(runs):
        return _western(data, sample, len(runs))
    if encoding := _recognised(sample):
        text = _strictly(data, encoding)
        if text is not None:
            return _decoded(text, encoding, is_guess=len(runs) < _CERTAIN_RUNS)
    # An unknown script: missing characters are better than wrong ones.
    return broken if high <= _MOST_HIGH * len(data) else None


def _western(data: bytes, sample: bytes, runs: int) -> SourceFile:
    text = data.decode(_WESTERN, "replace")
    signs = {character for character in text if character > "\x7f"}
    if signs <= _TYPOGRAPHY:
        return _decoded(text, _WESTERN)
    if runs >= _FEW_RUNS and _recognised(sample) == _CENTRAL_EUROPEAN:
        central = _strictly(data, _CENTRAL_EUROPEAN)
        if central is not None and central != text:
            return _decoded(central, _CENTRAL_EUROPEAN)
    is_usual = signs <= _TYPOGRAPHY | _LETTERS and not _AFTER_DIGIT.search(text)
    return _decoded(text, _WESTERN, is_guess=not is_usual or runs < _CERTAIN_RUNS)


def _recognised(sample: bytes) -> str:
    """Return the likeliest encoding of a text, ``""`` if none fits."""
    from charset_normalizer import from_bytes  # 16 ms, needed by few projects

    matches = [
        match
        for match in from_bytes(sample, cp_isolation=[*_CANDIDATES])
        if match.language not in _NEVER_WRITTEN_SO
    ]
    if not matches or matches[0].percent_chaos > _MOST_CHAOS:
        return ""
    best = matches[0]
    if best.encoding == _CENTRAL_EUROPEAN:
        is_western = any(match.encoding == _WESTERN for match in matches)
        return "" if is_western or best.language not in _CENTRAL_LANGUAGES else best.encoding
    return best.encoding


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except ValueError:
        return None


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
