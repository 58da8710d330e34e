"""Sections to one prompt, and one prompt to one numbered file."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.api import *
    from aggregate.prompt.asking.found_secrets import *
    from aggregate.prompt.asking.resolve import *
    from aggregate.prompt.asking.results import GroupStatus
    from aggregate.prompt.assemble import *
    from aggregate.prompt.files.file import *
    from aggregate.prompt.fit_prompt import *
    from aggregate.prompt.token_counts import *
else:
    __getattr__ = door(
        __name__,
        {
            "api": "compose_prompt stream_prompt",
            "asking.found_secrets": "redact_text",
            "asking.resolve": "AskedViews auto_budget default_budget NO_BUDGET parse_place read_instructions request_for",
            "asking.results": "GroupStatus",
            "assemble": "assemble Composition find_screenshots read_images",
            "files.file": "File",
            "fit_prompt": "compose_within_budget fit_prompt",
            "token_counts": "COUNT count_prompt PromptTokens SavedCounts SegmentCounter token_kind",
        },
    )
