"""What a prompt is asked for, a task and a budget, and what was decided of each file for it."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.request.decisions import *
    from aggregate.base.request.request import *
else:
    __getattr__ = door(
        __name__,
        {
            "decisions": "FileChoice Level Missing Reason SentFile unknown_names",
            "request": "AUTO Amount Budget FileOrder MOST_TOKENS Place Task parse_amount parse_number",
        },
    )
