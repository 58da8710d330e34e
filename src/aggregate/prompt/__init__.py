"""Sections to one prompt, and one prompt to one numbered file."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.prompt.api import (
        build_file_items,
        build_markdown,
        build_markdown_from_items,
        build_markdown_no_history,
        build_screenshots_section,
        build_summary_markdown,
        build_tier3_context,
        compose_prompt,
        run,
        stream_prompt,
    )
    from aggregate.prompt.asking import ALL_FILES, auto_budget, for_reader
    from aggregate.prompt.assemble import (
        Composition,
        PromptStream,
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
    from aggregate.prompt.discussions import DiscussionTurns, discussion_turns
    from aggregate.prompt.file_corpus import FileCorpus
    from aggregate.prompt.file_rendering import (
        RenderedFiles,
        check_refused,
        find_screenshots,
        read_images,
        render_files,
    )
    from aggregate.prompt.file_sizes import (
        MEASURED,
        FileSizes,
        FolderRow,
        compute_file_stats,
        folder_rows,
        group_files_by_dir,
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
    from aggregate.prompt.inputs import files_of_sections
    from aggregate.prompt.layout import Strategy, files_segments
    from aggregate.prompt.live_prompt import LivePrompt
    from aggregate.prompt.missing_grammars import missing_grammar, missing_grammar_notes
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
    from aggregate.prompt.open_files import OpenFiles, shown_otherwise
    from aggregate.prompt.project import (
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
        RankedFiles,
        ReadFiles,
        file_scores,
        rank_files,
        read_files,
        scores_of,
    )
    from aggregate.prompt.redact_prompt import FoundSecrets, redact_file, redact_text
    from aggregate.prompt.references import (
        NOTE_CHARACTERS,
        NOTES_SHOWN,
        compact_data,
        load_data_reference,
        prune_data_cache,
        recognise_reference,
    )
    from aggregate.prompt.request import Request
    from aggregate.prompt.request_files import select_files
    from aggregate.prompt.selection import ResolvedFile, Selection, display_path, own_output_filter
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
            "api": "build_file_items build_markdown build_markdown_from_items build_markdown_no_history build_screenshots_section build_summary_markdown build_tier3_context compose_prompt run stream_prompt",
            "asking": "ALL_FILES auto_budget for_reader",
            "assemble": "Composition PromptStream assemble with_references",
            "audit": "audit_data audit_of newest_audited read_audit record_audit row_data write_audit",
            "audit_text": "audit_lines audit_schema compare_manifests footing_lines heading_lines row_lines table_lines",
            "beads_reading": "build_beads_section",
            "candidates": "Candidates",
            "discussions": "DiscussionTurns discussion_turns",
            "file_corpus": "FileCorpus",
            "file_rendering": "RenderedFiles check_refused find_screenshots read_images render_files",
            "file_sizes": "FileSizes FolderRow MEASURED compute_file_stats folder_rows group_files_by_dir largest_folders measure_files",
            "fit.kept_levels": "grown_files",
            "fit_prompt": "compose_within_budget fit_prompt",
            "focus": "FOCUS_TIER FocusIndex focus_paths is_named parse_place",
            "inputs": "files_of_sections",
            "layout": "Strategy files_segments",
            "live_prompt": "LivePrompt",
            "missing_grammars": "missing_grammar missing_grammar_notes",
            "numbered_output": "audit_path find_next_increment is_output numbered_files prune_outputs reply_path request_log_path write_numbered",
            "open_files": "OpenFiles shown_otherwise",
            "project": "find_persona find_preset is_users_own open_project presets_of redaction_for request_for scope_of shared_personas",
            "ranked_files": "RankedFiles ReadFiles file_scores rank_files read_files scores_of",
            "redact_prompt": "FoundSecrets redact_file redact_text",
            "references": "NOTES_SHOWN NOTE_CHARACTERS compact_data load_data_reference prune_data_cache recognise_reference",
            "request": "Request",
            "request_files": "select_files",
            "selection": "ResolvedFile Selection display_path own_output_filter",
            "source_map": "SourceMapBuilder",
            "tier3": "Tier3Files tier3_segments",
            "token_counts": "PromptTokens SavedCounts SegmentCounter count_prompt",
            "view_pool": "render_all",
        },
    )
