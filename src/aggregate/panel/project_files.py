"""Reading single files of the project for the page: no other than those that it may show."""

from typing import TYPE_CHECKING

from aggregate.compose.selection import ResolvedFile
from aggregate.disk.roots import is_inside, real_path
from aggregate.models.scope import Scope
from aggregate.sources.file_content import SourceFile, read_file

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


def read_listed(file: ResolvedFile, scope: Scope) -> SourceFile:
    """Return a file that was listed, as it is now; a link out of the project that has come since is not followed."""
    if file.problem or not file.file:
        return SourceFile("", error=file.problem or "cannot be read")
    if not scope.allow_outside and not is_inside(real_path(file.file), scope.root):
        return SourceFile("", error="is a link out of the project: not read")
    return read_file(file.file, hashed=True)


def without_secrets(
    file: ResolvedFile, source: SourceFile, redaction: "Redaction | None"
) -> tuple[ResolvedFile, SourceFile]:
    """Return a file with its secrets replaced, in the labels of its slices too, where the prompt replaces them."""
    if redaction is None:
        return file, source
    from aggregate.compose.redact_prompt import redact_file, with_clean_labels  # its rules compile

    clean_file = with_clean_labels(file, redaction)
    if source.error:
        return clean_file, source
    return clean_file, redact_file(file, source, redaction)[1]
