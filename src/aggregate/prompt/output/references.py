"""Large values in files, with short references to them in prompts (rules D-40 to D-49)."""

import hashlib
import json
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from aggregate.base.disk.reading import read_bytes
from aggregate.base.disk.writing import replace_own
from aggregate.base.errors import DataReferenceError, OutputError
from aggregate.base.json_forms import JsonCopy, json_text, jsonable, message_text, type_name
from aggregate.base.messages import shorten
from aggregate.base.values import (
    CACHE_DIR,
    THRESHOLD,
    DataReference,
    Value,
    escape_surrogates,
    is_reference,
)
from aggregate.prompt.asking.results import AggregatedResult, Answer, Results, flatten_results

REFERENCE_FORMAT: Final = "disk_reference"  # the ``_format`` of a reference (rule D-42)
MOST_BYTES: Final = 2_000_000_000  # of a loaded file
_KEY_CHARACTERS: Final = 100
_REF_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_OURS: Final = re.compile(
    r"[A-Za-z0-9_.-]+_[0-9a-f]{12}\.json(?:\.[A-Za-z0-9_]+\.tmp)?|\.[A-Za-z0-9_.-]{1,100}-[0-9a-f]{16}\.tmp"
)

_SECONDS_A_DAY: Final = 86_400
# Limits of a summary.
_FIELDS, _SAMPLES, _SAMPLE_CHARACTERS, _NAME_CHARACTERS = 5, 3, 500, 80
_ALIKE: Final = 3  # entries from which an object of objects counts as a list


def compact_data(
    data: Value, context_key: str, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> Value:
    """Return small ``data``, or a reference to stored large data.

    The size is that of the value's JSON in ASCII. Values that JSON lacks are stored in the form of ``jsonable``: tuples
    as lists, dates and keys as texts (rule D-48).

    Args:
        data: The value.
        context_key: Beginning of the reference's id; characters other than letters, digits, ``_``, ``.``, ``-`` become
            ``_``.
        cache_dir: Folder of the files.
        threshold: Minimum bytes of a large value.

    Returns:
        ``data``, or a ``DataReference``: ``{_ref_id, _data_file, _size_kb, _format, summary, _usage_hint}``.

    Raises:
        OutputError: The value contains itself, is nested too deeply, or the file cannot be written.
    """
    copying = JsonCopy(stored=True)
    copy = copying.of(data)
    if copying.cut:
        raise OutputError(f"{context_key}: the value cannot be stored as JSON: {copying.cut}")
    text = json.dumps(copy)
    if len(text) < threshold or is_reference(data):
        return data
    key = re.sub(r"[^A-Za-z0-9_.-]", "_", context_key)[:_KEY_CHARACTERS] or "data"
    ref_id, folder = f"{key}_{_digest(text.encode('ascii'))}", Path(cache_dir)
    _refuse_link(folder)
    try:
        replace_own(folder / f"{ref_id}.json", text, durable=True)
    except OutputError as error:
        raise OutputError(f"the value cannot be written: {error}") from error
    return _reference(ref_id, folder, len(text), data)


def load_data_reference(ref_id: str, *, cache_dir: str | Path = CACHE_DIR) -> Value:
    """Return the stored value of a reference.

    Raises:
        DataReferenceError: The id is invalid or unknown, or the file is damaged.
    """
    stored = _read(str(ref_id), Path(cache_dir))
    try:
        return json.loads(stored)
    except (ValueError, RecursionError):
        raise DataReferenceError(
            f"Data reference {ref_id} is damaged: compact the value again"
        ) from None


def resolve_reference(value: Value, *, cache_dir: str | Path = CACHE_DIR) -> Value:
    """Return the stored value of a reference; return other values unchanged.

    Of a mapping from JSON only the id is used, and only if the stored value matches it.
    """
    is_mapping = type(value) is dict and value.get("_format") == REFERENCE_FORMAT
    if not (is_mapping or is_reference(value)):
        return value
    ref_id = str(value.get("_ref_id"))
    try:
        stored = _read(ref_id, Path(cache_dir))
        is_ours = is_reference(value) or ref_id.endswith(_digest(stored))
        return json.loads(stored) if is_ours else value
    except (DataReferenceError, ValueError, RecursionError):
        return value


def prune_data_cache(
    cache_dir: str | Path = CACHE_DIR, *, keep_days: float, now: float | None = None
) -> tuple[Path, ...]:
    """Delete values and temporary files older than ``keep_days``.

    Return the sorted paths of the deleted files. Other files in the folder stay.

    Args:
        cache_dir: Folder of the files; it may be missing.
        keep_days: Age in days since the last write.
        now: Unix time; by default the current time.

    Raises:
        OutputError: The folder is a link.
    """
    folder = Path(cache_dir)
    _refuse_link(folder)
    oldest = (time.time() if now is None else now) - keep_days * _SECONDS_A_DAY
    infos = (
        (path, path.lstat())
        for path in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if _OURS.fullmatch(path.name)
    )
    stale = [path for path, info in infos if stat.S_ISREG(info.st_mode) and info.st_mtime < oldest]
    for path in stale:
        path.unlink(missing_ok=True)
    return tuple(stale)


def with_references(
    results: Results | Sequence[Results], cache_dir: str | Path, threshold: int | None = THRESHOLD
) -> tuple[Results, ...]:
    """Return single results, answers and reports, with references to their large values.

    Values with ``threshold`` or more bytes of JSON are written below ``cache_dir``; ``None`` writes none.
    """
    flat = flatten_results(results)
    if threshold is None:
        return tuple(flat)

    def compact(value: Value, key: str) -> Value:
        try:
            return compact_data(value, key, cache_dir=cache_dir, threshold=threshold)
        except OutputError:  # JSON cannot encode it: a printable copy replaces it
            return compact_data(jsonable(value), key, cache_dir=cache_dir, threshold=threshold)

    return tuple(_compacted(result, compact) for result in flat)


def _compacted(result: Results, compact: Callable[[Value, str], Value]) -> Results:
    if isinstance(result, AggregatedResult):
        value = compact(result.value, result.variable_name.lstrip("$"))
        return (
            result if value is result.value else replace(result, value=value, labels=(), items=())
        )
    if isinstance(result, Answer):
        text = compact(result.summary, "answer")
        return (
            replace(result, summary=str(text["summary"]), whole=text)
            if is_reference(text)
            else result
        )
    sections: dict[str, Any] = {}
    for section, content in result.items():
        name = message_text(section)
        if type(content) is dict:
            fields = content.items()
            sections[section] = {
                key: compact(item, f"{name}_{message_text(key)}") for key, item in fields
            }
        else:
            sections[section] = compact(content, name)
    return sections


def _reference(ref_id: str, folder: Path, size: int, data: Value) -> DataReference:
    return DataReference(
        _ref_id=ref_id,
        _data_file=(folder / f"{ref_id}.json").as_posix(),
        _size_kb=round(size / 1024, 1),
        _format=REFERENCE_FORMAT,
        summary=_summary(data),
        _usage_hint=f'Use executeDataAnalysis with: load_data_reference("{ref_id}")',
    )


def _read(ref_id: str, folder: Path) -> bytes:
    """Read the file of a stored value; refuse links, and ids of files elsewhere (rule D-47)."""
    if _REF_ID.fullmatch(ref_id):
        path = folder / f"{ref_id}.json"
        with suppress(OSError, OutputError):
            _refuse_link(folder)
            if not path.is_symlink():
                return read_bytes(path, limit=MOST_BYTES)
    raise DataReferenceError(f"Data reference not found: {ref_id}")


def _digest(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()[:12]


def _refuse_link(folder: Path) -> None:
    """Raise ``OutputError`` if the folder of stored values, or its parent ``state``, is a link."""
    is_default = folder.parts[-2:] == PurePath(CACHE_DIR).parts
    for path in (folder, folder.parent) if is_default else (folder,):
        if path.is_symlink():
            raise OutputError(
                f"{path}: no values are stored in a folder that is a link: remove the link"
            )


def _summary(data: Value) -> str:
    """Describe a value in a line (rule X-2).

    The line has the number, the fields and the first items of the value's longest list, such as ``63 activities with
    fields: name, distance, moving_time...`` for ``{"activities": [63 objects]}``.
    """
    if isinstance(data, str):
        return f"Text of {len(data)} characters: {escape_surrogates(data[:_SAMPLE_CHARACTERS])}"
    copy = jsonable(data)
    if isinstance(copy, list):
        originals = data if isinstance(data, list | tuple) else copy
        return _list_summary(copy, originals, "items")
    if not isinstance(copy, dict):
        return f"{type_name(data)}: {json_text(copy)[:_SAMPLE_CHARACTERS]}"
    entries = list(copy.values())
    if len(entries) >= _ALIKE and all(isinstance(entry, dict) for entry in entries):
        return f"{_list_summary(entries, entries, 'entries')}\nKeys: {_names(list(copy))}"
    lists = {key: value for key, value in copy.items() if isinstance(value, list)}
    if not lists:
        return f"Object with keys: {_names(list(copy))}"
    key = max(lists, key=lambda name: len(lists[name]))
    return _list_summary(lists[key], lists[key], shorten(key, _NAME_CHARACTERS))


def _list_summary(items: list[Value], originals: Sequence[Value], noun: str) -> str:
    if not items:
        return f"0 {noun}"
    fields = list(dict.fromkeys(key for item in items if isinstance(item, Mapping) for key in item))
    types = sorted({type_name(item) for item in originals})
    of_what = f" with fields: {_names(fields)}" if fields else f" of {_names(types)}"
    samples = items[:_SAMPLES]
    text = json_text(samples)
    if len(text) > _SAMPLE_CHARACTERS:
        text = f"{text[:_SAMPLE_CHARACTERS]}..."
    count = f"First {len(samples)} {'item' if len(samples) == 1 else 'items'}"
    return f"{len(items)} {noun}{of_what}\n{count}: {text}"


def _names(names: Sequence[Any]) -> str:
    listed = ", ".join(
        shorten(escape_surrogates(name), _NAME_CHARACTERS) for name in names[:_FIELDS]
    )
    return f"{listed}..." if len(names) > _FIELDS else listed
