"""Functions for rendering the sections of a prompt."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.sections.cache_diffs import *
    from aggregate.prompt.sections.subagent_results import *
else:
    __getattr__ = door(
        __name__,
        {
            "cache_diffs": "changed_heading changed_segment changed_since_heading diff_segment gone_segment is_sent patched shown_in_older sent_lines unified_diff",
            "subagent_results": "one_line results_segments",
        },
    )
