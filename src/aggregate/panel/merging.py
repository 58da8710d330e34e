"""A draft saved over a file that somebody else may have changed meanwhile: merged key by key, or refused."""

from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

from aggregate.base.errors import AggregateError
from aggregate.project.configuration import parse_toml, validate

Key = tuple[str, ...]


class ConflictError(AggregateError):
    """The same key was changed in the draft and on the disk."""


class Merged(NamedTuple):
    """A draft with what was changed on the disk.

    Attributes:
        keys: What the disk had changed, dotted.
    """

    text: str
    keys: tuple[str, ...] = ()


def merge(base: str, mine: str, theirs: str, *, path: Path) -> Merged:
    """Return ``theirs`` with what ``mine`` has changed of ``base``; comments and order are theirs."""
    if theirs == base:
        return Merged(mine)
    if theirs == mine:
        return Merged(theirs)
    values = [parse_toml(text, path) for text in (base, mine, theirs)]
    before, wanted, now = (dict(_leaves(tables)) for tables in values)
    changed_here = _changes(before, wanted)
    changed_there = _changes(before, now)
    both = [key for key in changed_here if _clash(key, changed_there, wanted, now)]
    if both:
        raise ConflictError(
            f"{path.name}: {_dotted(both[0])} was changed here and on the disk: undo it here, or reload the file, "
            "which drops the changes of this page"
        )
    document, source = tomlkit.parse(theirs), tomlkit.parse(mine)
    for key in changed_here:
        _copy(source, document, key)
    text = tomlkit.dumps(document)
    validate(parse_toml(text, path), path=path, text=text)
    return Merged(text, tuple(map(_dotted, changed_there)))


def changed_keys(base: str, text: str, *, path: Path) -> tuple[str, ...]:
    """Return the keys, dotted, whose values differ between two configurations."""
    before, now = (dict(_leaves(parse_toml(each, path))) for each in (base, text))
    return tuple(map(_dotted, _changes(before, now)))


def _leaves(table: Mapping[str, Any], above: Key = ()) -> list[tuple[Key, object]]:
    leaves: list[tuple[Key, object]] = []
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            leaves += _leaves(value, (*above, key))
        else:
            leaves.append(((*above, key), value))
    return leaves


def _changes(before: Mapping[Key, object], now: Mapping[Key, object]) -> list[Key]:
    missing = object()
    changed = [key for key, value in now.items() if before.get(key, missing) != value]
    return [*changed, *(key for key in before if key not in now)]


def _clash(
    key: Key, others: Sequence[Key], wanted: Mapping[Key, object], now: Mapping[Key, object]
) -> bool:
    """Tell whether somebody else has changed a key, what stands above it, or what stands below it."""
    missing = object()
    if key in others:
        return wanted.get(key, missing) != now.get(key, missing)
    return any(other[: len(key)] == key or key[: len(other)] == other for other in others)


def _copy(source: Mapping[str, Any], target: MutableMapping[str, Any], key: Key) -> None:
    *tables, name = key
    reached: Any = source
    for table in tables:
        reached = reached.get(table, {})
        if table not in target and name in _below(source, tables):
            target[table] = tomlkit.table()
        target = target.get(table, {})
    if name in reached:
        target[name] = reached[name]
    else:
        target.pop(name, None)


def _below(source: Mapping[str, Any], tables: Sequence[str]) -> Mapping[str, Any]:
    for table in tables:
        source = source.get(table, {})
    return source


def _dotted(key: Key) -> str:
    return ".".join(key)
