"""Prompts that tests compose: without an index, and with results of sub-agents that they make up."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aggregate import (
    AggregatedResult,
    Composition,
    FileItem,
    LabelledOutput,
    Segment,
    View,
    ViewMode,
    compose_prompt,
    merge_outputs,
    open_project,
    request_for,
)
from aggregate.base import Entry, Span
from aggregate.project.files import SourceFile
from aggregate.project.index import Index
from aggregate.prompt import File


def kept_nothing() -> Index:
    return Index(None, limit=1)


def in_index(folder: Path) -> Index:
    return Index(folder / "index" / "i.sqlite", limit=10**8, now=lambda: 2 * 10**18)


def result(name: str, value: object, **told: Any) -> AggregatedResult:
    merged = merge_outputs([LabelledOutput(value)], "first")
    return replace(merged, variable_name=name, value=value, **{"warnings": (), **told})


def segments(**parts: Any) -> tuple[Segment, ...]:
    """Return the segments of a prompt without files, of a ``history`` and ``results``."""
    request = replace(request_for(open_project({}), with_history=False), **parts)
    return composed(request).prompt.segments


def shown_file(
    path: str,
    content: str = "",
    source: str = "",
    *,
    entry: str = "",
    mode: ViewMode = ViewMode.FULL,
    error: bool = False,
    spans: Sequence[Span] = (),
    **settings: Any,
) -> File:
    """Return a file with this content in the prompt."""
    item = FileItem(entry, view_mode=mode, **settings)
    view = View(content, tuple(spans))
    return File(path, "", Entry(item), source=SourceFile(source), view=view, is_error=error)


def composed(request: Any) -> Composition:
    return compose_prompt(request, index=kept_nothing())
