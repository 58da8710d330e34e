"""Compose exactly the prompt that a language model should see.

The public surface is what ``__all__`` names; it is loaded on first use, so that ``import aggregate`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aggregate.anchors import AnchorState, FuzzyAnchor, Resolution
    from aggregate.app import (
        Composition,
        build_file_items,
        build_markdown,
        build_markdown_from_items,
        build_markdown_no_history,
        build_screenshots_section,
        build_tier3_context,
        compose_prompt,
        run,
    )
    from aggregate.cli import main
    from aggregate.compose.layout import build_summary_markdown
    from aggregate.compose.numbering import find_next_increment
    from aggregate.compose.stats import compute_file_stats, group_files_by_dir
    from aggregate.config.load import Project, load_config
    from aggregate.errors import AggregateError
    from aggregate.models.file_item import FileItem, FileRecord
    from aggregate.models.preset import ContextFileEntry, ContextPreset
    from aggregate.models.prompt import Prompt, Segment
    from aggregate.models.view import View, ViewMode
    from aggregate.monitor import get_monitor
    from aggregate.presets.store import ContextPresetManager
    from aggregate.sections.beads import build_beads_section
    from aggregate.sections.discussion import build_discussion_section, build_discussion_text
    from aggregate.sources.listing import resolve_paths
    from aggregate.tokens.count import count
    from aggregate.views.parser import ASTParser
    from aggregate.views.summary import summarise_file

_HOMES = {
    "aggregate.anchors": ("AnchorState", "FuzzyAnchor", "Resolution"),
    "aggregate.app": (
        "Composition",
        "build_file_items",
        "build_markdown",
        "build_markdown_from_items",
        "build_markdown_no_history",
        "build_screenshots_section",
        "build_tier3_context",
        "compose_prompt",
        "run",
    ),
    "aggregate.cli": ("main",),
    "aggregate.compose.layout": ("build_summary_markdown",),
    "aggregate.compose.numbering": ("find_next_increment",),
    "aggregate.compose.stats": ("compute_file_stats", "group_files_by_dir"),
    "aggregate.config.load": ("Project", "load_config"),
    "aggregate.errors": ("AggregateError",),
    "aggregate.models.file_item": ("FileItem", "FileRecord"),
    "aggregate.models.preset": ("ContextFileEntry", "ContextPreset"),
    "aggregate.models.prompt": ("Prompt", "Segment"),
    "aggregate.models.view": ("View", "ViewMode"),
    "aggregate.monitor": ("get_monitor",),
    "aggregate.presets.store": ("ContextPresetManager",),
    "aggregate.sections.beads": ("build_beads_section",),
    "aggregate.sections.discussion": ("build_discussion_section", "build_discussion_text"),
    "aggregate.sources.listing": ("resolve_paths",),
    "aggregate.tokens.count": ("count",),
    "aggregate.views.parser": ("ASTParser",),
    "aggregate.views.summary": ("summarise_file",),
}
_HOME_BY_NAME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ASTParser",
    "AggregateError",
    "AnchorState",
    "Composition",
    "ContextFileEntry",
    "ContextPreset",
    "ContextPresetManager",
    "FileItem",
    "FileRecord",
    "FuzzyAnchor",
    "Project",
    "Prompt",
    "Resolution",
    "Segment",
    "View",
    "ViewMode",
    "build_beads_section",
    "build_discussion_section",
    "build_discussion_text",
    "build_file_items",
    "build_markdown",
    "build_markdown_from_items",
    "build_markdown_no_history",
    "build_screenshots_section",
    "build_summary_markdown",
    "build_tier3_context",
    "compose_prompt",
    "compute_file_stats",
    "count",
    "find_next_increment",
    "get_monitor",
    "group_files_by_dir",
    "load_config",
    "main",
    "resolve_paths",
    "run",
    "summarise_file",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name on first use."""
    if name not in _HOME_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
