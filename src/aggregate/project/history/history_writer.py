"""Write turns to the files of discussions.

Separate from reading, since tomlkit takes 20 ms to load.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import replace_text
from aggregate.base.errors import ConfigError, OutputError
from aggregate.base.values import escape_surrogates
from aggregate.project.configuration.edit import changing
from aggregate.project.history.history_reader import (
    BEGUN_BY_SEND,
    CONTINUES,
    HISTORY_BYTES,
    read_discussion,
)

_KEY = "history"


def append_turns(path: Path, turns: Sequence[Mapping[str, str]]) -> None:
    """Add turns at the end of a discussion; raise an error if TOML cannot hold them unchanged."""
    with changing(path):
        old_turns: list[Any] = []
        text = BEGUN_BY_SEND
        if path.exists():
            old_turns = read_discussion(path).turns  # raises a detailed error if it is invalid
            text = read_text(path, limit=HISTORY_BYTES)
        try:
            written = _with_turns(text, turns)
            all_turns = _parsed_turns(written)
        except (TOMLKitError, tomllib.TOMLDecodeError) as error:
            reason = f"cannot add turns to this layout ({error}): use [[history]] tables"
            raise ConfigError(reason, path=str(path)) from None
        # Bytes that are not UTF-8 were decoded as unpaired surrogates.
        is_unicode = escape_surrogates(written) == written
        if all_turns != [*old_turns, *map(dict, turns)] or not is_unicode:
            raise OutputError(
                f"cannot add a turn to {path}: TOML cannot represent its text unchanged"
            )
        replace_text(path, written)


def replace_last_turns(
    path: Path, turns: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]]
) -> bool:
    """Replace the last turns of a discussion if they still equal ``turns``; return whether they did."""
    with changing(path):
        old_turns = read_discussion(path).turns
        expected = [dict(turn) for turn in turns]
        if not turns or old_turns[-len(turns) :] != expected:
            return False
        refusal = OutputError(f"cannot remove a turn from {path}: edit it by hand")
        document, table = _opened(read_text(path, limit=HISTORY_BYTES))
        try:
            for _ in turns:
                table[_KEY].pop()
            if not len(table[_KEY]):
                # An empty array of tables would vanish, and the file would not be a discussion any more.
                table.remove(_KEY)
                table[_KEY] = tomlkit.array()
            written = tomlkit.dumps(document)
        except AttributeError:  # tomlkit cannot remove from a table in several parts
            raise refusal from None
        written = _with_turns(written, new) if new else written
        if _parsed_turns(written) != [*old_turns[: -len(turns)], *map(dict, new)]:
            raise refusal
        replace_text(path, written)
    return True


def replace_first_turns(path: Path, turns: Sequence[Any], new: Mapping[str, str]) -> bool:
    """Replace the first turns of a discussion by one turn.

    Returns whether they still equalled ``turns`` and were replaced.
    """
    with changing(path):
        old_turns = read_discussion(path).turns
        if old_turns[: len(turns)] != list(turns):
            return False
        document, table = _opened(read_text(path, limit=HISTORY_BYTES))
        if isinstance(table[_KEY], Array):
            rest = list(table[_KEY])[len(turns) :]
            table[_KEY] = tomlkit.array().multiline(multiline=True)
            table[_KEY].extend([dict(new), *rest])
        else:
            for _ in turns:
                del table[_KEY][0]
            first: Any = tomlkit.parse(_with_turns("", [new]) + "\n")
            table[_KEY].insert(0, first[_KEY][0])
        written = tomlkit.dumps(document)
        if _parsed_turns(written) != [dict(new), *old_turns[len(turns) :]]:
            raise OutputError(f"cannot rewrite the turns of {path}: TOML cannot represent them")
        replace_text(path, written)
    return True


def _opened(text: str) -> tuple[tomlkit.TOMLDocument, Any]:
    document = tomlkit.parse(text)
    return document, document if _KEY in document else document["discussion"]


def _text_of(turns: Sequence[Any]) -> str:
    values = [value for turn in turns if isinstance(turn, dict) for value in turn.values()]
    if all(isinstance(turn, dict) for turn in turns) and all(isinstance(v, str) for v in values):
        return _with_turns("", turns)
    document = tomlkit.document()
    document[_KEY] = tomlkit.array().multiline(multiline=True)
    document[_KEY].extend(turns)
    return tomlkit.dumps(document)


def copy_discussion(
    source: Path | None, target: Path, *, before: Sequence[Any] = (), continues: str
) -> None:
    """Copy a discussion to a new one, with layout and permissions; record which one it continues."""
    turns = [*before, *(read_discussion(source).turns if source else ())]
    document = tomlkit.document()
    if source and not before:
        document = tomlkit.parse(read_text(source, limit=HISTORY_BYTES))
        document.pop(CONTINUES, None)
        text = tomlkit.dumps(document).lstrip("\n")
    else:
        text = _text_of(turns)
    written = f"{CONTINUES} = {_string(continues)}\n\n{text}"
    if _parsed_turns(written) != turns:
        raise OutputError(f"cannot copy the discussion to {target}: TOML cannot represent it")
    with changing(target):
        if os.path.lexists(target):
            raise ConfigError("a discussion of this name already exists", path=str(target))
        replace_text(target, written, like=source)


def _parsed_turns(text: str) -> list[Any]:
    data = tomllib.loads(text)
    table = data if _KEY in data or not data.keys() - {CONTINUES} else data["discussion"]
    return list(table.get(_KEY, ()))


def _with_turns(text: str, turns: Sequence[Mapping[str, str]]) -> str:
    document = tomlkit.parse(text)
    inside = _KEY not in document and "discussion" in document
    table: Any = document["discussion"] if inside else document
    array = table.get(_KEY)
    if isinstance(array, Array):
        if len(array):
            for turn in turns:
                value = tomlkit.inline_table()
                value.update(turn)
                array.append(value)
            if "\n" not in array.as_string():
                array.multiline(multiline=True)
            return tomlkit.dumps(document)
        table.remove(_KEY)
        text = tomlkit.dumps(document)
    name = f"discussion.{_KEY}" if inside else _KEY
    end = "\r\n" if "\r\n" in text else "\n"
    blocks = [text.rstrip("\r\n")] if text.strip() else []
    for turn in turns:
        values = [f"{key} = {_string(value)}" for key, value in turn.items()]
        blocks.append(end.join([f"[[{name}]]", *values]))
    return (end * 2).join(blocks) + end


def _string(value: str) -> str:
    if "\n" not in value or "\r" in value:
        return tomlkit.string(value).as_string()
    text = tomlkit.string(value, multiline=True).as_string()
    # TOML ignores a line break after the quotes; the library adds it only before another one.
    return text if value.startswith("\n") else '"""\n' + text.removeprefix('"""')
