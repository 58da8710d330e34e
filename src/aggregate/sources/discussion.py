"""Adding turns to the discussion's own file."""

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable, Item, String, Table

from aggregate.errors import ConfigError, OutputError
from aggregate.sources.atomic import replace_text
from aggregate.sources.history import find_history_file, load_history

_KEY = "history"


def history_file(config_path: Path) -> Path:
    """Return the file that holds a project's discussion, or will: ``<stem>_history.toml``."""
    return find_history_file(config_path) or config_path.with_name(f"{config_path.stem}_history.toml")


def append_turns(path: Path, turns: Sequence[Mapping[str, str]]) -> None:
    """Add turns behind those that ``path`` holds, in one step; comments and layout of the file stay.

    Args:
        path: A TOML file that holds a history, or is still missing.
        turns: Mappings with ``role`` and ``content``.

    Raises:
        ConfigError: The file is there but holds no history.
        OutputError: It cannot be written.
    """
    text = ""
    if path.exists():
        load_history(path)  # explains what is wrong with it
        text = path.read_text(encoding="utf-8-sig")
    try:
        document = tomlkit.parse(text)
        _add(document, turns)
        written = tomlkit.dumps(document)
        kept = tomllib.loads(written)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"turns cannot be added to this layout ({error}): write [[history]] tables", path=str(path)
        ) from None
    if _turns(kept)[-len(turns) :] != [dict(turn) for turn in turns]:
        raise OutputError(f"cannot add a turn to {path}: TOML does not hold its text unchanged")
    replace_text(path, written)


def _add(document: tomlkit.TOMLDocument, turns: Sequence[Mapping[str, str]]) -> None:
    discussion = document.get("discussion")
    table: Any = document if _KEY in document or not isinstance(discussion, Table) else discussion
    held = table.get(_KEY)
    if isinstance(held, Array) and len(held):
        for turn in turns:
            held.append(_filled(tomlkit.inline_table(), turn))
        held.multiline(multiline=True) if "\n" not in held.as_string() else None
        return
    if held is None or isinstance(held, Array):
        if held is not None:
            table.remove(_KEY)
        held = tomlkit.aot()
        table.append(_KEY, held)
    assert isinstance(held, AoT)  # noqa: S101 - the file was read as a history before
    for turn in turns:
        held.append(_filled(tomlkit.table(), turn))


def _filled(table: "Table | InlineTable", turn: Mapping[str, str]) -> Item:
    for key, value in turn.items():
        table.append(key, _string(value, multiline=isinstance(table, Table) and "\n" in value))
    return table


def _string(value: str, *, multiline: bool) -> String:
    """Return a string for TOML, over many lines where it reads better and holds the same text."""
    if multiline and "\r" not in value:
        with suppress(TOMLKitError, ValueError):
            item = tomlkit.string("\n" + value, multiline=True)
            if tomllib.loads(f"x = {item.as_string()}")["x"] == value:
                return item
    return tomlkit.string(value)


def _turns(data: Mapping[str, Any]) -> list[Any]:
    held = data.get(_KEY, data.get("discussion", {}).get(_KEY, []) if isinstance(data.get("discussion"), dict) else [])
    return list(held)
