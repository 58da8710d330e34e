"""Sections to one prompt, and one prompt to one numbered file."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.api import *
    from aggregate.prompt.asking.found_secrets import *
    from aggregate.prompt.asking.project import *
    from aggregate.prompt.asking.request import *
    from aggregate.prompt.asking.resolve import *
    from aggregate.prompt.assemble import *
    from aggregate.prompt.composer import *
    from aggregate.prompt.corpus.file_corpus import *
    from aggregate.prompt.corpus.ranked_files import *
    from aggregate.prompt.corpus.sheet import *
    from aggregate.prompt.edited_files import *
    from aggregate.prompt.files.file import *
    from aggregate.prompt.files.file_reading import *
    from aggregate.prompt.files.file_rendering import *
    from aggregate.prompt.files.selection import *
    from aggregate.prompt.fit.sent_files import *
    from aggregate.prompt.fit_prompt import *
    from aggregate.prompt.output.split import *
    from aggregate.prompt.sections.fitted import FittedSection
    from aggregate.prompt.sections.subagent_results import (
        READ_RESULT,
        fit_results,
        result_texts,
        results_within,
    )
    from aggregate.prompt.token_counts import *
else:
    __getattr__ = door(
        __name__,
        {
            "api": "compose_prompt stream_prompt",
            "asking.found_secrets": "FoundSecrets redact_text",
            "assemble": "Composition assemble find_screenshots read_images with_references",
            "composer": "Composer",
            "edited_files": "edited_blocks known_files known_rows",
            "corpus.file_corpus": "FileCorpus read_files",
            "files.file": "File",
            "files.file_reading": "missing_grammars redact_file",
            "files.file_rendering": "RenderedFiles render_files",
            "fit.sent_files": "grown_files",
            "fit_prompt": "compose_within_budget",
            "sections.subagent_results": "READ_RESULT fit_results result_texts results_within",
            "sections.fitted": "FittedSection",
            "asking.project": "DiscussionTurns discussion_turns files_of_sections find_persona find_preset is_users_own open_project presets_of redaction_for scope_of shared_personas",
            "corpus.ranked_files": "RankedFiles check_focus rank_files",
            "asking.request": "ALL_FILES FOCUS_TIER Request Strategy find_named focus_paths for_reader is_named",
            "asking.resolve": "AskedViews NO_BUDGET WITHOUT_MODEL auto_budget parse_place read_instructions request_for",
            "files.selection": "own_output_filter select_files",
            "corpus.sheet": "SHEET_TOKENS Sheet is_unsure make_sheet read_answer with_answer",
            "output.split": "cuts_of split_prompt",
            "token_counts": "PromptTokens SavedCounts SegmentCounter count_prompt",
        },
    )
