"""Find, read, validate and cache the configuration files of projects and users.

Validated configurations are cached by their content: pydantic, which validates, takes 0.1 s to load. A damaged cache
entry costs another validation, but never causes a wrong result or an error.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from aggregate.base.disk.reading import read_text, real_path
from aggregate.base.disk.writing import NO_HOME, cache_folder, replace_own
from aggregate.base.errors import AggregateError, ConfigError
from aggregate.base.nearest_names import path_meant
from aggregate.base.redaction import AS_THEY_ARE, redact
from aggregate.base.text import printable
from aggregate.project import tables
from aggregate.project.index.rows import code_version
from aggregate.project.index.store import byte_limit
from aggregate.project.tables import UNION_TAGS, Config, plain_table

CONFIG_NAME = "manual_slop.toml"
MOST_BYTES = 750_000  # a configuration with ten thousand entries has about 500,000
# Errors in longer texts have no line number, since finding it takes too long.
_LOCATED = 500_000
_SHORT = 120  # characters of a value or a name in a message
# Code and libraries determining the result of a validation.
_CODE: Final = (
    "base.task_budget",
    "project.configuration.load",
    "project.paths.globs_and_ignores",
    "project.tables",
    "project.toml_text",
)
_LIBRARIES: Final = ("pydantic", "pydantic_core")
# Key of a table's class: an unpaired surrogate, impossible in a TOML file.
_KIND: Final = "\ud800"
_CACHED_ENTRIES: Final = 50  # projects; each takes some kilobytes
_CACHED_BYTES: Final = 4_000_000  # about the largest allowed configuration as JSON

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class Project:
    """A project's configuration and where it came from.

    Attributes:
        config: The validated tables.
        folder: Base of relative folders: the file's folder, or the working directory for a mapping.
        path: The file, None for a mapping.
        allow_outside: Whether files outside the project may be read; None: for a mapping yes, for a file no.
        allow_secrets: Likewise for files that look like secrets.
        is_bare: A folder without a configuration: all files except those ignored by git are used (rule T-6).
    """

    config: Config
    folder: Path
    path: Path | None = None
    allow_outside: bool | None = None
    allow_secrets: bool | None = None
    is_bare: bool = False

    @property
    def prompts(self) -> Path:
        """The folder of the numbered prompts."""
        return self.folder / self.config.output.output_dir


def nearest_config() -> Path:
    """Find the nearest ``manual_slop.toml``.

    Searches the current folder and its parents up to the root of the repository. Ignores folders outside a repository
    and those of other users: on a shared machine anybody may put a repository and a configuration into ``/tmp``.
    Without a configuration file, returns the path for a new one in the current folder.
    """
    config = Path(CONFIG_NAME)
    current = Path.cwd()
    parents = [] if config.exists() else [*current.parents]
    root = next((folder for folder in (current, *parents) if _is_own(folder / ".git")), current)
    for depth, parent in enumerate(parents, start=1):
        if not parent.is_relative_to(root) or not _is_own(parent):
            break
        if _is_own(parent / config):
            return Path(*[os.pardir] * depth, config)
    return config


def _is_own(path: Path) -> bool:
    try:
        owner = path.lstat().st_uid
        return not hasattr(os, "geteuid") or owner == os.geteuid()
    except OSError:
        return False


def load_config(path: Path) -> Project:
    """Read and validate the configuration at ``path``.

    Raises:
        ConfigError: The file is missing, is not TOML, or has an unknown key or a value of the wrong type.
    """
    text = read_toml_text(path)
    entry = _entry_path(text)
    config = _cached_config(entry) if entry else None
    if config is None:
        config = validate(parse_toml(text, path), path=path, text=text)
        if entry and not redact(text, AS_THEY_ARE).findings:  # secrets are never cached
            _cache_config(entry, config)
    return Project(config, Path(path).parent, Path(path))


def _cached_config(path: Path) -> Config | None:
    try:
        check, data = read_text(path, limit=_CACHED_BYTES, is_own=True).split("\n", 1)
    except (OSError, ValueError):
        return None
    config: Config | None = None
    if check == _check(path, data):
        config = json.loads(data, object_hook=_from_json)
    return config


def _cache_config(path: Path, config: Config) -> None:
    try:
        data = json.dumps(config, default=_to_json)
    except TypeError:  # a date in an unknown key of a slice
        return
    with suppress(AggregateError, OSError):
        replace_own(path, f"{_check(path, data)}\n{data}")
        entries = sorted(path.parent.glob("*.json"), key=lambda entry: entry.stat().st_mtime_ns)
        for entry in entries[:-_CACHED_ENTRIES]:
            entry.unlink()


def _to_json(table: Any) -> dict[str, object]:  # noqa: ANN401 - a table, or a value of a slice
    """Return the non-default values of a table, for JSON."""
    defaults = {field.name: field.default for field in fields(type(table))}
    values = {
        name: value for name, value in vars(table).items() if value != defaults.get(name, MISSING)
    }
    return {_KIND: type(table).__name__, **values}


def _from_json(data: dict[str, Any]) -> object:
    if _KIND not in data:
        return data
    table: object = object.__new__(getattr(tables, data.pop(_KIND)))
    vars(table).update(data)  # may include unknown keys
    return table


def forget_configs() -> None:
    """Delete the cache of validated configurations."""
    import shutil  # takes 3 ms

    if folder := _folder():
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path | None:
    try:
        folder = cache_folder() if byte_limit() else None
    except AggregateError:  # reported when the index is opened
        return None
    return folder and folder / "configurations"


def _entry_path(text: str) -> Path | None:
    folder, version = _folder(), code_version(_CODE, installed=_LIBRARIES)
    if folder is None or not version:
        return None
    # TOML forbids unpaired surrogates, but the text is not parsed yet.
    digest = sha256(f"{version}\0{text}".encode(errors="surrogatepass")).hexdigest()
    return folder / f"{digest}.json"


def _check(path: Path, data: str) -> str:
    return sha256(f"{path.name}\0{data}".encode()).hexdigest()


def unconfigured(path: Path) -> Project:
    """Return the project of a folder without configuration; ``path`` is where one would be (rule T-6)."""
    return Project(Config(), Path(path).parent, Path(path), is_bare=True)


def read_toml_text(path: Path, *, limit: int = MOST_BYTES) -> str:
    try:
        return read_text(path, limit=limit)
    except FileNotFoundError:
        create = ': create it with "aggregate init" or choose another one with --config'
        near = path_meant(path.name, sorted(file.name for file in path.parent.glob("*.toml")))
        hint = create if path.name == CONFIG_NAME else near or ": correct its name"
        raise ConfigError(f"there is no {path.name} here{hint}", path=str(path)) from None
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start}): save it as UTF-8"
        raise ConfigError(reason, path=str(path)) from None
    except (OSError, ValueError) as error:  # also a null character in the path
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise ConfigError(reason, path=str(path)) from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    from aggregate.project.toml_text import parse_untrusted_toml  # 5 ms, not needed if cached

    try:
        return parse_untrusted_toml(text)
    except ValueError as error:
        raise ConfigError(f"is not valid TOML: {error}", path=str(path)) from None


def validate(data: Mapping[str, Any], *, path: Path | None = None, text: str = "") -> Config:
    plain: Config | None = plain_table(Config, data)
    return plain or validate_table(Config, data, path=path, text=text)


def validate_table(
    kind: type[Checked], data: Mapping[str, Any], *, path: Path | None = None, text: str = ""
) -> Checked:
    """Validate data as the table or the pydantic model ``kind``."""
    from pydantic import ValidationError

    hashable_kind: Any = kind  # for mypy
    try:
        checked: Checked = _validator(hashable_kind).validate_python(dict(data))
    except ValidationError as error:
        from aggregate.project.toml_text import key_lines, nearest_line  # only for a mistake

        problems = error.errors(include_url=False, include_context=False)
        lines = key_lines(text) if 0 < len(text) <= _LOCATED else {}
        with_lines = [(nearest_line(lines, _keys(problem["loc"])), problem) for problem in problems]
        line, problem = min(with_lines, key=lambda pair: pair[0] or 0)
        keys = _keys(problem["loc"])
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        message = _explain(kind, keys, problem) + more
        file = str(path) if path else None
        raise ConfigError(message, path=file, key=_dotted(keys), line=line) from None
    return checked


@cache
def _validator(kind: Any) -> "TypeAdapter[Any]":  # noqa: ANN401 - any type
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _keys(location: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return the keys that lead to an invalid value, from the location in a pydantic error."""
    return tuple(
        key
        for i, key in enumerate(location)
        if not (key in UNION_TAGS and i > 1 and location[i - 2] == "history")
        or not isinstance(location[i - 1], int)
    )


def _explain(kind: type, keys: tuple[str | int, ...], error: Mapping[str, Any]) -> str:
    name = _brief(_dotted(keys))
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):  # of a table, a model
        from difflib import get_close_matches  # needed only for a mistake

        table = _table(kind)
        for key in keys[:-1]:
            if key in table:  # otherwise a list's position or a user's name
                table = _table(table[str(key)])
        names = sorted(table)
        near = get_close_matches(_brief(str(keys[-1])), names, n=1)
        if near:
            return f'unknown key "{name}": did you mean "{near[0]}"?'
        location = f"[{_brief(_dotted(keys[:-1]))}]" if keys[:-1] else "the file"
        return f'unknown key "{name}": the keys of {location}: {", ".join(names)}'
    if error["type"] == "missing":
        return f'"{name}" is missing: add it'
    message = error["msg"].removeprefix("Value error, ")  # from our own validators
    if error["type"] == "dataclass_type":
        message = message.replace("a dictionary or an", "a valid dictionary or")
    message = f'"{name}": {message[0].lower()}{message[1:]}'
    if isinstance(error["input"], dict | list):
        return message
    return f"{message}, not {_brief(repr(error['input']))}"


def _brief(text: str) -> str:
    return printable(text if len(text) <= _SHORT else f"{text[:_SHORT]}...")


def _table(annotation: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any type
    """Return the keys of a table with their types, from the type annotation of the table."""
    if isinstance(annotation, type):
        return getattr(annotation, "__annotations__", {})
    return next((table for inner in get_args(annotation) if (table := _table(inner))), {})


def _dotted(keys: Sequence[str | int]) -> str:
    name = ""
    for key in keys:
        name += f"[{key}]" if isinstance(key, int) else f".{key}"
    return name.removeprefix(".")


def global_config_path() -> Path:
    try:
        home = Path.home()
    except RuntimeError:
        home = NO_HOME
    if sys.platform == "win32":
        root = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        root = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return root / "manual_slop" / CONFIG_NAME


def user_config() -> Config:
    path = global_config_path()
    return load_config(path).config if path.is_file() else Config()


def is_trusted(root: str) -> bool:
    projects = user_config().trust.projects
    return any(real_path(os.path.expanduser(project)) == root for project in projects)  # noqa: PTH111
