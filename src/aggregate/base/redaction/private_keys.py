"""Blocks of private keys: PEM, OpenSSH, PGP and PuTTY, over many lines or escaped into a single one."""

import re
from collections.abc import Iterator

MARKER = rb"-----(?:BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-(?:Lines: [0-9]+|(?:MAC|Hash):)"
"""What begins and ends a block; RE2 syntax and Python's."""
_BEGINS = (b"-----BEGIN", b"Private-Lines")
_BEFORE = re.compile(rb"(?:\\[nrt]|[\s\"'`#*>|,(])*(?:// )?")
_BEHIND = b" \t\r\n\"'`,;)]}\\+"
_ESCAPED = re.compile(rb"\\[nr]|\\\\n")
_BASE64 = re.compile(rb"[A-Za-z0-9+/=]+")
_LEAST = 48
"""Characters of base64 that a block must have: the shortest keys have 64, and code that only names the markers none."""
_LEAST_LINE = 16
"""Characters of a line behind a beginning without an end that still counts as part of the key."""


def key_blocks(data: bytes, markers: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of bytes that make up each private key, one run in each of its lines.

    Args:
        data: The text.
        markers: Where ``MARKER`` matches, in order.
    """
    for (start, end), (next_start, _) in zip(markers, [*markers[1:], (len(data), 0)], strict=True):
        if not data.startswith(_BEGINS, start):
            continue
        has_end = next_start < len(data) and not data.startswith(_BEGINS, next_start)
        runs = list(_runs(data, end, next_start, whole=has_end))
        if sum(run_end - run_start for run_start, run_end in runs) >= _LEAST:
            yield runs


def _runs(data: bytes, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield the base64 of each line; without an end marker, ``whole`` off, up to the first line of another kind."""
    while start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        run = _run(data, start, stop)
        if run and (whole or run[1] - run[0] >= _LEAST_LINE):
            yield run
        elif not whole and data[start:stop].strip():
            return
        start = stop


def _run(data: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Return the base64 of a line without quotes, comment signs and the like around it."""
    before = _BEFORE.match(data, start, stop)
    start = before.end() if before else start
    while stop > start:
        escaped = data.endswith((b"\\n", b"\\r"), start, stop)
        if not escaped and data[stop - 1] not in _BEHIND:
            break
        stop -= 2 if escaped else 1
    core = data[start:stop]
    return (start, stop) if core and _BASE64.fullmatch(_ESCAPED.sub(b"", core)) else None
