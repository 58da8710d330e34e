"""Functions for rendering the sections of a prompt."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.sections.beads import *
    from aggregate.prompt.sections.fitted import *
    from aggregate.prompt.sections.subagent_results import *
    from aggregate.prompt.sections.tree import *
    from aggregate.prompt.sections.turns import *
else:
    __getattr__ = door(
        __name__,
        {
            "beads": "beads_section",
            "fitted": "attached_section Count cut_middle fit_given FittedSection instructions_section largest_size NO_ROOM project_segment quoted task_line task_segment tokens_of",
            "subagent_results": "fit_results result_texts results_segments",
            "tree": "Called described_tree describing_files first_sentence Hidden most_tokens not_shown NOT_SHOWN Tree",
            "turns": "discussion_segments fenced_lines fit_history safe_discussion_segments spoken_turn SpokenTurn turn_texts",
        },
    )
