"""Reading single files of the project for the page: no other than those that it may show."""

from aggregate.base.disk import is_inside, real_path
from aggregate.base.values import Scope
from aggregate.project.files import SourceFile, read_file
from aggregate.prompt import ResolvedFile


def read_listed(file: ResolvedFile, scope: Scope) -> SourceFile:
    """Return a file that was listed, as it is now; a link out of the project that has come since is not followed."""
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="is a link out of the project: not read")
    return read_file(file.file, hashed=True)
