"""Sections to one prompt, and one prompt to one numbered file."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.prompt.api import (
        compose_prompt,
        run,
        stream_prompt,
    )
    from aggregate.prompt.asking import ALL_FILES, auto_budget, for_reader
    from aggregate.prompt.assemble import (
        Composition,
        assemble,
        with_references,
    )
    from aggregate.prompt.audit import (
        audit_data,
        audit_of,
        newest_audited,
        read_audit,
        record_audit,
        row_data,
        write_audit,
    )
    from aggregate.prompt.audit_text import (
        audit_lines,
        audit_schema,
        compare_manifests,
        footing_lines,
        heading_lines,
        row_lines,
        table_lines,
    )
    from aggregate.prompt.beads_reading import build_beads_section
    from aggregate.prompt.candidates import Candidates
    from aggregate.prompt.file_corpus import FileCorpus
    from aggregate.prompt.file_reading import missing_grammars, redact_file
    from aggregate.prompt.file_rendering import (
        RenderedFiles,
        render_files,
    )
    from aggregate.prompt.file_sizes import (
        MEASURED,
        FileSizes,
        FolderRow,
        folder_rows,
        largest_folders,
        measure_files,
    )
    from aggregate.prompt.fit.kept_levels import grown_files
    from aggregate.prompt.fit_prompt import compose_within_budget, fit_prompt
    from aggregate.prompt.focus import (
        FOCUS_TIER,
        FocusIndex,
        focus_paths,
        is_named,
        parse_place,
    )
    from aggregate.prompt.layout import Strategy, files_segments
    from aggregate.prompt.live_prompt import LivePrompt
    from aggregate.prompt.numbered_output import (
        audit_path,
        find_next_increment,
        is_output,
        numbered_files,
        prune_outputs,
        reply_path,
        request_log_path,
        write_numbered,
    )
    from aggregate.prompt.project import (
        DiscussionTurns,
        discussion_turns,
        files_of_sections,
        find_persona,
        find_preset,
        is_users_own,
        open_project,
        presets_of,
        redaction_for,
        request_for,
        scope_of,
        shared_personas,
    )
    from aggregate.prompt.ranked_files import (
        OpenFiles,
        RankedFiles,
        ReadFiles,
        file_scores,
        rank_files,
        read_files,
        scores_of,
    )
    from aggregate.prompt.redact_prompt import FoundSecrets, redact_text
    from aggregate.prompt.references import (
        NOTE_CHARACTERS,
        NOTES_SHOWN,
        compact_data,
        load_data_reference,
        prune_data_cache,
        recognise_reference,
    )
    from aggregate.prompt.request import Request
    from aggregate.prompt.screenshots import find_screenshots, read_images
    from aggregate.prompt.selection import ResolvedFile, Selection, own_output_filter, select_files
    from aggregate.prompt.source_map import SourceMapBuilder
    from aggregate.prompt.tier3 import Tier3Files, tier3_segments
    from aggregate.prompt.token_counts import (
        PromptTokens,
        SavedCounts,
        SegmentCounter,
        count_prompt,
    )
    from aggregate.prompt.view_pool import render_all
else:
    __getattr__ = door(
        __name__,
        {
            "api": "compose_prompt run stream_prompt",
            "asking": "ALL_FILES auto_budget for_reader",
            "assemble": "Composition assemble with_references",
            "audit": "audit_data audit_of newest_audited read_audit record_audit row_data write_audit",
            "audit_text": "audit_lines audit_schema compare_manifests footing_lines heading_lines row_lines table_lines",
            "beads_reading": "build_beads_section",
            "candidates": "Candidates",
            "file_corpus": "FileCorpus",
            "file_rendering": "RenderedFiles render_files",
            "file_sizes": "FileSizes FolderRow MEASURED folder_rows largest_folders measure_files",
            "fit.kept_levels": "grown_files",
            "fit_prompt": "compose_within_budget fit_prompt",
            "focus": "FOCUS_TIER FocusIndex focus_paths is_named parse_place",
            "layout": "Strategy files_segments",
            "live_prompt": "LivePrompt",
            "file_reading": "missing_grammars redact_file",
            "numbered_output": "audit_path find_next_increment is_output numbered_files prune_outputs reply_path request_log_path write_numbered",
            "project": "DiscussionTurns discussion_turns files_of_sections find_persona find_preset is_users_own open_project presets_of redaction_for request_for scope_of shared_personas",
            "ranked_files": "OpenFiles RankedFiles ReadFiles file_scores rank_files read_files scores_of",
            "redact_prompt": "FoundSecrets redact_text",
            "references": "NOTES_SHOWN NOTE_CHARACTERS compact_data load_data_reference prune_data_cache recognise_reference",
            "request": "Request",
            "screenshots": "find_screenshots read_images",
            "selection": "ResolvedFile Selection own_output_filter select_files",
            "source_map": "SourceMapBuilder",
            "tier3": "Tier3Files tier3_segments",
            "token_counts": "PromptTokens SavedCounts SegmentCounter count_prompt",
            "view_pool": "render_all",
        },
    )
