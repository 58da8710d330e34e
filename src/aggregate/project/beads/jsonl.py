"""Beads in text files: the JSONL export, and the JSON list of the mock client."""

import io
import json
from pathlib import Path

from aggregate.base.disk import CONTENT_BYTES, read_bytes
from aggregate.base.errors import BeadsError
from aggregate.base.values import Board
from aggregate.project.beads.record import BoardBuilder, board_of


def read_jsonl(path: Path, *, name: str) -> Board:
    """Read one bead per line; a line of any length is fine, a bad one becomes a warning with its number.

    Raises:
        BeadsError: The file cannot be read at all.
    """
    builder = BoardBuilder(name)
    for number, line in enumerate(io.BytesIO(_content(path, name)), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            builder.warn(f"line {number} is not JSON and was left out")
        else:
            builder.add(record, f"line {number}")
    return builder.board()


def read_json_list(path: Path, *, name: str) -> Board:
    """Read a file that holds one JSON list of beads, as ``.beads_mock/beads.json`` does.

    Raises:
        BeadsError: The file cannot be read or holds no JSON list.
    """
    try:
        records = json.loads(_content(path, name))
    except (ValueError, RecursionError) as error:
        raise BeadsError(f"{name} is not JSON; write a list of beads into it") from error
    if not isinstance(records, list):
        raise BeadsError(f"{name} is not a JSON list; write a list of beads into it")
    return board_of(records, name)


def _content(path: Path, name: str) -> bytes:
    try:
        return read_bytes(path, limit=CONTENT_BYTES)
    except OSError as error:
        raise BeadsError(
            f"{name} cannot be read ({error.strerror}); check the file and its permissions"
        ) from error
