"""Sections to one prompt, and one prompt to one numbered file."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.prompt.api import compose_prompt, stream_prompt
    from aggregate.prompt.asking import ALL_FILES, for_reader, parse_place
    from aggregate.prompt.assemble import ComposedPrompt, Composition, assemble, with_references
    from aggregate.prompt.audit import audit_of
    from aggregate.prompt.audit_data import audit_data, row_data
    from aggregate.prompt.audit_file import newest_audited, read_audit, record_audit, write_audit
    from aggregate.prompt.audit_text import (
        audit_lines,
        footing_lines,
        heading_lines,
        row_lines,
        table_lines,
    )
    from aggregate.prompt.discussions import DiscussionTurns, discussion_turns
    from aggregate.prompt.file_corpus import FileCorpus
    from aggregate.prompt.file_messages import check_refused
    from aggregate.prompt.file_rendering import RenderedFiles, render_files
    from aggregate.prompt.file_sizes import MEASURED, FileSizes, measure_files
    from aggregate.prompt.file_stats import FolderRow, folder_rows
    from aggregate.prompt.focus import FOCUS_TIER, FocusIndex, is_named
    from aggregate.prompt.image_files import find_screenshots, read_images
    from aggregate.prompt.inputs import files_of_sections
    from aggregate.prompt.layout import Strategy, files_segments
    from aggregate.prompt.live_prompt import LivePrompt
    from aggregate.prompt.manifest import compare_manifests
    from aggregate.prompt.missing_grammars import missing_grammar, missing_grammar_notes
    from aggregate.prompt.numbered_output import (
        audit_path,
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
        recognise_reference,
    )
    from aggregate.prompt.request import Request
    from aggregate.prompt.request_files import select_files
    from aggregate.prompt.saved_counts import SavedCounts
    from aggregate.prompt.segment_counter import SegmentCounter
    from aggregate.prompt.selection import ResolvedFile, Selection, display_path, own_output_filter
    from aggregate.prompt.source_map import SourceMapBuilder
    from aggregate.prompt.tier3 import Tier3Files, focus_paths, tier3_segments
    from aggregate.prompt.token_counts import PromptTokens, count_prompt
    from aggregate.prompt.view_pool import render_all
    from aggregate.prompt.within_budget import BudgetFitting, compose_within_budget
else:
    __getattr__ = door(
        __name__,
        {
            "api": "compose_prompt stream_prompt",
            "asking": "ALL_FILES for_reader parse_place",
            "assemble": "ComposedPrompt Composition assemble with_references",
            "audit": "audit_of",
            "audit_data": "audit_data row_data",
            "audit_file": "newest_audited read_audit record_audit write_audit",
            "audit_text": "audit_lines footing_lines heading_lines row_lines table_lines",
            "discussions": "DiscussionTurns discussion_turns",
            "file_corpus": "FileCorpus",
            "file_messages": "check_refused",
            "file_rendering": "RenderedFiles render_files",
            "file_sizes": "FileSizes MEASURED measure_files",
            "file_stats": "FolderRow folder_rows",
            "focus": "FOCUS_TIER FocusIndex is_named",
            "image_files": "find_screenshots read_images",
            "inputs": "files_of_sections",
            "layout": "Strategy files_segments",
            "live_prompt": "LivePrompt",
            "manifest": "compare_manifests",
            "missing_grammars": "missing_grammar missing_grammar_notes",
            "numbered_output": "audit_path is_output numbered_files prune_outputs reply_path request_log_path write_numbered",
            "open_files": "OpenFiles shown_otherwise",
            "project": "find_persona find_preset is_users_own open_project presets_of redaction_for request_for scope_of shared_personas",
            "ranked_files": "RankedFiles ReadFiles rank_files read_files scores_of",
            "redact_prompt": "FoundSecrets redact_file redact_text",
            "references": "NOTES_SHOWN NOTE_CHARACTERS compact_data load_data_reference recognise_reference",
            "request": "Request",
            "request_files": "select_files",
            "saved_counts": "SavedCounts",
            "segment_counter": "SegmentCounter",
            "selection": "ResolvedFile Selection display_path own_output_filter",
            "source_map": "SourceMapBuilder",
            "tier3": "Tier3Files focus_paths tier3_segments",
            "token_counts": "PromptTokens count_prompt",
            "view_pool": "render_all",
            "within_budget": "BudgetFitting compose_within_budget",
        },
    )
