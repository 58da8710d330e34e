"""Watch folders and files of a project, and report changed paths."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.watching.watch_backends import *
    from aggregate.project.watching.watching import *
else:
    __getattr__ = door(
        __name__,
        {
            "watch_backends": "Backend Entry Observed Report system_backend",
            "watching": "ChangedPaths TreeWatch",
        },
    )
