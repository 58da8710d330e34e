"""Images with a header and little else, of any size in pixels."""

import struct
import zlib


def png(width: int, height: int, *, padding: int = 0) -> bytes:
    """Return a PNG image; ``padding`` bytes follow its end."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0" * 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + b"\0" * padding


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int, height: int, *, marker: int = 0xC0) -> bytes:
    """Return the beginning of a JPEG image: an APP0 segment, a table, fill bytes, and the frame."""
    frame = struct.pack(">HBHHB", 8, 8, height, width, 1)
    begin = b"\xff\xd8\xff\xe0\x00\x04JF\xff\xc4\x00\x03\x00\xff\xff"
    return begin + bytes([0xFF, marker]) + frame + b"\xff\xd9"


def webp(width: int, height: int, *, kind: bytes = b"VP8X") -> bytes:
    """Return the beginning of a WebP image: extended, lossless or lossy."""
    if kind == b"VP8X":
        body = b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14)
    else:
        body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk
