"""Find, read and write discussion files, keeping the rest of their text."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.history.history_reader import *
    from aggregate.project.history.history_writer import *
else:
    __getattr__ = door(
        __name__,
        {
            "history_reader": "DEFAULT discussion_name find_history_file history_file named_discussions NO_DISCUSSION read_discussion SCRIPTED_DISCUSSION",
            "history_writer": "append_turns copy_discussion replace_first_turns replace_last_turns",
        },
    )
