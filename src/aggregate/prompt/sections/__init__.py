"""Functions for rendering the sections of a prompt."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.sections.beads import *
    from aggregate.prompt.sections.discussion_section import *
    from aggregate.prompt.sections.fitted import *
    from aggregate.prompt.sections.section_shares import *
    from aggregate.prompt.sections.subagent_results import *
    from aggregate.prompt.sections.tree_and_hidden_files import *
else:
    __getattr__ = door(
        __name__,
        {
            "beads": "beads_section",
            "fitted": "cut_middle FittedSection quoted",
            "section_shares": "ChangedFile Fitted frame_of RevisionChanges Shares task_segment whole_sections",
            "subagent_results": "fit_results result_texts results_segments",
            "tree_and_hidden_files": "described_tree describing_files first_sentence most_tokens not_shown Tree",
            "discussion_section": "discussion_segments fit_history spoken_turn SpokenTurn turn_texts",
        },
    )
