"""What is said of files that are not shown, or not as they were asked for: in a prompt and in warnings."""

from collections.abc import Iterable, Sequence

from aggregate.base.errors import ScopeError
from aggregate.base.text import heading_text
from aggregate.base.values import RenderedFile
from aggregate.prompt.file_reading import FileNotes
from aggregate.prompt.selection import Selection


def check_refused(refused: Sequence[str]) -> None:
    """Make sure that nothing was refused.

    Raises:
        ScopeError: Something was; the message is the first reason.
    """
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def error_text(path: str, reason: str, *, is_remark: bool = False) -> str:
    """Return the text in place of a file that was not read; a missing file's is fixed (rule M-5)."""
    return f"{'NOTE' if is_remark else 'ERROR'}: {reason}: {heading_text(path)}"


def file_warnings(
    selection: Selection,
    notes: FileNotes,
    errors: Iterable[str],
    *,
    shown: Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Return what is told of files: what was left out, what is doubtful, and which are not shown.

    Args:
        selection: All files.
        notes: What is doubtful about some.
        errors: A sentence for each that is not shown.
        shown: The paths of those whose doubts are told; by default all.
    """
    paths = [file.path for file in selection.files] if shown is None else shown
    doubtful = (*selection.skipped, *notes.in_order(paths))
    return (*(f"{place}: {problem}" for place, problem in doubtful), *errors)


def refusals(selection: Selection) -> tuple[str, ...]:
    """Return a sentence for each file that the scope does not allow."""
    refused = (file for file in selection.files if file.refused)
    return tuple(error_text(file.path, file.problem) for file in refused)


def error_sentence(file: RenderedFile) -> str:
    """Return why a file is not shown, in one line."""
    return file.content.splitlines()[0]


def problem_text(problem: str, path: str) -> str:
    """Return a view's problem as a note says it, behind the file's path."""
    return problem.removeprefix("ERROR: ").removesuffix(f" in {heading_text(path)}")
