"""From a file or a mapping to a validated configuration, the user's own among them."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from aggregate.base.disk.reading import read_text, real_path
from aggregate.base.disk.writing import home_folder
from aggregate.base.errors import ConfigError
from aggregate.base.messages import path_meant
from aggregate.base.text import printable
from aggregate.project.configuration.discover import CONFIG_NAME
from aggregate.project.configuration.known import keep_config, known_config
from aggregate.project.tables import UNION_TAGS, Config

# The most bytes of a configuration: one with ten thousand entries has about 500,000.
MOST_BYTES = 750_000

# Characters up to which lines are looked up, which takes longer than reading; beyond, the key alone says where.
_LOCATED = 500_000

_SHORT = 120  # Characters of a value or a name in a message, so that it stays on a line or two

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class Project:
    """A configuration and where it came from.

    Attributes:
        config: The validated tables.
        folder: Where relative folders begin: the file's own folder, or the working directory for a mapping.
        path: The file, ``None`` for a mapping.
        allow_outside: Whether files outside the project may be read; ``None``: as a mapping asks, not as a file does.
        allow_secrets: The same of files that look like secrets.
        is_bare: Whether it is a folder without a configuration: all files in it that git would take (rule T-6).
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


def load_config(path: Path) -> Project:
    """Read and validate the configuration at ``path``.

    Raises:
        ConfigError: The file is missing, is no TOML, or holds an unknown key or a value of the wrong type.
    """
    text = read_toml_text(path)
    config = known_config(text)
    if config is None:
        config = validate(parse_toml(text, path), path=path, text=text)
        keep_config(text, config)
    return Project(config, Path(path).parent, Path(path))


def unconfigured(path: Path) -> Project:
    """Return the project of a folder without a configuration, as if an empty one stood at ``path`` (rule T-6)."""
    return Project(Config(), Path(path).parent, Path(path), is_bare=True)


def read_toml_text(path: Path, *, limit: int = MOST_BYTES) -> str:
    try:
        return read_text(path, limit=limit)
    except FileNotFoundError:
        usual = 'write it with "aggregate init" or name another one with --config'
        near = path_meant(path.name, sorted(one.name for one in path.parent.glob("*.toml")))
        hint = f": {usual}" if path.name == CONFIG_NAME else near or ": correct its name"
        raise ConfigError(f"there is no {path.name} here{hint}", path=str(path)) from None
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start}): save it as UTF-8"
        raise ConfigError(reason, path=str(path)) from None
    except (OSError, ValueError) as error:  # also a null character in the path
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise ConfigError(reason, path=str(path)) from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    # With Python's parser 5 ms, which a known configuration does without.
    from aggregate.project.toml_text import parse_untrusted_toml

    try:
        return parse_untrusted_toml(text)
    except ValueError as error:
        raise ConfigError(f"is no valid TOML: {error}", path=str(path)) from None


def validate(data: Mapping[str, Any], *, path: Path | None = None, text: str = "") -> Config:
    return validate_table(Config, data, path=path, text=text)


def validate_table(
    kind: type[Checked], data: Mapping[str, Any], *, path: Path | None = None, text: str = ""
) -> Checked:
    """Return data as a table, or as a model of pydantic's."""
    from pydantic import ValidationError

    of_any: Any = kind  # mypy takes no class for what has a hash
    try:
        checked: Checked = _validator(of_any).validate_python(dict(data))
    except ValidationError as error:
        # A parser, needed only to explain a mistake.
        from aggregate.project.toml_text import key_lines, nearest_line

        problems = error.errors(include_url=False, include_context=False)
        lines = key_lines(text) if 0 < len(text) <= _LOCATED else {}
        with_lines = [(nearest_line(lines, _keys(problem["loc"])), problem) for problem in problems]
        line, problem = min(with_lines, key=lambda pair: pair[0] or 0)
        keys = _keys(problem["loc"])
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        message, where = _explain(kind, keys, problem) + more, str(path) if path else None
        raise ConfigError(message, path=where, key=_dotted(keys), line=line) from None
    return checked


@cache
def _validator(kind: Any) -> "TypeAdapter[Any]":  # noqa: ANN401 - any type
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _keys(location: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return the keys of an error's location, which has a tag behind the number of a turn."""
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
            # Else a list's position or a name the user chose.
            if key in table:
                table = _table(table[str(key)])
        known = sorted(table)
        near = get_close_matches(_brief(str(keys[-1])), known, n=1)
        where = f"[{_brief(_dotted(keys[:-1]))}]" if keys[:-1] else "the file"
        hint = (
            f'did you mean "{near[0]}"?' if near else f"known keys of {where}: {', '.join(known)}"
        )
        return f'unknown key "{name}": {hint}'
    if error["type"] == "missing":
        return f'"{name}" is missing: add it'
    message = error["msg"].removeprefix("Value error, ")  # what a validator of ours raised
    if error["type"] == "dataclass_type":
        message = message.replace("a dictionary or an", "a valid dictionary or")  # as of a model
    wrong = (
        "" if isinstance(error["input"], dict | list) else f", not {_brief(repr(error['input']))}"
    )
    return f'"{name}": {message[0].lower()}{message[1:]}{wrong}'


def _brief(text: str) -> str:
    return printable(text if len(text) <= _SHORT else f"{text[:_SHORT]}...")


def _table(annotation: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any type
    """Return the keys of the table that an annotation names, if it does, and what each holds."""
    if isinstance(annotation, type):
        return getattr(annotation, "__annotations__", {})
    return next((table for inner in get_args(annotation) if (table := _table(inner))), {})


def _dotted(keys: Sequence[str | int]) -> str:
    name = ""
    for key in keys:
        name += f"[{key}]" if isinstance(key, int) else f".{key}" if name else key
    return name


def global_config_path() -> Path:
    if sys.platform == "win32":
        root = Path(os.environ.get("APPDATA") or home_folder() / "AppData" / "Roaming")
    else:
        root = Path(os.environ.get("XDG_CONFIG_HOME") or home_folder() / ".config")
    return root / "manual_slop" / CONFIG_NAME


def user_config() -> Config:
    path = global_config_path()
    return load_config(path).config if path.is_file() else Config()


def trusted_projects() -> tuple[str, ...]:
    return tuple(user_config().trust.projects)


def is_trusted(root: str) -> bool:
    return any(real_path(os.path.expanduser(project)) == root for project in trusted_projects())  # noqa: PTH111
