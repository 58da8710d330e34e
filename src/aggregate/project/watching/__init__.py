"""."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.watching.git_activity import GitActivity
    from aggregate.project.watching.watching import Changes, TreeWatch
else:
    __getattr__ = door(
        __name__,
        {
            "git_activity": "GitActivity",
            "watching": "Changes TreeWatch",
        },
    )
