"""The files that a budget has room for, laid out as the Files section."""

from collections.abc import Iterable, Iterator, Sequence

from aggregate.compose.file_messages import error_sentence, file_warnings
from aggregate.compose.file_reading import FileReader
from aggregate.compose.selection import ResolvedFile, Selection
from aggregate.models.prompt import Section, Segment, Stability
from aggregate.models.rendered_file import RenderedFile
from aggregate.sections.files import files_section, rendered_segment


class FittedFiles:
    """The files of a prompt with a budget, as ``PromptStream`` takes them.

    Args:
        files: What is shown, in the order of the prompt.
        selection: All files that were asked for.
        reader: Has read them.
        remarks: What is told of globs.
        doubts: What is odd about what was asked for.
        refused: From ``refusals``, which looks at all files.
    """

    def __init__(
        self,
        files: Sequence[RenderedFile],
        selection: Selection,
        *,
        reader: FileReader,
        remarks: Sequence[ResolvedFile],
        doubts: Sequence[str],
        refused: tuple[str, ...],
    ) -> None:
        self._files = files
        self._selection = selection
        self._reader = reader
        self._remarks = remarks
        self._doubts = doubts
        self._refused = refused

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each."""
        remarks = (f"{remark.path}: {remark.problem}" for remark in self._remarks)
        errors = [error_sentence(file) for file in self._files if file.error]
        paths = (file.path for file in self._files)
        noted = file_warnings(self._selection, self._reader.notes, errors, shown=paths)
        return (*self._doubts, *noted, *remarks)

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        return self._refused

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files in the order of the prompt."""
        return iter(self._files)


def fitted_section(
    title: str, files: Iterable[RenderedFile], remainder: Segment | None
) -> Iterator[Segment]:
    """Yield the Files section, at its end what is not shown."""
    is_empty = True
    for segment in files_section(title, map(rendered_segment, files)):
        yield segment
        is_empty = False
    if remainder is not None:
        if is_empty:
            yield Segment(Section.FILES, title, Stability.STABLE)
        yield remainder
