"""Edit configurations, keeping the bytes and comments of unchanged parts."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from aggregate.base.disk.reading import project_root, real_path
from aggregate.base.disk.writing import exclusive_access, replace_text
from aggregate.base.errors import AggregateError, ConfigError, OutputError
from aggregate.project.configuration.load import (
    global_config_path,
    load_config,
    parse_toml,
    read_toml_text,
    user_config,
    validate,
)

_WAIT_SECONDS: Final = 5.0  # for other writers, which hold the lock during one change


@contextmanager
def changing(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_access(path, seconds=_WAIT_SECONDS):
            yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


# A string, a bracket, a line's beginning, or a comment (group 1)
_TOKEN: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[\[\]{}]|\n|[ \t]*(#[^\r\n]*)''',
    re.DOTALL,
)


def edited(text: str, change: Callable[[Any], object], *, deletes: bool = False) -> str:
    """Change the text of a configuration without losing comments.

    tomlkit loses edits or comments in some layouts. Then comments inside arrays move to the lines before, and those of
    replaced tables to the end; if that does not help, the whole file gets a new layout. With ``deletes`` the comments
    of deleted tables are deleted too.
    """
    failure: Exception | None = None
    results: list[str] = []
    for layout in (str, _lifted, _plain_layout):
        try:
            document: Any = tomlkit.parse(layout(text))
            change(document)
            written = tomlkit.dumps(document)
            if tomllib.loads(written) != document.unwrap():
                continue
        except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError) as error:
            failure = failure or error
            continue
        if deletes or not _lost(text, written):
            return written
        results.append(written)
    if results:
        return (
            results[0].rstrip("\n")
            + "\n"
            + "".join(f"{comment}\n" for comment in _lost(text, results[0]))
        )
    if isinstance(failure, AggregateError):
        raise failure
    raise ConfigError("the configuration cannot be edited here: edit the file by hand") from failure


def _lost(before: str, after: str) -> list[str]:
    return [*(Counter(_comments(before)) - Counter(_comments(after))).elements()]


def _comments(text: str) -> list[str]:
    return [match[1].strip() for match in _TOKEN.finditer(text) if match[1]]


def _lifted(text: str) -> str:
    """Return the configuration with comments inside arrays moved to the lines before the arrays."""
    pieces: list[str] = []
    depth = last = start = 0  # ``start``: of the statement among the pieces
    for match in _TOKEN.finditer(text):
        pieces.append(text[last : match.start()])
        last, part = match.end(), match[0]
        if match[1] and depth:
            pieces.insert(start, f"{match[1]}\n")
            start += 1
            continue
        pieces.append(part)
        depth += (part in ("[", "{")) - (part in ("]", "}"))
        if part == "\n" and not depth:
            start = len(pieces)
    return "".join((*pieces, text[last:]))


def _plain_layout(text: str) -> str:
    """Return the configuration in the standard layout of tomlkit, with all comments at the beginning."""
    comments = "".join(f"{comment}\n" for comment in _comments(text))
    return comments + tomlkit.dumps(tomllib.loads(text))


def change_document(path: Path, change: Callable[[Any], object], *, deletes: bool = False) -> None:
    """Change a configuration file and keep its comments; an invalid result is not written."""
    old_text = read_toml_text(path) if path.exists() else ""
    parse_toml(old_text, path)  # for its error message
    text = edited(old_text, change, deletes=deletes)
    validate(parse_toml(text, path), path=path, text=text)
    replace_text(path, text)


def set_trust(folder: Path, *, trusted: bool) -> str:
    """Trust or distrust the project around a folder; return its root.

    A trusted project may read files outside of it.
    """
    root = project_root(folder)
    path = global_config_path()
    with changing(path):
        if path.exists():
            load_config(path)  # raises a detailed error if it is invalid
        trust = user_config().trust
        others = (p for p in trust.projects if real_path(Path(p).expanduser()) != root)
        projects = [*others, *([root] if trusted else [])]

        def change(document: tomlkit.TOMLDocument) -> None:
            array = tomlkit.array().multiline(multiline=True)
            array.extend(projects)
            document.setdefault("trust", tomlkit.table())["projects"] = array

        change_document(path, change)
    return root
