"""What kind of image some bytes are, and how large: read from the header alone, nothing is decoded.

The four kinds are those that all providers take. Sources: PNG (ISO/IEC 15948, IHDR), GIF89a (logical screen), JPEG
(ITU-T T.81, B.2.2), and WebP (RFC 9649).
"""

import struct
from typing import NamedTuple

_PNG = b"\x89PNG\r\n\x1a\n"
# Markers of JPEG that begin a frame; the three others define tables.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})  # Markers of JPEG that nothing belongs to


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
    place = 2
    while data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:  # fill bytes may stand before a marker
            place += 1
        elif marker in _JPEG_ALONE:
            place += 2
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", data, place + 2)
            place += 2 + length
    return 0, 0
