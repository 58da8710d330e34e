"""Keep large values on disk and a reference to them in the context (rules D-40 to D-49)."""

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from aggregate.base.disk import read_bytes, replace_own
from aggregate.base.errors import DataReferenceError, OutputError
from aggregate.base.text import first_of
from aggregate.base.values import (
    CACHE_DIR,
    REFERENCE_FORMAT,
    THRESHOLD,
    AggregatedResult,
    Answer,
    DataReference,
    JsonCopy,
    Value,
    extent,
    is_reference,
    jsonable,
    message_text,
)
from aggregate.prompt.sections.subagent_results import Results, flatten_results
from aggregate.prompt.value_summary import summarise

KEY_CHARACTERS: Final = 100
MOST_BYTES: Final = 2_000_000_000
"""Of a file that is loaded."""
NOTES_SHOWN: Final = 20
"""Errors and warnings that are shown of lists that are too long, and the characters of each one."""
NOTE_CHARACTERS: Final = 200
_REF_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_OURS: Final = re.compile(
    r"[A-Za-z0-9_.-]+_[0-9a-f]{12}\.json(?:\.[A-Za-z0-9_]+\.tmp)?|\.[A-Za-z0-9_.-]{1,100}-[0-9a-f]{16}\.tmp"
)
SECONDS_A_DAY: Final = 86_400


def compact_data(
    data: Value, context_key: str, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> Value:
    """Return ``data`` itself where it is small, else write it to ``cache_dir`` and return a reference.

    Its size is that of its JSON in ASCII; what JSON does not know is written as ``jsonable`` shows it. Tuples come back
    as lists, dates and keys as texts (rule D-48).

    Args:
        data: The value.
        context_key: Begins the reference's id; characters other than letters, digits, ``_``, ``.``, ``-`` become ``_``.
        cache_dir: Where the files are.
        threshold: Bytes from which it counts as large.

    Returns:
        ``data``, or a ``DataReference``: ``{_ref_id, _data_file, _size_kb, _format, summary, _usage_hint}``.

    Raises:
        OutputError: JSON cannot hold the value (it contains itself, or is nested too deeply), or the file cannot be
            written.
    """
    return _stored_if_large(
        data, _stored_json(data, context_key), context_key, cache_dir, threshold
    )


def _stored_if_large(
    data: Value, text: str, context_key: str, cache_dir: str | Path, threshold: int
) -> Value:
    """Return ``data``, whose JSON is ``text``, or the reference to it."""
    if len(text) < threshold or is_reference(data):
        return data
    safe_key = re.sub(r"[^A-Za-z0-9_.-]", "_", context_key)[:KEY_CHARACTERS] or "data"
    ref_id = f"{safe_key}_{_digest(text.encode('ascii'))}"
    _write(_file(ref_id, cache_dir), text)
    return _reference(ref_id, cache_dir, len(text), data)


def _reference(ref_id: str, cache_dir: str | Path, size: int, data: Value) -> DataReference:
    return DataReference(
        _ref_id=ref_id,
        _data_file=_file(ref_id, cache_dir).as_posix(),
        _size_kb=round(size / 1024, 1),
        _format=REFERENCE_FORMAT,
        summary=summarise(data),
        _usage_hint=f'Use executeDataAnalysis with: load_data_reference("{ref_id}")',
    )


def recognise_reference(value: Value, *, cache_dir: str | Path = CACHE_DIR) -> DataReference | None:
    """Return the reference that ``value`` was before it became JSON, ``None`` where it never was one of ours.

    Of its fields only the id is used, and only if a file of that name holds what the id was made from: path, size,
    summary and hint are made anew.
    """
    if is_reference(value):
        return value
    if type(value) is not dict or value.get("_format") != REFERENCE_FORMAT:
        return None
    ref_id = value.get("_ref_id")
    if not isinstance(ref_id, str):
        return None
    try:
        stored = _read(ref_id, cache_dir)
        if not ref_id.endswith(_digest(stored)):
            return None
        return _reference(ref_id, cache_dir, len(stored), json.loads(stored))
    except (DataReferenceError, ValueError, RecursionError):
        return None


def _digest(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()[:12]


def _stored_json(data: Value, context_key: str) -> str:
    """Return the JSON that is stored; at once where it can be, item by item where a value is odd."""
    if type(data) is str:
        return json.dumps(data)
    copying = JsonCopy(stored=True)
    try:
        text = "" if extent(data).too_often else json.dumps(data, default=copying.of)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - keys that JSON does not know, or whatever the value's own methods raise
        text = ""
    if text and not copying.cut:
        return text
    copying = JsonCopy(stored=True)
    copy = copying.of(data)
    if copying.cut:
        raise OutputError(f"{context_key}: the value cannot be stored as JSON: {copying.cut}")
    return json.dumps(copy)


def _file(ref_id: str, cache_dir: str | Path) -> Path:
    return Path(cache_dir, f"{ref_id}.json")


def _write(path: Path, text: str) -> None:
    _refuse_link(path.parent)
    try:
        replace_own(path, text, durable=True)
    except OutputError as error:
        raise OutputError(f"the value cannot be written: {error}") from error


def _refuse_link(folder: Path) -> None:
    """Make sure that no link leads a cache's folder out of where it belongs.

    Raises:
        OutputError: The folder is a link, or ``state`` is that it lies in by default.
    """
    folders = [folder]
    if folder.parts[-2:] == PurePath(CACHE_DIR).parts:
        folders.append(folder.parent)
    for each in folders:
        if each.is_symlink():
            raise OutputError(f"{each}: values are not kept through a link: remove it")


def load_data_reference(ref_id: str, *, cache_dir: str | Path = CACHE_DIR) -> Value:
    """Return the whole value behind a reference.

    Raises:
        DataReferenceError: There is no such reference, its id is not one, or its file is damaged.
    """
    stored = _read(ref_id, cache_dir)
    try:
        return json.loads(stored)
    except (ValueError, RecursionError):
        raise DataReferenceError(
            f"Data reference {ref_id} is damaged: compact the value again"
        ) from None


def _read(ref_id: str, cache_dir: str | Path) -> bytes:
    """Return what a reference's file holds; a link is none of ours, and no id leads out of the folder (rule D-47)."""
    if _REF_ID.fullmatch(str(ref_id)):
        path = _file(ref_id, cache_dir)
        with suppress(OSError, OutputError):
            _refuse_link(path.parent)
            if not path.is_symlink():
                return read_bytes(path, limit=MOST_BYTES)
    raise DataReferenceError(f"Data reference not found: {ref_id}")


def prune_data_cache(
    cache_dir: str | Path = CACHE_DIR, *, keep_days: float, now: float | None = None
) -> tuple[Path, ...]:
    """Delete the cached values, and the remains of interrupted writes, that are older than ``keep_days``.

    Other files in the folder are left alone. Returns the deleted paths, sorted.

    Args:
        cache_dir: Where the files are; a folder that does not exist holds none.
        keep_days: Age in days, by the time of the last write.
        now: Unix time that counts as now; by default the clock's.

    Raises:
        OutputError: The folder is a link.
    """
    folder = Path(cache_dir)
    _refuse_link(folder)
    oldest = (time.time() if now is None else now) - keep_days * SECONDS_A_DAY
    cached = (
        [path for path in folder.iterdir() if _OURS.fullmatch(path.name)] if folder.is_dir() else []
    )
    stale = sorted(path for path in cached if _is_older(path.lstat(), oldest))
    for path in stale:
        path.unlink(missing_ok=True)
    return tuple(stale)


def _is_older(info: os.stat_result, oldest: float) -> bool:
    return stat.S_ISREG(info.st_mode) and info.st_mtime < oldest


def compact_all(
    results: Results | Sequence[Results],
    *,
    cache_dir: str | Path = CACHE_DIR,
    threshold: int = THRESHOLD,
) -> tuple[Results, ...]:
    """Return single results, each compacted as its kind is: a result, an answer, or a compiled report."""
    compacted: list[Results] = []
    for single in flatten_results(results):
        if isinstance(single, AggregatedResult):
            compacted.append(compact_result(single, cache_dir=cache_dir, threshold=threshold))
        elif isinstance(single, Answer):
            compacted.append(compact_answer(single, cache_dir=cache_dir, threshold=threshold))
        else:
            compacted.append(compact_sections(single, cache_dir=cache_dir, threshold=threshold))
    return tuple(compacted)


def compact_result(
    result: AggregatedResult, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> AggregatedResult:
    """Return ``result`` with its value compacted as ``compact_data`` does, and long lists of errors and warnings too.

    What is small stays as it is; of a value that JSON cannot hold its ``jsonable`` copy is compacted.
    """
    name = result.variable_name.lstrip("$")
    value = _compacted(result.value, name, cache_dir, threshold)
    if value is not result.value:
        result = replace(result, value=value, labels=())
    notes = _notes(
        name, {"errors": result.errors, "warnings": result.warnings}, cache_dir, threshold
    )
    if notes is None:
        return result
    errors = first_of(result.errors, NOTES_SHOWN, NOTE_CHARACTERS)
    warnings = first_of(result.warnings, NOTES_SHOWN, NOTE_CHARACTERS)
    return replace(result, errors=errors, warnings=warnings, notes=notes)


def compact_answer(
    answer: Answer, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> Answer:
    """Return ``answer`` with its text and its warnings compacted as ``compact_result`` does a result's."""
    text = _compacted(answer.summary, "answer", cache_dir, threshold)
    if is_reference(text):
        answer = replace(answer, summary=str(text["summary"]), whole=text)
    notes = _notes("answer", {"warnings": answer.warnings}, cache_dir, threshold)
    if notes is None:
        return answer
    return replace(
        answer, warnings=first_of(answer.warnings, NOTES_SHOWN, NOTE_CHARACTERS), notes=notes
    )


def compact_sections(
    compiled: Mapping[str, Any], *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> dict[str, Any]:
    """Return a compiled report whose large entries are references, section by section; nothing given is changed."""
    compacted: dict[str, Any] = {}
    for section, content in compiled.items():
        name = message_text(section)
        if type(content) is not dict:
            compacted[section] = _compacted(content, name, cache_dir, threshold)
            continue
        compacted[section] = {
            key: _compacted(value, f"{name}_{message_text(key)}", cache_dir, threshold)
            for key, value in content.items()
        }
    return compacted


def _compacted(value: Value, key: str, cache_dir: str | Path, threshold: int) -> Value:
    """Compact ``value``; where JSON cannot hold it, the copy that can be shown."""
    try:
        text = _stored_json(value, key)
    except OutputError:
        value = jsonable(value)
        text = _stored_json(value, key)
    return _stored_if_large(value, text, key, cache_dir, threshold)


def _notes(
    name: str, lists: Mapping[str, Sequence[str]], cache_dir: str | Path, threshold: int
) -> DataReference | None:
    """Store the lists that are not empty, if they are large together, and return where they are."""
    notes = {
        title: list(map(message_text, sentences)) for title, sentences in lists.items() if sentences
    }
    if not notes:
        return None
    compacted = compact_data(notes, f"{name}_notes", cache_dir=cache_dir, threshold=threshold)
    return compacted if is_reference(compacted) else None
