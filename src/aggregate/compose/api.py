"""The wiring: the public functions of the pipeline, from entries to a numbered file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.compose.file_records import build_records, error_text
from aggregate.compose.image_files import find_screenshots
from aggregate.compose.layout import Strategy, files_segments, section_segment
from aggregate.compose.numbered_output import write_numbered
from aggregate.compose.project import open_project, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.compose.selection import Selection, exclude_filter, own_output_filter, resolve_entries
from aggregate.compose.tier3 import is_focus, tier3_segments
from aggregate.config.load import Project
from aggregate.config.schema import BEADS_MODE
from aggregate.disk.roots import project_root
from aggregate.errors import ConfigError, ScopeError
from aggregate.models.entry import Entry, FileEntry
from aggregate.models.file_item import FileRecord
from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.models.reference import CACHE_DIR, THRESHOLD
from aggregate.models.scope import Scope
from aggregate.monitor import get_monitor
from aggregate.sections.discussion import discussion_segments
from aggregate.sections.screenshots import screenshots_section
from aggregate.sources.path_resolution import FolderListing

if TYPE_CHECKING:
    from aggregate.sections.subagent_results import Results


@dataclass(frozen=True, slots=True)
class Composition:
    """A prompt and what it was made of.

    Attributes:
        prompt: The segments in order.
        records: A record per file.
        warnings: What was left out or is doubtful, one sentence each.
        refused: Those of the warnings that say what the scope does not allow.
    """

    prompt: Prompt
    records: tuple[FileRecord, ...]
    warnings: tuple[str, ...]
    refused: tuple[str, ...] = ()

    def check_scope(self) -> None:
        """Make sure that the prompt asks for nothing that its scope does not allow.

        Raises:
            ScopeError: It does; the message names the first file.
        """
        check_refused(self.refused)


def build_file_items(
    base_dir: str | Path, files: Iterable[FileEntry], *, allow_outside: bool = True, allow_secrets: bool = True
) -> list[FileRecord]:
    """Read the files that ``files`` name below ``base_dir`` and render their views, one record each (rule M-5).

    A failure never ends the run: it becomes the record's ``content``, with ``error`` set. What a glob matches and is
    not shown, since it is binary or looks like a secret, is one more such record.

    Args:
        base_dir: Where relative paths begin.
        files: Paths, globs, items or mappings.
        allow_outside: Whether files outside the project around ``base_dir`` may be read: the caller knows whose
            entries they are.
        allow_secrets: Whether files that look like secrets may be read where they are named.
    """
    scope = Scope(project_root(base_dir), allow_outside=allow_outside, allow_secrets=allow_secrets)
    with get_monitor().scope("build_file_items"):
        records, _ = build_records(resolve_entries(Path(base_dir), map(Entry.of, files), listing=FolderListing(scope)))
        return records


def build_screenshots_section(
    base_dir: str | Path,
    screenshots: Sequence[str],
    *,
    shown_from: str | Path | None = None,
    allow_outside: bool = True,
) -> str:
    """Return the Screenshots section, ``""`` where there is none (rules M-7, M-51).

    Args:
        base_dir: Where relative paths begin.
        screenshots: Paths or globs of images.
        shown_from: The folder that paths are shown relative to, by default ``base_dir``.
        allow_outside: Whether images outside the project around ``base_dir`` may be shown.
    """
    listing = FolderListing(Scope(project_root(base_dir), allow_outside=allow_outside))
    root = base_dir if shown_from is None else shown_from
    return screenshots_section(find_screenshots(base_dir, screenshots, shown_from=root, listing=listing))


def build_markdown_from_items(
    file_items: Sequence[Mapping[str, Any]],
    screenshot_base_dir: str | Path,
    screenshots: Sequence[str],
    history: Sequence[object],
    summary_only: bool = False,
    aggregation_strategy: str = "auto",
    execution_mode: str = "native",
    base_dir: str | Path | None = None,
) -> str:
    """Compose all sections from records (rule M-9): Files, Screenshots, Beads, Discussion History, each if not empty.

    ``base_dir`` is where the project's beads are looked for, with ``execution_mode`` ``"beads"`` only.
    """
    files = files_segments(file_items, summary_only=summary_only, strategy=Strategy.parse(aggregation_strategy))
    images = build_screenshots_section(screenshot_base_dir, screenshots)
    beads = _beads(execution_mode, base_dir)
    return _layout(files, screenshots=images, beads=beads, history=history).markdown


def build_markdown_no_history(
    file_items: Sequence[Mapping[str, Any]],
    screenshot_base_dir: str | Path,
    screenshots: Sequence[str],
    summary_only: bool = False,
    aggregation_strategy: str = "auto",
    *,
    execution_mode: str = "native",
    base_dir: str | Path | None = None,
) -> str:
    """Compose the static prefix: everything but the discussion (rules M-10, M-X5).

    The full text is this, two line breaks, and ``build_discussion_text(history)``.
    """
    with get_monitor().scope("build_markdown_no_history"):
        return build_markdown_from_items(
            file_items,
            screenshot_base_dir,
            screenshots,
            [],
            summary_only,
            aggregation_strategy,
            execution_mode,
            base_dir,
        )


def build_tier3_context(
    file_items: Sequence[Mapping[str, Any]],
    screenshot_base_dir: str | Path,
    screenshots: Sequence[str],
    history: Sequence[object],
    focus_files: Sequence[str],
    *,
    execution_mode: str = "native",
    base_dir: str | Path | None = None,
    results: "Results | Sequence[Results]" = (),
    cache_dir: str | Path = CACHE_DIR,
    results_threshold: int = THRESHOLD,
) -> str:
    """Compose the context of a Tier 3 worker: focus files in full, the others by structure (rules M-12, M-53).

    Args:
        file_items: Records.
        screenshot_base_dir: Where the screenshots' relative paths begin.
        screenshots: Paths or globs of images.
        history: The turns of the discussion.
        focus_files: Files to show in full.
        execution_mode: ``"beads"`` adds the progress track.
        base_dir: Where the project's beads are looked for.
        results: What other workers found: a session's ``subagent_results``, a mapping of names to results, an answer,
            a compiled report, or a list of these.
        cache_dir: Where large values among the results are kept.
        results_threshold: Bytes of JSON from which a result, an answer or a list of failures is shown by its summary
            and a reference.
    """
    with get_monitor().scope("build_tier3_context"):
        files = tier3_segments(file_items, focus_files)
        images = build_screenshots_section(screenshot_base_dir, screenshots)
        beads = _beads(execution_mode, base_dir)
        folded = with_references(results, cache_dir, results_threshold)
        return _layout(files, screenshots=images, beads=beads, results=folded, history=history).markdown


def build_markdown(
    base_dir: str | Path,
    files: Iterable[FileEntry],
    screenshot_base_dir: str | Path,
    screenshots: Sequence[str],
    history: Sequence[object],
    summary_only: bool = False,
    execution_mode: str = "native",
) -> str:
    """Read the files and compose all sections (rule M-13)."""
    items = build_file_items(base_dir, files)
    return build_markdown_from_items(
        items,
        screenshot_base_dir,
        screenshots,
        history,
        summary_only,
        execution_mode=execution_mode,
        base_dir=base_dir,
    )


def run(
    config: Mapping[str, Any] | Project | str | Path,
    aggregation_strategy: str | None = None,
    *,
    focus_files: Sequence[str] = (),
    tier: int | None = None,
    results: "Results | Sequence[Results]" = (),
    allow_outside: bool | None = None,
    allow_secrets: bool | None = None,
    results_threshold: int = THRESHOLD,
) -> tuple[str, Path, list[FileRecord]]:
    """Run the whole pipeline and write the prompt to the next numbered file (rule M-14).

    Args:
        config: A project's configuration: the tables as a mapping (folders relative to the working directory), a loaded
            project, or the path of a ``manual_slop.toml``.
        aggregation_strategy: ``auto``, ``summarize`` or ``full``; by default the configuration's.
        focus_files: Files to show in full in a Tier 3 context (rule M-X6).
        tier: ``3`` makes a Tier 3 context also without focus files.
        results: What sub-agents found: a session's ``subagent_results``, a mapping of names to results, an answer, a
            compiled report, or a list of these. Large values are kept in ``state/data_cache`` beside the configuration.
        allow_outside: Whether files outside the project may be read; by default a mapping may ask for them, a file
            only if the user trusts the project.
        allow_secrets: Whether files that look like secrets may be read where they are named; by default only a mapping
            may.
        results_threshold: Bytes of JSON from which a result, an answer or a list of failures is shown by its summary
            and a reference.

    Returns:
        The markdown, the file that holds it, and the record of every file.

    Raises:
        ConfigError: The configuration cannot be used.
        OutputError: The file cannot be written.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    request = request_for(project, strategy=aggregation_strategy, focus_files=focus_files, tier=tier)
    request = replace(
        request,
        results=with_references(results, project.folder / CACHE_DIR, results_threshold),
        redaction=redaction_for(project, sending=False),
    )
    composition = compose_prompt(request)
    pieces = composition.prompt.pieces()
    path = write_numbered(request.output_dir, request.namespace, pieces, project=request.written_in)
    return composition.prompt.markdown, path, list(composition.records)


def select_files(request: Request) -> Selection:
    """Return the files of a request; what the program wrote itself and excluded files are never taken by a glob.

    Raises:
        ConfigError: The base directory is no folder, or there are too many rules of what to leave out.
    """
    base_dir = request.base_dir
    if request.entries and not base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: there is no folder {base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    is_excluded = exclude_filter(request.exclude) if request.exclude else lambda _: False
    return resolve_entries(
        base_dir,
        request.entries,
        left_out=lambda path: is_ours(path) or is_excluded(path),
        listing=FolderListing(request.scope),
    )


def check_refused(refused: Sequence[str]) -> None:
    """Make sure that nothing was refused.

    Raises:
        ScopeError: Something was; the message is the first reason.
    """
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def compose_prompt(
    request: Request,
    *,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Composition:
    """Read everything that ``request`` names and compose the prompt; nothing is written.

    Args:
        request: What to compose.
        workers: How many processes render views; by default as many as pay.
        on_start: Called once with the number of files.
        on_done: Called with the number of views that have become ready.
    """
    return assemble(request, render_files(request, workers=workers, on_start=on_start, on_done=on_done))


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The files of a request, read and rendered once; many prompts can be arranged from them.

    Attributes:
        records: A record per file.
        warnings: What was left out or is doubtful, one sentence each.
        refused: Those of the warnings that say what the scope does not allow.
    """

    records: tuple[FileRecord, ...]
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def render_files(
    request: Request,
    *,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> RenderedFiles:
    """Read and render the files of ``request``; the arguments are those of ``compose_prompt``."""
    with get_monitor().scope("build_file_items"):
        selection = select_files(request)
        if on_start:
            on_start(len(selection.files))
        records, notes = build_records(selection, workers=workers, on_done=on_done, redaction=request.redaction)
    warnings = [*request.doubts]
    warnings += [f"{path}: {reason}" for path, reason in (*selection.skipped, *notes)]
    warnings += [record["content"].splitlines()[0] for record in records if record["error"]]
    refused = tuple(error_text(one.path, one.problem) for one in selection.files if one.refused)
    return RenderedFiles(tuple(records), tuple(warnings), refused)


def assemble(request: Request, gathered: RenderedFiles) -> Composition:
    """Lay out the prompt that ``request`` asks for from files that were read before."""
    records = gathered.records
    if request.is_tier3:
        files = tier3_segments(records, request.focus_files)
    else:
        files = files_segments(records, summary_only=request.summary_only, strategy=request.strategy)
    images = find_screenshots(
        request.screenshot_dir,
        request.screenshots,
        shown_from=request.shown_from,
        listing=FolderListing(request.scope),
    )
    root = "" if request.scope.allow_outside else request.scope.root
    beads = _beads(BEADS_MODE if request.beads else "", request.base_dir, root=root)
    prompt = _layout(
        files, screenshots=screenshots_section(images), beads=beads, results=request.results, history=request.history
    )
    warnings = [
        f"focus file {focus}: no file of the project matches it; name it under [files] paths too"
        for focus in request.focus_files
        if not any(is_focus(record, [focus]) for record in records)
    ]
    warnings += [f"screenshot {image.path}: {image.problem}" for image in images if image.problem]
    refused = [f"screenshot {image.path}: {image.refused}" for image in images if image.refused]
    if request.redaction is not None:
        from aggregate.compose.redact_prompt import redact_prompt  # its rules take time to compile

        prompt, notes = redact_prompt(prompt, request.redaction)
        warnings += notes
    return Composition(prompt, records, (*gathered.warnings, *warnings), (*gathered.refused, *refused))


def _layout(
    files: tuple[Segment, ...],
    *,
    screenshots: str,
    beads: str,
    history: Sequence[object],
    results: "Sequence[Results]" = (),
) -> Prompt:
    """Return the sections in their order, each only if not empty (rule M-9)."""
    return Prompt(
        files
        + section_segment(Section.SCREENSHOTS, screenshots, Stability.STABLE)
        + section_segment(Section.BEADS, beads, Stability.SLOW)
        + _results(results)
        + discussion_segments(history)
    )


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results, each with its value on disk, below ``cache_dir``, where it has ``threshold`` bytes."""
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    from aggregate.results.references import compact_all  # 70 ms, needed only with results

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)


def _results(results: "Sequence[Results]") -> tuple[Segment, ...]:
    if not results:
        return ()
    from aggregate.sections.subagent_results import results_segments  # few prompts have results

    return results_segments(results)


def _beads(execution_mode: str, base_dir: str | Path | None, *, root: str = "") -> str:
    if execution_mode != BEADS_MODE:
        return ""
    from aggregate.sections.beads import build_beads_section  # its readers take 15 ms, few projects have beads

    return build_beads_section(base_dir or Path(), root=root)
