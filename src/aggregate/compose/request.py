"""Everything that one prompt is made of, resolved: what the configuration, a preset and the caller ask for."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.compose.layout import Strategy
from aggregate.models.entry import Entry
from aggregate.sections.results import Results

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


@dataclass(frozen=True, slots=True)
class Request:
    """What to compose.

    Attributes:
        base_dir: Where the files' relative paths begin.
        entries: The files.
        exclude: Patterns that globs leave out.
        screenshot_dir: Where the screenshots' relative paths begin.
        screenshots: Paths or globs of images.
        shown_from: The folder that screenshots' paths are shown relative to.
        history: The turns of the discussion.
        strategy: Which Files section.
        summary_only: For ``AUTO``: summaries.
        beads: Whether to add the progress track.
        output_dir: Where prompts are written.
        namespace: First part of their names.
        focus_files: Focus files; any, or tier 3, make it a Tier 3 prompt.
        tier: ``3`` for a Tier 3 prompt.
        results: Results of sub-agents to fold in, large values already compacted.
        redaction: Which secrets are replaced in all of this, ``None`` for none.
    """

    base_dir: Path
    entries: tuple[Entry, ...]
    exclude: tuple[str, ...]
    screenshot_dir: Path
    screenshots: tuple[str, ...]
    shown_from: Path
    history: tuple[object, ...]
    strategy: Strategy
    summary_only: bool
    beads: bool
    output_dir: Path
    namespace: str
    focus_files: tuple[str, ...] = ()
    tier: int | None = None
    results: tuple[Results, ...] = ()
    redaction: "Redaction | None" = None

    @property
    def is_tier3(self) -> bool:
        """Whether the prompt is one for a Tier 3 worker."""
        return self.tier == 3 or bool(self.focus_files)


def namespace_of(name: str) -> str:
    """Return a file name's first part made from a project's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "context"
