"""Prompts that tests compose: without an index, and with results of sub-agents that they make up."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from aggregate import (
    AggregatedResult,
    Composition,
    LabelledOutput,
    Segment,
    compose_prompt,
    merge_outputs,
    open_project,
    request_for,
)
from aggregate.project.index import Index


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


def composed(request: Any) -> Composition:
    return compose_prompt(request, index=kept_nothing())
