"""The discussion in a file of its own beside the configuration."""

import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError

# The most bytes of a file with a discussion: no model takes a tenth of that.
HISTORY_BYTES = 20_000_000
_KEY = "history"
# The key of the discussion that one goes on from: a fork.
CONTINUES = "continues"
# Begins a file that no user has written: a prompt that ``send`` does not make shows its turns only when asked.
BEGUN_BY_SEND: Final = 'begun_by = "send"\n'
# The name of the discussion that has no name of its own, whose turns may also stand in the configuration.
DEFAULT: Final = "default"
# Names no discussion: a question that knows of no turn and is kept in none.
NO_DISCUSSION: Final = "none"
# The discussion in which no model answers; it lies among the prompts, so that a trial leaves nothing elsewhere.
SCRIPTED_DISCUSSION: Final = "scripted"
# A part of a file name on every system: no capitals, since some tell them from small letters and some do not.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")


class DiscussionFile(NamedTuple):
    turns: list[str | dict[str, Any]]
    continues: str | None = None
    is_begun_by_send: bool = False


def discussion_name(name: str) -> str:
    if name in ("", DEFAULT):
        return ""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"a discussion cannot be called {name[:60]!r}: take up to 50 small letters, digits, - and _, such as "
            "retry-loop"
        )
    return name


def named_history_file(config_path: Path, name: str, prompts: Path | None = None) -> Path:
    path = config_path.with_name(f"{config_path.stem}.{discussion_name(name)}_history.toml")
    if name != SCRIPTED_DISCUSSION or prompts is None:
        return path
    note((str(path),))
    return path if os.path.lexists(path) else prompts / path.name


def named_discussions(config_path: Path, prompts: Path) -> list[str]:
    form = re.compile(rf"{re.escape(config_path.stem)}\.({_NAME.pattern})_history\.toml")
    try:
        files = [path.name for path in config_path.parent.iterdir()]
    except OSError:
        return []
    names = {match[1] for file in files if (match := form.fullmatch(file))}
    if named_history_file(config_path, SCRIPTED_DISCUSSION, prompts).is_file():
        names.add(SCRIPTED_DISCUSSION)
    return sorted(names)


def find_history_file(
    config_path: Path, discussion: str = "", prompts: Path | None = None
) -> Path | None:
    """Return the file of a discussion, ``None`` where there is none.

    That of the default one is ``<stem>_history.toml`` beside ``config_path``, else ``history.toml``; ``prompts`` is
    the folder of prompts.
    """
    if discussion:
        path = named_history_file(config_path, discussion, prompts)
        note((str(path),))
        return path if os.path.lexists(path) else None
    # Also what is no regular file: reading it says so, and a discussion that is passed over would be missing silently.
    for name in (f"{config_path.stem}_history.toml", "history.toml"):
        path = config_path.with_name(name)
        note((str(path),))
        if os.path.lexists(path) and not os.path.isdir(path):  # noqa: PTH112 - raises for no name
            return path
    return None


def load_history(path: Path) -> list[str | dict[str, Any]]:
    return read_discussion(path).turns


def read_discussion(path: Path) -> DiscussionFile:
    """Read a discussion and where it goes on from; an empty file has no turns."""
    data = _parse(path)
    inner: Any = data.get("discussion")
    inside = isinstance(inner, dict) and (_KEY not in data or _KEY in inner)
    if inside and _KEY in data:
        both = "history stands both at the top level and under [discussion]; keep one of the two"
        raise _error(path, _KEY, both)
    table, key = (inner, f"discussion.{_KEY}") if inside else (data, _KEY)
    # A hint to caches, of which no mistake is made.
    name = data.get(CONTINUES)
    continues = name if isinstance(name, str) and _NAME.fullmatch(name) else None
    continues = "" if continues == DEFAULT else continues
    if _KEY not in table:
        if not data.keys() - {CONTINUES}:
            return DiscussionFile([], continues)
        none = "there is no history; write history = [...] at the top level or under [discussion]"
        raise _error(path, _KEY, none)
    turns = table[_KEY]
    if not isinstance(turns, list):
        form = "write it as a list of strings or of tables with role and content"
        raise _error(path, key, f"{key} is no list; {form}")
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, str | dict):
            what = f"entry {number} of {key} is a {type(turn).__name__}"
            raise _error(path, key, f"{what}; write a string or a table with role and content")
    return DiscussionFile(turns, continues, data.get("begun_by") == "send")


def _parse(path: Path) -> dict[str, Any]:
    # With Python's parser 5 ms, which a project without a discussion does without.
    from aggregate.project.toml_text import parse_untrusted_toml

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


def _error(path: Path, key: str, message: str) -> ConfigError:
    return ConfigError(message, path=str(path), key=key)
