"""From rendered files and everything else that a request names to the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.compose.file_rendering import RenderedFiles, check_refused
from aggregate.compose.image_files import find_screenshots
from aggregate.compose.layout import files_segments, join_sections
from aggregate.compose.request import Request
from aggregate.compose.tier3 import is_focus, tier3_segments
from aggregate.config.schema import BEADS_MODE
from aggregate.models.file_item import FileRecord
from aggregate.models.prompt import Prompt, Segment
from aggregate.models.reference import THRESHOLD
from aggregate.models.rendered_file import RenderedFile
from aggregate.monitor import get_monitor
from aggregate.sections.screenshots import screenshots_section
from aggregate.sources.path_resolution import FolderListing

if TYPE_CHECKING:
    from aggregate.sections.subagent_results import Results


@dataclass(frozen=True, slots=True)
class Composition:
    """A prompt and what it was made of.

    Attributes:
        prompt: The segments in order.
        files: The files, rendered.
        warnings: What was left out or is doubtful, one sentence each.
        refused: Those of the warnings that say what the scope does not allow.
    """

    prompt: Prompt
    files: tuple[RenderedFile, ...]
    warnings: tuple[str, ...]
    refused: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """A record per file, as ``build_file_items`` returns them."""
        return tuple(file.to_record() for file in self.files)

    def check_scope(self) -> None:
        """Make sure that the prompt asks for nothing that its scope does not allow.

        Raises:
            ScopeError: It does; the message names the first file.
        """
        check_refused(self.refused)


@get_monitor().scope("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    """Lay out the prompt that ``request`` asks for from files that were read before."""
    images = find_screenshots(
        request.screenshot_dir,
        request.screenshots,
        shown_from=request.shown_from,
        listing=FolderListing(request.scope),
    )
    prompt = join_sections(
        _files_section(request, rendered.files),
        screenshots=screenshots_section(images),
        beads=_request_beads(request),
        results=request.results,
        history=request.history,
    )
    warnings = [
        *rendered.warnings,
        *_unknown_focus(request.focus_files, rendered.files),
        *(f"screenshot {image.path}: {image.problem}" for image in images if image.problem),
    ]
    if request.redaction is not None:
        from aggregate.compose.redact_prompt import redact_prompt  # its rules take time to compile

        prompt, notes = redact_prompt(prompt, request.redaction)
        warnings += notes
    refused = [f"screenshot {image.path}: {image.refused}" for image in images if image.refused]
    return Composition(prompt, rendered.files, tuple(warnings), (*rendered.refused, *refused))


def beads_text(execution_mode: str, base_dir: str | Path | None, *, root: str = "") -> str:
    """Return the section of beads, ``""`` in any other mode than ``"beads"``."""
    if execution_mode != BEADS_MODE:
        return ""
    # Its readers take 15 ms, and few projects have beads.
    from aggregate.compose.beads_reading import build_beads_section

    return build_beads_section(base_dir or Path(), root=root)


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results, each with its value below ``cache_dir`` where it is large.

    Args:
        results: What sub-agents found.
        cache_dir: Where large values are written.
        threshold: Bytes of JSON from which a value is large.
    """
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    from aggregate.results.references import compact_all  # 70 ms, needed only with results

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)


def _files_section(request: Request, files: Sequence[RenderedFile]) -> tuple[Segment, ...]:
    if request.is_tier3:
        return tier3_segments(files, request.focus_files)
    return files_segments(files, summary_only=request.summary_only, strategy=request.strategy)


def _request_beads(request: Request) -> str:
    mode = BEADS_MODE if request.beads else ""
    root = "" if request.scope.allow_outside else request.scope.root
    return beads_text(mode, request.base_dir, root=root)


def _unknown_focus(focus_files: Sequence[str], files: Sequence[RenderedFile]) -> list[str]:
    """Return a warning for each focus file that names no file of the prompt."""
    return [
        f"focus file {focus}: no file of the project matches it; name it under [files] paths too"
        for focus in focus_files
        if not any(is_focus(file, [focus]) for file in files)
    ]
