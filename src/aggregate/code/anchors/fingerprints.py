"""Fingerprints of lines: some five characters a line instead of its text.

A fingerprint is a 32-bit number: 29 bits of the CRC-32 of the stripped line and two flags. Equal ones guide the search
for a slice; they never prove that a text is the same, which is for the SHA-256 of the slice alone.
"""

import base64
import binascii
import hashlib
import re
import struct
import zlib
from collections import Counter
from collections.abc import Sequence

from aggregate.base.text import split_lines

TRIVIAL = 1 << 31
"""The line is blank, a brace or a rule: it says nothing about its place."""
REPEATED = 1 << 30
"""The line stood more than once in the text when the slice was captured."""

_CODE_BITS = (1 << 29) - 1
_LETTER = re.compile(r"[^\W_]")


def bare_lines(text: str) -> list[str]:
    """Return the lines of ``text`` without their ends, so that LF and CR LF read alike."""
    return [line.removesuffix("\n").removesuffix("\r") for line in split_lines(text)]


def content_hash(lines: Sequence[str]) -> str:
    r"""Return the SHA-256 in hex of ``lines`` joined with ``\n``; unpaired surrogates are hashed as they stand."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def line_code(line: str) -> int:
    """Return the 29-bit number of a line; white space at its ends does not count, so re-indented lines stay equal."""
    return zlib.crc32(line.strip().encode("utf-8", "surrogatepass")) & _CODE_BITS


def is_trivial(line: str) -> bool:
    """Tell whether a line has neither letter nor digit."""
    return _LETTER.search(line) is None


def line_fingerprints(lines: Sequence[str]) -> list[int]:
    """Return the fingerprint of every line of a whole text."""
    codes = [line_code(line) for line in lines]
    counts = Counter(codes)
    return [
        code | (TRIVIAL if is_trivial(line) else 0) | (REPEATED if counts[code] > 1 else 0)
        for line, code in zip(lines, codes, strict=True)
    ]


def pack(fingerprints: Sequence[int]) -> str:
    """Write fingerprints as one string of letters and digits."""
    return base64.b64encode(struct.pack(f">{len(fingerprints)}I", *fingerprints)).decode("ascii")


def unpack(packed: str) -> list[int]:
    """Read what ``pack`` wrote; raise ``ValueError`` for anything else."""
    try:
        raw = base64.b64decode(packed, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if len(raw) % 4:
        raise ValueError("a print has four bytes")
    return list(struct.unpack(f">{len(raw) // 4}I", raw))


def code_of(value: int) -> int:
    """Return the 29-bit number of the line from its fingerprint."""
    return value & _CODE_BITS
