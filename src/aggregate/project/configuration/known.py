"""Configurations that were validated before, kept in the user's cache by their bytes: a known one loads no pydantic.

Whatever is wrong with what is kept costs the time of validating once more, never a wrong result and never an error.
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

# All that decides what a configuration is read as.
_CODE: Final = (
    "base.request",
    "project.configuration.known",
    "project.paths.globs",
    "project.table",
    "project.tables",
    "project.toml_text",
)
_LIBRARIES: Final = ("pydantic", "pydantic_core")

# The key of a table's class: half of a surrogate pair, which no key of a TOML file holds.
_KIND: Final = "\ud800"

_MOST_KEPT: Final = 50  # so many projects are worked on in turn; each takes some kilobytes
_MOST_BYTES: Final = 4_000_000  # of one, which is about the largest that is read, as JSON


def known_config(text: str) -> Config | None:
    """Return what a configuration of this text was validated to, if that is known."""
    path = _place(text)
    if path is None:
        return None
    try:
        check, data = read_text(path, limit=_MOST_BYTES, is_own=True).split("\n", 1)
    except (OSError, ValueError):
        return None
    if check != _check(path, data):
        return None
    config: Config = json.loads(data, object_hook=_revived)
    return config


def keep_config(text: str, config: Config) -> None:
    path = _place(text)
    if path is None or redact(text, AS_THEY_ARE).findings:  # no cache holds a secret
        return
    try:
        data = json.dumps(config, default=_tagged)
    except TypeError:  # a date, which a slice of somebody else's may hold
        return
    with suppress(AggregateError, OSError):
        replace_own(path, f"{_check(path, data)}\n{data}")
        kept = sorted(path.parent.glob("*.json"), key=lambda one: one.stat().st_mtime_ns)
        for one in kept[:-_MOST_KEPT]:
            one.unlink()


def _tagged(table: Any) -> dict[str, object]:  # noqa: ANN401 - a table, or what a slice holds
    """Return what a table has beside its class's defaults, which are most of a long list of files."""
    defaults = {one.name: one.default for one in fields(type(table))}
    own = {
        name: value for name, value in vars(table).items() if value != defaults.get(name, MISSING)
    }
    return {_KIND: type(table).__name__, **own}


def _revived(data: dict[str, Any]) -> object:
    if _KIND not in data:
        return data
    table: object = object.__new__(getattr(tables, data.pop(_KIND)))
    vars(table).update(data)  # which may hold keys that its class does not know
    return table


def forget_configs() -> None:
    """Delete all that is kept."""
    import shutil  # 3 ms, which no run needs

    if folder := _folder():
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path | None:
    try:
        folder = cache_folder() if byte_limit() else None
    except AggregateError:  # what cannot be: whoever opens the index tells of it
        return None
    return folder and folder / "configurations"


def _place(text: str) -> Path | None:
    folder, version = _folder(), code_version(_CODE, installed=_LIBRARIES)
    if folder is None or not version:
        return None
    # Half of a surrogate pair, which TOML does not take, has no bytes.
    digest = sha256(f"{version}\0{text}".encode(errors="surrogatepass")).hexdigest()
    return folder / f"{digest}.json"


def _check(path: Path, data: str) -> str:
    return sha256(f"{path.name}\0{data}".encode()).hexdigest()
