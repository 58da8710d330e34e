"""The Files section of a Tier 3 worker: its focus files in full, the rest by structure."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from aggregate.models.prompt import Segment
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.sections.files import FILES_TIER3, file_block, files_section, record_block, shown_path
from aggregate.syntax.languages import fence_tag, language_of
from aggregate.views.pool import render_all

FOCUS_TIER = 3
_CONTEXT_MODES = {"python": ViewMode.SKELETON, "c": ViewMode.OUTLINE, "cpp": ViewMode.OUTLINE}


def tier3_segments(records: Iterable[Mapping[str, Any]], focus_files: Sequence[str]) -> tuple[Segment, ...]:
    """Return the section ``## Files (Tier 3 - Focused)`` (rule M-53).

    Focus files, files of tier 3 and files forced to full are shown raw, whatever their view mode; files named as focus
    also where they are excluded or not aggregated (rule M-X8). Of the others, files with slices are shown by these,
    found again, Python by its skeleton, C and C++ by their outline, everything else as it was rendered.
    """
    shown = [(record, raw) for record in records if (raw := _is_raw(record, focus_files)) or _aggregated(record)]
    requests = [None if raw else _request(record) for record, raw in shown]
    views = render_all([request for request in requests if request])
    blocks: list[tuple[str, str]] = []
    for (record, raw), request in zip(shown, requests, strict=True):
        if raw:
            block = _raw_block(record)
        else:
            block = _view_block(record, request, next(views)) if request else record_block(record)
        blocks.append((shown_path(record), block))
    return files_section(FILES_TIER3, blocks)


def is_focus(record: Mapping[str, Any], focus_files: Sequence[str]) -> bool:
    """Tell whether one of ``focus_files`` names the record: by entry, path, file name, or trailing path (rule M-X7).

    Parts of names never count: ``a.py`` is not ``data.py``.
    """
    path = PurePosixPath(shown_path(record).replace("\\", "/"))
    entry = str(record.get("entry", ""))
    for focus in focus_files:
        wanted = PurePosixPath(str(focus).replace("\\", "/"))
        if str(focus) in (entry, str(path)) or wanted == path:
            return True
        if wanted.parts and _contains(path.parts, wanted.parts):
            return True
        if wanted.is_absolute() and wanted.parts[-len(path.parts) :] == path.parts:
            return True
    return False


def focus_paths(records: Iterable[Mapping[str, Any]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths of the records that ``is_focus`` holds for; fast also where both are thousands."""
    by_last: dict[str, list[str]] = {}
    for focus in focus_files:
        by_last.setdefault(_parts(focus)[-1], []).append(focus)
    entries = {focus for some in by_last.values() for focus in some}
    found = set()
    for record in records:
        path = shown_path(record)
        # What names a record ends with one of the path's parts, or is its entry.
        near = [focus for part in _parts(path) for focus in by_last.get(part, ())]
        if record.get("entry") in entries or is_focus(record, near):
            found.add(path)
    return frozenset(found)


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts or ("",)


def _contains(parts: tuple[str, ...], run: tuple[str, ...]) -> bool:
    return any(parts[i : i + len(run)] == run for i in range(len(parts) - len(run) + 1))


def _is_raw(record: Mapping[str, Any], focus_files: Sequence[str]) -> bool:
    if is_focus(record, focus_files):
        return True
    focused = record.get("tier") == FOCUS_TIER or bool(record.get("force_full"))
    return focused and _aggregated(record)


def _raw_block(record: Mapping[str, Any]) -> str:
    if record.get("error") and not record.get("source"):
        return record_block(record)
    path = shown_path(record)
    return file_block(path, _source(record), language=fence_tag(path, _source(record)))


def _view_block(record: Mapping[str, Any], request: ViewRequest, view: View | str) -> str:
    path = shown_path(record)
    if isinstance(view, str):
        return file_block(path, f"ERROR in {request.mode.value} view mode for {path}:\n{view}")
    return file_block(path, view.text, language=view.language)


def _request(record: Mapping[str, Any]) -> ViewRequest | None:
    """Return what a file is shown by as context for a worker, ``None`` for the view that it was rendered in."""
    path = shown_path(record)
    mode = _context_mode(record, path)
    if mode is None:
        return None
    return ViewRequest(path, _source(record), mode, slices=tuple(record.get("custom_slices") or ()))


def _aggregated(record: Mapping[str, Any]) -> bool:
    return bool(record.get("auto_aggregate", True))


def _context_mode(record: Mapping[str, Any], path: str) -> ViewMode | None:
    if record.get("error") or record.get("view_mode") == ViewMode.NONE:
        return None
    if record.get("custom_slices"):
        return ViewMode.CUSTOM
    language = language_of(path, _source(record))
    return _CONTEXT_MODES.get(language.name) if language else None


def _source(record: Mapping[str, Any]) -> str:
    return str(record.get("source", record.get("content", "")))
