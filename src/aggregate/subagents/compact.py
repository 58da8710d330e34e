"""Keep large values on disk and a reference to them in the context (rules D-40 to D-49)."""

import hashlib
import json
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from aggregate.disk.reading import read_text
from aggregate.disk.writing import confined, replace_own, unlinked
from aggregate.errors import DataReferenceError, OutputError
from aggregate.models.plain import Value
from aggregate.models.result import CACHE_DIR, REFERENCE_FORMAT, THRESHOLD, AggregatedResult
from aggregate.subagents.summary import summarise

KEY_CHARACTERS: Final = 100
MOST_BYTES: Final = 256_000_000
"""The most bytes of a stored value that are read again."""
_REF_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_OURS: Final = re.compile(
    r"[A-Za-z0-9_.-]+_[0-9a-f]{12}\.json(?:\.[A-Za-z0-9_]+\.tmp)?|\.[A-Za-z0-9_.-]{1,100}-[0-9a-f]{16}\.tmp"
)
SECONDS_A_DAY: Final = 86_400


def compact_data(
    data: Value, context_key: str, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> Value:
    """Return ``data`` itself where it is small, else write it to ``cache_dir`` and return a reference.

    Its size is that of its JSON in ASCII; what JSON does not know is written as ``str()``. Tuples come back as lists
    and keys as texts (rule D-48).

    Args:
        data: The value.
        context_key: Begins the reference's id; characters other than letters, digits, ``_``, ``.``, ``-`` become ``_``.
        cache_dir: Where the files are.
        threshold: Bytes from which it counts as large.

    Returns:
        ``data``, or ``{_ref_id, _data_file, _size_kb, _format, summary, _usage_hint}``.

    Raises:
        OutputError: JSON cannot hold the value (it contains itself), or the file cannot be written.
    """
    text = _encoded(data, context_key)
    if len(text) < threshold:
        return data
    digest = hashlib.md5(text.encode("ascii"), usedforsecurity=False).hexdigest()[:12]
    ref_id = f"{_safe(context_key)}_{digest}"
    path = Path(cache_dir) / f"{ref_id}.json"
    _write(path, text)
    return {
        "_ref_id": ref_id,
        "_data_file": path.as_posix(),
        "_size_kb": round(len(text) / 1024, 1),
        "_format": REFERENCE_FORMAT,
        "summary": summarise(data),
        "_usage_hint": f'Use executeDataAnalysis with: load_data_reference("{ref_id}")',
    }


def _encoded(data: Value, context_key: str) -> str:
    try:
        return json.dumps(data, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise OutputError(f"{context_key}: the value cannot be stored as JSON: {error}") from None


def _safe(context_key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", context_key)[:KEY_CHARACTERS] or "data"


def _write(path: Path, text: str) -> None:
    """Write a file for the user alone that is either whole or absent; no link in the project leads it elsewhere."""
    replace_own(unlinked(path.parent) / path.name, text, durable=True)


def load_data_reference(ref_id: str, *, cache_dir: str | Path = CACHE_DIR) -> Value:
    """Return the whole value behind a reference.

    Raises:
        DataReferenceError: There is no such reference, its id is not one, or its file is damaged.
    """
    if not _REF_ID.fullmatch(str(ref_id)):
        raise DataReferenceError(f"Data reference not found: {ref_id}")
    try:
        folder = unlinked(Path(cache_dir))
        text = read_text(confined(folder / f"{ref_id}.json", folder), limit=MOST_BYTES)
    except (OSError, UnicodeDecodeError, OutputError):
        raise DataReferenceError(f"Data reference not found: {ref_id}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DataReferenceError(f"Data reference {ref_id} is damaged: compact the value again") from None


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
        OutputError: A link leads the folder out of its project.
    """
    folder = unlinked(Path(cache_dir))
    oldest = (time.time() if now is None else now) - keep_days * SECONDS_A_DAY
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    named = [(path, path.lstat()) for path in found if _OURS.fullmatch(path.name)]
    stale = [path for path, info in named if stat.S_ISREG(info.st_mode) and info.st_mtime < oldest]
    for path in stale:
        path.unlink(missing_ok=True)
    return tuple(stale)


def compact_result(
    result: AggregatedResult, *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> AggregatedResult:
    """Return ``result`` with its value compacted as ``compact_data`` does; small ones stay as they are."""
    value = compact_data(result.value, result.variable_name.lstrip("$"), cache_dir=cache_dir, threshold=threshold)
    return result if value is result.value else replace(result, value=value, labels=())


def compact_sections(
    compiled: Mapping[str, Any], *, cache_dir: str | Path = CACHE_DIR, threshold: int = THRESHOLD
) -> dict[str, Any]:
    """Return a compiled report whose large entries are references, section by section; nothing given is changed."""
    return {
        section: {
            key: compact_data(value, f"{section}_{key}", cache_dir=cache_dir, threshold=threshold)
            for key, value in entries.items()
        }
        if isinstance(entries, Mapping)
        else entries
        for section, entries in compiled.items()
    }
