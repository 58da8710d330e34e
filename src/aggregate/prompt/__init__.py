"""Sections to one prompt, and one prompt to one numbered file."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.api import *
    from aggregate.prompt.assemble import *
    from aggregate.prompt.composer import *
    from aggregate.prompt.edited_files import *
    from aggregate.prompt.file_corpus import *
    from aggregate.prompt.file_reading import *
    from aggregate.prompt.file_rendering import *
    from aggregate.prompt.finish import *
    from aggregate.prompt.fit.sent_files import *
    from aggregate.prompt.fit_prompt import *
    from aggregate.prompt.fitted_results import READ_RESULT, fit_results, result_texts
    from aggregate.prompt.project import *
    from aggregate.prompt.ranked_files import *
    from aggregate.prompt.request import *
    from aggregate.prompt.sections.fitted import FittedSection
    from aggregate.prompt.selection import *
    from aggregate.prompt.sheet import *
    from aggregate.prompt.split import *
    from aggregate.prompt.token_counts import *
else:
    __getattr__ = door(
        __name__,
        {
            "api": "compose_prompt stream_prompt",
            "assemble": "Composition FoundSecrets assemble find_screenshots no_file_fits read_images redact_text with_references",
            "composer": "Composer",
            "edited_files": "KnownRow edited_blocks known_rows",
            "file_corpus": "FileCorpus",
            "file_reading": "missing_grammars redact_file",
            "file_rendering": "RenderedFiles render_files",
            "finish": "read_instructions",
            "fit.sent_files": "grown_files",
            "fit_prompt": "compose_within_budget",
            "fitted_results": "READ_RESULT fit_results result_texts",
            "sections.fitted": "FittedSection",
            "project": "DiscussionTurns discussion_turns files_of_sections find_persona find_preset is_users_own open_project presets_of redaction_for request_for scope_of shared_personas",
            "ranked_files": "check_focus",
            "request": "ALL_FILES FOCUS_TIER FocusIndex NO_BUDGET Request Strategy WITHOUT_MODEL auto_budget focus_paths for_reader is_named parse_place",
            "selection": "ResolvedFile own_output_filter select_files",
            "sheet": "SHEET_TOKENS Sheet is_unsure make_sheet read_answer with_answer",
            "split": "cuts_of split_prompt",
            "token_counts": "PromptTokens SavedCounts SegmentCounter count_prompt",
        },
    )
