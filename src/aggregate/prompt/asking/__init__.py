"""What a prompt is asked to contain: its request, project and results."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.asking.found_secrets import *
    from aggregate.prompt.asking.project import *
    from aggregate.prompt.asking.request import *
    from aggregate.prompt.asking.results import *
else:
    __getattr__ = door(
        __name__,
        {
            "found_secrets": "FoundSecrets",
            "project": "discussion_turns DiscussionTurns find_persona find_preset is_users_own open_project presets_of redaction_for scope_of shared_personas",
            "request": "ALL_FILES find_named files_of_sections focus_paths for_reader is_named Request Strategy unknown_focus",
            "results": "AnswerKind AnswerSource result_text value_text",
        },
    )
