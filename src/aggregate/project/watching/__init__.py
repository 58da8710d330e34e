"""Watch folders and files of a project, and report changed paths."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.watching.watching import ChangedPaths, TreeWatch
else:
    __getattr__ = door(__name__, {"watching": "ChangedPaths TreeWatch"})
