"""Sections to one prompt, and one prompt to one numbered file."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.api import *
    from aggregate.prompt.asking.project import *
    from aggregate.prompt.asking.resolve import *
    from aggregate.prompt.assemble import *
    from aggregate.prompt.files.file import *
    from aggregate.prompt.files.file_reading import *
    from aggregate.prompt.fit_prompt import *
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
            "asking.project": "FoundSecrets redact_text",
            "asking.resolve": "AskedViews NO_BUDGET WITHOUT_MODEL auto_budget parse_place read_instructions request_for",
            "assemble": "Composition assemble edited_blocks find_screenshots known_files known_rows read_images with_references",
            "files.file": "File",
            "files.file_reading": "missing_grammars redact_file",
            "fit_prompt": "compose_within_budget Composer",
            "sections.fitted": "FittedSection",
            "sections.subagent_results": "READ_RESULT fit_results result_texts results_within",
            "token_counts": "COUNT PromptTokens SavedCounts SegmentCounter count_prompt token_kind",
        },
    )
