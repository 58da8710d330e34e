"""Functions for rendering the sections of a prompt."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.sections.beads import *
    from aggregate.prompt.sections.cache_diffs import *
    from aggregate.prompt.sections.given import *
    from aggregate.prompt.sections.subagent_results import *
    from aggregate.prompt.sections.tree import *
    from aggregate.prompt.sections.turns import *
else:
    __getattr__ = door(
        __name__,
        {
            "beads": "beads_section",
            "cache_diffs": "CHANGED_HEADING CHANGED_OR_MORE CHANGED_SINCE diff_segment file_lines gone_segment is_sent patched sent_lines shown_in_older unified_diff",
            "given": "cut_middle quoted task_segment",
            "subagent_results": "one_line results_segments",
            "tree": "Tree describing_files first_sentence",
            "turns": "discussion_segments fit_history spoken_turn SpokenTurn turn_texts",
        },
    )
