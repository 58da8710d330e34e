"""Read the discussion file beside the configuration."""

import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError

HISTORY_BYTES = 20_000_000  # limit of a discussion file; no model takes a tenth of that
_KEY = "history"
CONTINUES = "continues"  # key of a fork, naming the original discussion
# First line of a file created by ``send``: prompts of other commands show its turns only on request.
BEGUN_BY_SEND: Final = 'begun_by = "send"\n'
DEFAULT: Final = "default"  # the unnamed discussion, whose turns may also be in the configuration
NO_DISCUSSION: Final = "none"  # ask without previous turns, and store none
# The discussion without a model, stored among the prompts, so that a trial leaves no other files.
SCRIPTED_DISCUSSION: Final = "scripted"
# Valid in file names of all systems; no capitals, since some systems ignore case.
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
            f"invalid name of a discussion {name[:60]!r}: use up to 50 lower-case letters, digits, - and _, such as "
            "retry-loop"
        )
    return name


def named_discussions(config_path: Path, prompts: Path) -> list[str]:
    form = re.compile(rf"{re.escape(config_path.stem)}\.({_NAME.pattern})_history\.toml")
    try:
        files = [path.name for path in config_path.parent.iterdir()]
    except OSError:
        return []
    names = {match[1] for file in files if (match := form.fullmatch(file))}
    if history_file(config_path, SCRIPTED_DISCUSSION, prompts).is_file():
        names.add(SCRIPTED_DISCUSSION)
    return sorted(names)


def history_file(config_path: Path, discussion: str = "", prompts: Path | None = None) -> Path:
    """Return the file of a discussion, existing or not.

    The default one is ``<stem>_history.toml`` beside ``config_path``, else ``history.toml``. ``prompts`` is the folder
    of prompts.
    """
    names = [f"{config_path.stem}_history.toml", "history.toml"]
    if discussion:
        names = [f"{config_path.stem}.{discussion_name(discussion)}_history.toml"]
    paths = [config_path.with_name(name) for name in names]
    if discussion == SCRIPTED_DISCUSSION and prompts is not None:
        paths = [prompts / names[0], *paths][::-1]
    return next(filter(_exists, paths), paths[-1] if discussion else paths[0])


def find_history_file(
    config_path: Path, discussion: str = "", prompts: Path | None = None
) -> Path | None:
    path = history_file(config_path, discussion, prompts)
    return path if _exists(path) else None


def _exists(path: Path) -> bool:
    # Not only regular files: reading another one fails visibly instead of silently omitting the discussion.
    note((str(path),))
    return os.path.lexists(path) and not os.path.isdir(path)  # noqa: PTH112 - raises for no name


def read_discussion(path: Path) -> DiscussionFile:
    """Read the turns of a discussion, and the name of the discussion that it continues."""
    from aggregate.project.toml_text import parse_untrusted_toml  # 5 ms, only for discussions

    try:
        data = parse_untrusted_toml(read_text(path, limit=HISTORY_BYTES))
    except (OSError, ValueError) as error:
        problem = f"is not TOML: {error}; correct it in the file"
        if isinstance(error, OSError):
            problem = f"cannot be read ({error.strerror}); check the path"
        elif isinstance(error, UnicodeDecodeError):
            problem = f"is not UTF-8 (byte {error.start}); save it as UTF-8"
        raise _error(path, "", f"the history {problem}") from error
    inner: Any = data.get("discussion")
    is_inside = isinstance(inner, dict) and (_KEY not in data or _KEY in inner)
    if is_inside and _KEY in data:
        both = "history is both at the top level and under [discussion]; keep one of the two"
        raise _error(path, _KEY, both)
    table, key = (inner, f"discussion.{_KEY}") if is_inside else (data, _KEY)
    # Only a hint to caches, so an invalid one is ignored.
    name = data.get(CONTINUES)
    continues = name if isinstance(name, str) and _NAME.fullmatch(name) else None
    continues = "" if continues == DEFAULT else continues
    if _KEY not in table:
        if not data.keys() - {CONTINUES}:
            return DiscussionFile([], continues)
        problem = "history is missing; add history = [...] at the top level or under [discussion]"
        raise _error(path, _KEY, problem)
    turns = table[_KEY]
    if not isinstance(turns, list):
        form = "write it as a list of strings or of tables with role and content"
        raise _error(path, key, f"{key} is not a list; {form}")
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, str | dict):
            problem = f"entry {number} of {key} is a {type(turn).__name__}"
            raise _error(path, key, f"{problem}; write a string or a table with role and content")
    return DiscussionFile(turns, continues, data.get("begun_by") == "send")


def _error(path: Path, key: str, message: str) -> ConfigError:
    return ConfigError(message, path=str(path), key=key)
