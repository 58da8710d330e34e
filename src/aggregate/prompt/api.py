"""The stages of a prompt without a budget, and the public functions, which take and return records of files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.disk.reading import project_root
from aggregate.base.files import Entry, FileEntry, FileRecord
from aggregate.base.monitor import timed
from aggregate.base.redaction import AS_THEY_ARE
from aggregate.base.task_budget import Place
from aggregate.base.values import CACHE_DIR
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.index import Index, user_index
from aggregate.project.paths import Scope
from aggregate.project.tables import BEADS_MODE
from aggregate.prompt.asking import Request, Strategy, open_project
from aggregate.prompt.asking.resolve import AskedBudget, AskedTask, AskedViews, request_for
from aggregate.prompt.assemble import (
    Composition,
    assemble,
    build_beads_section,
    find_screenshots,
    section_segments,
)
from aggregate.prompt.document import Prompt, Screenshot, Section
from aggregate.prompt.files import (
    File,
    FileReader,
    FileStream,
    files_segments,
    render_files,
    resolve_entries,
    screenshots_section,
    select_files,
    tier3_segments,
)
from aggregate.prompt.output import write_numbered
from aggregate.prompt.sections import discussion_segments

if TYPE_CHECKING:
    from aggregate.prompt.asking.results import Results


def stream_prompt(
    request: Request,
    *,
    index: Index | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Composition:
    """Return the prompt of a request, in the stages of every prompt without a budget.

    Files are read and rendered, and sections assembled, only while the returned prompt is iterated; whoever iterates it
    writes the segments. With a budget the prompt is composed at once.
    """
    if request.budget is not None:
        return compose_prompt(request, index=index, on_start=on_start, on_done=on_done)
    index = index or user_index()
    selection = select_files(request)
    reader = FileReader(request.redaction, selection)
    files = FileStream(reader, index, request.doubts, on_start, on_done)
    prompt = Composition(request, files)
    return _with_scores(prompt, index)


def compose_prompt(
    request: Request,
    *,
    index: Index | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Composition:
    """Read a request's files and compose the prompt.

    Nothing is written.

    Args:
        request: The files, the task and the budget.
        index: The cache of views; by default the user's.
        on_start: Called once with the number of files.
        on_done: Called with the number of finished views.
    """
    index = index or user_index()
    if request.budget is not None:
        # Imports the ranking, half of the program, which most runs do not need.
        from aggregate.prompt.fit_prompt import compose_within_budget

        return compose_within_budget(request, index=index, on_start=on_start, on_done=on_done)
    files = render_files(request, index=index, on_start=on_start, on_done=on_done)
    return _with_scores(assemble(request, files), index)


def _with_scores(composition: Composition, index: Index) -> Composition:
    """Add the scores of a prompt with a task (rule T-3)."""
    request = composition.request
    if request.task is None:
        return composition
    from aggregate.prompt.corpus import rank_files, scored_choices  # as with a budget

    ranked = rank_files(request, index=index)
    return composition.scored(scored_choices(ranked), ranked.ranking)


def run(
    config: Mapping[str, Any] | Project | str | Path,
    aggregation_strategy: str | None = None,
    *,
    focus_files: Sequence[str | Path | Place] = (),
    tier: int | None = None,
    task: AskedTask | None = None,
    budget: AskedBudget | None = None,
    results: "Results | Sequence[Results]" = (),
    allow_outside: bool | None = None,
    allow_secrets: bool | None = None,
    redact: bool | None = None,
    results_threshold: int | None = None,
) -> tuple[str, Path, list[FileRecord]]:
    """Compose a prompt and write it to a numbered file.

    The file gets the next free number (rules M-14, T-1). With a task or a budget and no files in ``config`` it uses all
    files not ignored by git (rule T-6).

    Args:
        config: The tables as a mapping (folders relative to the working directory), a loaded project, or the path of a
            ``manual_slop.toml``.
        aggregation_strategy: ``auto``, ``summarize`` or ``full``; by default the configuration's.
        focus_files: As for ``request_for``.
        tier: ``3`` makes a Tier 3 context also without focus files.
        task: A text, or a ``Task`` with places, symbols and a revision.
        budget: The most tokens of the markdown: ``32000``, ``"32k"``, ``"auto"`` or a ``Budget``.
        results: Results of sub-agents: a session's ``subagent_results``, a mapping of names to results, an answer, a
            compiled report, or a list of these. Above the budget, or 32,000 tokens without one, all are cut fairly
            (rule F-11).
        allow_outside: As for ``open_project``.
        allow_secrets: As for ``open_project``.
        redact: Whether to replace secrets; by default with a task or a budget, or if the configuration asks for it.
        results_threshold: Bytes of JSON from which a result or an answer is stored in ``state/data_cache`` beside the
            configuration, and shown by its summary and a reference; ``None`` stores none.

    Returns:
        The markdown, its file, and the record of every file.

    Raises:
        BudgetError: The pinned lines do not fit into the budget; nothing is written.
        ConfigError: The configuration cannot be used.
        OutputError: The file cannot be written.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    request = request_for(
        project,
        views=AskedViews(strategy=aggregation_strategy, tier=tier),
        focus_files=focus_files,
        task=task,
        budget=budget,
        redact=redact,
    )
    results = _with_references(results, project.folder / CACHE_DIR, results_threshold)
    request = replace(request, results=results)
    composition = compose_prompt(request)
    pieces = composition.prompt.pieces()
    path = write_numbered(request.output_dir, request.namespace, pieces, project=request.written_in)
    if request.is_audited:
        from aggregate.prompt.audit import record_audit  # most prompts have none

        record_audit(path, request, composition, composition.prompt)
    return composition.prompt.written, path, list(composition.records)


def build_file_items(
    base_dir: str | Path,
    files: Iterable[FileEntry],
    *,
    allow_outside: bool = True,
    allow_secrets: bool = True,
) -> list[FileRecord]:
    """Read files and render their views as records.

    Each file has one record (rule M-5). A failure never ends the run: the record of the file has the reason as
    ``content``, and ``error`` set. Binary and secret-looking files of globs are left out; one more record
    with ``error`` lists them.

    Args:
        base_dir: Where relative paths begin.
        files: Paths, globs, items or mappings.
        allow_outside: Whether files outside the project around ``base_dir`` may be read.
        allow_secrets: Whether secret-looking files may be read if they are named.
    """
    scope = Scope(project_root(base_dir), allow_outside=allow_outside, allow_secrets=allow_secrets)
    with timed("build_file_items"):
        entries = map(Entry.of, files)
        selection = resolve_entries(Path(base_dir), entries, listing=FolderListing(scope))
        reader = FileReader(AS_THEY_ARE, selection)
        return [file.to_record() for file in FileStream(reader, user_index())]


def build_screenshots_section(
    base_dir: str | Path,
    screenshots: Sequence[str],
    *,
    shown_from: str | Path | None = None,
    allow_outside: bool = True,
) -> str:
    """Return the Screenshots section, ``""`` without images (rules M-7, M-51).

    Paths are shown relative to ``shown_from``, by default ``base_dir``.
    """
    images = _images(base_dir, screenshots, shown_from, allow_outside=allow_outside)
    return screenshots_section(images)


def _images(
    base_dir: str | Path,
    screenshots: Sequence[str],
    shown_from: str | Path | None = None,
    *,
    allow_outside: bool = True,
) -> tuple[Screenshot, ...]:
    shown_from = base_dir if shown_from is None else shown_from
    listing = FolderListing(Scope(project_root(base_dir), allow_outside=allow_outside))
    return find_screenshots(base_dir, screenshots, shown_from=shown_from, listing=listing)


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
    """Compose all sections of a prompt from files' records.

    See rule M-9. With ``execution_mode`` ``"beads"``, ``base_dir`` is the project with the beads.
    """
    is_summary = Strategy.has_summaries(aggregation_strategy, summary_only=summary_only)
    segments = section_segments(
        files_segments(map(File.from_record, file_items), is_summary=is_summary),
        {Section.HISTORY: discussion_segments(history)},
        images=_images(screenshot_base_dir, screenshots),
        beads=_beads(execution_mode, base_dir),
    )
    return Prompt(tuple(segments)).markdown


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
    """Compose all sections of a prompt except the discussion.

    See rules M-10 and M-X5. The whole prompt is this text, two line breaks, and ``build_discussion_text(history)``.
    """
    with timed("build_markdown_no_history"):
        inputs = file_items, screenshot_base_dir, screenshots, ()
        return build_markdown_from_items(
            *inputs, summary_only, aggregation_strategy, execution_mode, base_dir
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
    results_threshold: int | None = None,
) -> str:
    """Compose the context of a Tier 3 worker.

    See rules M-12 and M-53.

    Args:
        file_items: Records.
        screenshot_base_dir: Where the screenshots' relative paths begin.
        screenshots: Paths or globs of images.
        history: The turns of the discussion.
        focus_files: Files to show in full; the others are shown by their structure.
        execution_mode: ``"beads"`` adds the progress track.
        base_dir: The project with the beads.
        results: As for ``run``.
        cache_dir: Folder for large values among the results.
        results_threshold: As for ``run``.
    """
    with timed("build_tier3_context"):
        parts = {Section.HISTORY: discussion_segments(history)}
        if compacted := _with_references(results, cache_dir, results_threshold):
            from aggregate.prompt.sections.subagent_results import whole_results

            parts[Section.RESULTS] = whole_results(compacted).segments
        segments = section_segments(
            tier3_segments(map(File.from_record, file_items), list(map(str, focus_files))),
            parts,
            images=_images(screenshot_base_dir, screenshots),
            beads=_beads(execution_mode, base_dir),
        )
        return Prompt(tuple(segments)).markdown


def build_markdown(
    base_dir: str | Path,
    files: Iterable[FileEntry],
    screenshot_base_dir: str | Path,
    screenshots: Sequence[str],
    history: Sequence[object],
    summary_only: bool = False,
    execution_mode: str = "native",
) -> str:
    """Read files and compose all sections of a prompt (rule M-13)."""
    shown = build_file_items(base_dir, files), screenshot_base_dir, screenshots, history
    return build_markdown_from_items(
        *shown, summary_only, execution_mode=execution_mode, base_dir=base_dir
    )


def build_summary_markdown(file_items: Sequence[Mapping[str, Any]]) -> str:
    """Return the body of the section ``## Files (Summary)``: a digest of each file (rule M-16)."""
    segments = tuple(files_segments(map(File.from_record, file_items), is_summary=True))
    return Prompt(segments[1:]).markdown


def _with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int | None
) -> "tuple[Results, ...]":
    if type(results) is tuple and not results:  # isinstance could run a foreign __class__
        return ()
    from aggregate.prompt.output.references import with_references  # 70 ms

    return with_references(results, cache_dir, threshold)


def _beads(execution_mode: str, base_dir: str | Path | None) -> str:
    return build_beads_section(base_dir or "") if execution_mode == BEADS_MODE else ""
