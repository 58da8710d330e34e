"""Sections to one prompt, in the order that keeps the changing parts behind the stable ones."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.models.view import ViewMode, ViewRequest
from aggregate.sections.files import FILES, FILES_SUMMARY, file_block, files_section, record_block, shown_path
from aggregate.views.table import render


class Strategy(StrEnum):
    """How files are rendered: each by its own view, or all by summaries (rule M-30)."""

    AUTO = "auto"
    SUMMARIZE = "summarize"
    FULL = "full"

    @classmethod
    def parse(cls, value: object) -> "Strategy":
        """Return the strategy that ``value`` names; any other value behaves like ``AUTO``."""
        try:
            return cls(str(value))
        except ValueError:
            return cls.AUTO


def files_segments(
    records: Iterable[Mapping[str, Any]], *, summary_only: bool = False, strategy: Strategy = Strategy.AUTO
) -> tuple[Segment, ...]:
    """Return the Files section: the strategy picks which one, each file's own view stays in force.

    Records with ``auto_aggregate`` off are left out.
    """
    shown = [record for record in records if record.get("auto_aggregate", True)]
    if strategy is Strategy.SUMMARIZE or (strategy is Strategy.AUTO and summary_only):
        return files_section(FILES_SUMMARY, ((shown_path(record), summary_block(record)) for record in shown))
    return files_section(FILES, ((shown_path(record), record_block(record)) for record in shown))


def summary_block(record: Mapping[str, Any]) -> str:
    """Return a record's digest, made from the raw text (rule M-X2).

    Files forced to full (rule M-X3), errors and files excluded on purpose are shown as they are.
    """
    if record.get("force_full") or record.get("error") or record.get("view_mode") == ViewMode.NONE:
        return record_block(record)
    path = shown_path(record)
    text = str(record.get("source", record.get("content", "")))
    view = render(ViewRequest(path, text, ViewMode.SUMMARY))
    return file_block(path, view.text, language=view.language)


def build_summary_markdown(file_items: Sequence[Mapping[str, Any]]) -> str:
    """Return the body of ``## Files (Summary)``: a digest of every item (rule M-16)."""
    segments = files_segments(file_items, strategy=Strategy.SUMMARIZE)
    return Prompt(segments[1:]).markdown


def section_segment(section: Section, text: str, stability: Stability) -> tuple[Segment, ...]:
    """Return a whole section as one segment, none where it is empty."""
    return (Segment(section, text, stability),) if text else ()
