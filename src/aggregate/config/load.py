"""From a file or a mapping to a validated configuration."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from aggregate.config.locate import locate
from aggregate.config.schema import UNION_TAGS, Config
from aggregate.disk.reading import read_text
from aggregate.errors import ConfigError

CONFIG_NAME = "manual_slop.toml"
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Project:
    """A configuration and where it came from.

    Attributes:
        config: The validated tables.
        folder: Where relative folders begin: the file's own folder, or the working directory for a mapping.
        path: The file, ``None`` for a mapping.
        allow_outside: Whether files outside the project may be read; ``None``: as a mapping asks, not as a file does.
        allow_secrets: The same of files that look like secrets.
    """

    config: Config
    folder: Path
    path: Path | None = None
    allow_outside: bool | None = None
    allow_secrets: bool | None = None


def load_config(path: Path) -> Project:
    """Read and validate the configuration at ``path``.

    Raises:
        ConfigError: The file is missing, is no TOML, or holds an unknown key or a value of the wrong type.
    """
    text = read_toml_text(path)
    return Project(validate(parse_toml(text, path), path=path, text=text), Path(path).parent, Path(path))


def read_toml_text(path: Path) -> str:
    """Return the text of a configuration file.

    Raises:
        ConfigError: It is missing or unreadable.
    """
    try:
        return read_text(path)
    except FileNotFoundError:
        hint = 'write it with "aggregate init" or name another one with --config'
        raise ConfigError(f"there is no {path.name} here: {hint}", path=str(path)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text (byte {error.start}): save it as UTF-8", path=str(path)) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", path=str(path)) from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        ConfigError: It is no valid TOML; the parser's message names line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is no valid TOML: {error}", path=str(path)) from None
    except RecursionError:
        raise ConfigError("is nested too deeply: write flat tables and lists", path=str(path)) from None


def validate(data: Mapping[str, Any], *, path: Path | None = None, text: str = "") -> Config:
    """Return ``data`` as a configuration; ``text`` is what it was read from, for line numbers.

    Raises:
        ConfigError: A key is unknown or a value has the wrong type; the message names the first one.
    """
    return validated(Config, data, path=path, text=text)


def validated(model: type[Model], data: Mapping[str, Any], *, path: Path | None = None, text: str = "") -> Model:
    """Return ``data`` as a table of ``model``, a file of its own; the errors are those of ``validate``.

    Raises:
        ConfigError: A key is unknown or a value has the wrong type; the message names the first one.
    """
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        problems = [_explain(model, one) for one in error.errors(include_url=False)]
        located = [(locate(text, keys) if text else None, keys, message) for keys, message in problems]
        line, keys, message = min(located, key=lambda one: one[0] or 0)
        more = f" (and {len(located) - 1} more)" if len(located) > 1 else ""
        raise ConfigError(message + more, path=str(path) if path else None, key=_dotted(keys), line=line) from None


def _explain(model: type[BaseModel], error: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str]:
    """Return where a validation error is and one sentence about it."""
    keys = tuple(key for key in error["loc"] if key not in UNION_TAGS)
    name = _dotted(keys)
    if error["type"] == "extra_forbidden":
        known = sorted(_known_keys(model, keys[:-1]))
        near = get_close_matches(str(keys[-1]), known, n=1)
        where = f"[{_dotted(keys[:-1])}]" if keys[:-1] else "the file"
        hint = f'did you mean "{near[0]}"?' if near else f"known keys of {where}: {', '.join(known)}"
        return keys, f'unknown key "{name}": {hint}'
    if error["type"] == "missing":
        return keys, f'"{name}" is missing: add it'
    message = error["msg"].removeprefix("Value error, ")  # what a validator of ours raised
    wrong = "" if isinstance(error["input"], dict | list) else f", not {error['input']!r}"
    return keys, f'"{name}": {message[0].lower()}{message[1:]}{wrong}'


def _known_keys(model: type[BaseModel], keys: Sequence[str | int]) -> set[str]:
    """Return the keys that the table at ``keys`` may have."""
    table: type[BaseModel] | None = model
    for key in keys:
        if table is not None and key in table.model_fields:  # else a list's position or a name the user chose
            table = _table(table.model_fields[str(key)].annotation)
    return set(table.model_fields) if table else set()


def _table(annotation: object) -> type[BaseModel] | None:
    """Return the table in a field's type: ``list[Table]``, ``dict[str, Table]`` or the table itself."""
    return next((one for one in _flat(annotation) if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _flat(annotation: object) -> list[object]:
    inner = get_args(annotation)
    return [leaf for one in inner for leaf in _flat(one)] if inner else [annotation]


def _dotted(keys: Sequence[str | int]) -> str:
    """Return ``("files", "paths", 0, "path")`` as ``files.paths[0].path``."""
    name = ""
    for key in keys:
        name += f"[{key}]" if isinstance(key, int) else f".{key}" if name else key
    return name
