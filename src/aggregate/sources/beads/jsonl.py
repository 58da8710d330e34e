"""Beads in text files: the JSONL export, and the JSON list of the mock client."""

import io
import json
from pathlib import Path

from aggregate.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.errors import BeadsError
from aggregate.models.bead import Board
from aggregate.sources.beads.record import BoardBuilder


def read_jsonl(path: Path, *, name: str) -> Board:
    """Read one bead per line; a line of any length is fine, a bad one becomes a warning with its number.

    Raises:
        BeadsError: The file cannot be read at all.
    """
    builder = BoardBuilder(name)
    try:
        data = read_bytes(path, limit=CONTENT_BYTES)
    except OSError as error:
        raise BeadsError(f"{name} cannot be read ({error.strerror}); check the file and its permissions") from error
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.strip():
            _add_line(builder, line, f"line {number}")
    return builder.board()


def _add_line(builder: BoardBuilder, line: bytes, where: str) -> None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        builder.warn(f"{where} is not JSON and was left out")
    else:
        builder.add(record, where)


def read_json_list(path: Path, *, name: str) -> Board:
    """Read a file that holds one JSON list of beads, as ``.beads_mock/beads.json`` does.

    Raises:
        BeadsError: The file cannot be read or holds no JSON list.
    """
    builder = BoardBuilder(name)
    try:
        records = json.loads(read_bytes(path, limit=CONTENT_BYTES))
    except OSError as error:
        raise BeadsError(f"{name} cannot be read ({error.strerror}); check the file and its permissions") from error
    except (ValueError, RecursionError) as error:
        raise BeadsError(f"{name} is not JSON; write a list of beads into it") from error
    if not isinstance(records, list):
        raise BeadsError(f"{name} is not a JSON list; write a list of beads into it")
    for number, record in enumerate(records, start=1):
        builder.add(record, f"entry {number}")
    return builder.board()
