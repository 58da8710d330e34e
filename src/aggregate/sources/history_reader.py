"""The discussion in a file of its own beside the configuration."""

import os
from pathlib import Path
from typing import Any

from aggregate.config.toml import parse_untrusted_toml
from aggregate.disk.reading import read_text
from aggregate.errors import ConfigError

HISTORY_BYTES = 20_000_000
"""The most bytes of a file with a discussion: no model takes a tenth of that."""
_KEY = "history"


def find_history_file(config_path: Path) -> Path | None:
    """Return ``<stem>_history.toml`` beside ``config_path``, else ``history.toml``, else ``None``."""
    candidates = (
        config_path.with_name(f"{config_path.stem}_history.toml"),
        config_path.with_name("history.toml"),
    )
    # Also what is no regular file: reading it says so, and a discussion that is passed over would be missing silently.
    for path in candidates:
        if os.path.lexists(path) and not os.path.isdir(path):  # noqa: PTH112 - raises for no name
            return path
    return None


def load_history(path: Path) -> list[str | dict[str, Any]]:
    """Read the turns of a discussion: ``history`` at the top level or under ``[discussion]``.

    Args:
        path: A TOML file.

    Returns:
        Strings and tables with ``role`` and ``content``, in the order of the file; an empty file has none.

    Raises:
        ConfigError: The file cannot be read, is not TOML, or holds something else than turns.
    """
    data = _parse(path)
    table, key = data, _KEY
    if _KEY not in data and isinstance(data.get("discussion"), dict):
        table, key = data["discussion"], f"discussion.{_KEY}"
    elif _KEY in data and isinstance(data.get("discussion"), dict) and _KEY in data["discussion"]:
        raise _error(
            path,
            _KEY,
            "history stands both at the top level and under [discussion]; keep one of the two",
        )
    if _KEY not in table:
        if not data:
            return []
        raise _error(
            path,
            _KEY,
            "there is no history; write history = [...] at the top level or under [discussion]",
        )
    return _turns(path, key, table[_KEY])


def _parse(path: Path) -> dict[str, Any]:
    try:
        return parse_untrusted_toml(read_text(path, limit=HISTORY_BYTES))
    except OSError as error:
        raise _error(
            path, "", f"the history cannot be read ({error.strerror}); check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise _error(
            path, "", f"the history is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from error
    except ValueError as error:
        raise _error(path, "", f"the history is not TOML: {error}; correct it there") from error


def _turns(path: Path, key: str, value: object) -> list[str | dict[str, Any]]:
    if not isinstance(value, list):
        raise _error(
            path,
            key,
            f"{key} is no list; write it as a list of strings or of tables with role and content",
        )
    turns: list[str | dict[str, Any]] = []
    for number, turn in enumerate(value, start=1):
        if not isinstance(turn, str | dict):
            what = f"entry {number} of {key} is a {type(turn).__name__}"
            raise _error(path, key, f"{what}; write a string or a table with role and content")
        turns.append(turn)
    return turns


def _error(path: Path, key: str, message: str) -> ConfigError:
    return ConfigError(message, path=str(path), key=key)
