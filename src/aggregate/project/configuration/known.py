"""Cache of validated configurations by their content.

Without it pydantic would have to be loaded, which takes long. A damaged cache entry costs another validation, but never
causes a wrong result or an error.
"""

import json
from contextlib import suppress
from dataclasses import MISSING, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import cache_folder, replace_own
from aggregate.base.errors import AggregateError
from aggregate.base.redaction import AS_THEY_ARE, redact
from aggregate.project import tables
from aggregate.project.index.rows import code_version
from aggregate.project.index.store import byte_limit
from aggregate.project.tables import Config

# Code and libraries determining the result of a validation.
_CODE: Final = (
    "base.task",
    "project.configuration.known",
    "project.paths.globs",
    "project.table",
    "project.tables",
    "project.toml_text",
)
_LIBRARIES: Final = ("pydantic", "pydantic_core")
# Key of a table's class: an unpaired surrogate, impossible in a TOML file.
_KIND: Final = "\ud800"
_MOST_ENTRIES: Final = 50  # projects; each takes some kilobytes
_MOST_BYTES: Final = 4_000_000  # about the largest allowed configuration as JSON


def known_config(text: str) -> Config | None:
    """Return the validated configuration for a text from the cache, ``None`` if it is new."""
    path = _entry_path(text)
    if path is None:
        return None
    try:
        check, data = read_text(path, limit=_MOST_BYTES, is_own=True).split("\n", 1)
    except (OSError, ValueError):
        return None
    if check != _check(path, data):
        return None
    config: Config = json.loads(data, object_hook=_from_json)
    return config


def keep_config(text: str, config: Config) -> None:
    path = _entry_path(text)
    if path is None or redact(text, AS_THEY_ARE).findings:  # secrets are never cached
        return
    try:
        data = json.dumps(config, default=_to_json)
    except TypeError:  # a date in an unknown key of a slice
        return
    with suppress(AggregateError, OSError):
        replace_own(path, f"{_check(path, data)}\n{data}")
        entries = sorted(path.parent.glob("*.json"), key=lambda entry: entry.stat().st_mtime_ns)
        for entry in entries[:-_MOST_ENTRIES]:
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
