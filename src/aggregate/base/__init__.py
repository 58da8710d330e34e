"""Foundations of all packages: files, processes, redaction, texts, token counts."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.errors import *
    from aggregate.base.files import *
    from aggregate.base.messages import *
    from aggregate.base.task_budget import *
    from aggregate.base.values import *
else:
    __getattr__ = door(
        __name__,
        {
            "errors": "AnchorError ConfigError DeadlineError Stopped ToolError",
            "files": "as_runs Entry FileEntry FileItem marked_runs ShownText Span ViewRequest",
            "messages": "install_command",
            "task_budget": "FileOrder Finish Given Guess Level Missing Pick Reason SentFile",
            "values": "isolated_copy Value",
        },
    )
