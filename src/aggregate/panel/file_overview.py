"""All files beside the prompt, as the page's tree shows them, kept from one prompt to the next."""

from collections.abc import Iterable, Mapping

from aggregate.panel.composing import ComposedDraft
from aggregate.panel.file_rows import Marks, composed_rows, file_sizes, stale_slices
from aggregate.panel.file_table import FileTable, Row, plain_rows
from aggregate.panel.omitted_files import OmittedFiles
from aggregate.panel.prompt_data import CacheMarks
from aggregate.panel.protocol import FilesData
from aggregate.prompt import ResolvedFile


class FileOverview:
    """The table of files and what its rows are made of; for one thread at a time.

    Attributes:
        listed: All files that could enter.
    """

    def __init__(self) -> None:
        self.listed: Mapping[str, ResolvedFile] = {}
        self._table = FileTable()
        self._omitted = OmittedFiles()
        self._sizes: Mapping[str, int] = {}
        self._shown_sizes: Mapping[str, int] | None = None

    def list(self, listed: Mapping[str, ResolvedFile]) -> None:
        """Take all files that there are now."""
        self._sizes = file_sizes(listed)
        self.listed = listed

    def measure(self, paths: Iterable[str]) -> None:
        """Measure files that were changed."""
        touched = {path: self.listed[path] for path in paths if path in self.listed}
        self._sizes = {**self._sizes, **file_sizes(touched)}

    def show_names(self, revision: int) -> None:
        """Let the page see the names of the files, before there is a prompt."""
        self._table.update(plain_rows(self._sizes), revision)

    def rows(
        self, composed: ComposedDraft, marks: CacheMarks, last: ComposedDraft | None = None
    ) -> Mapping[str, Row]:
        """Return the rows of all files beside a prompt.

        Args:
            composed: The prompt.
            marks: What a cache does with it.
            last: The prompt that the rows of now are of; they are looked through for what may stay.
        """
        known = Marks(
            marks.changed,
            frozenset(file.path for file in composed.composition.files if file.secrets),
            frozenset(stale_slices(composed)),
            self._omitted.of(composed),
        )
        earlier = last if last is not None and self._is_alike(last, composed) else None
        return composed_rows(composed, self.listed, self._sizes, known, self._table.rows, earlier)

    def _is_alike(self, last: ComposedDraft, composed: ComposedDraft) -> bool:
        """Tell whether two prompts with a budget are of the same files, none of which was changed."""
        return (
            last.request.budget is not None
            and composed.request.budget is not None
            and self._sizes is self._shown_sizes
            and last.selected.keys() == composed.selected.keys()
        )

    def show(self, rows: Mapping[str, Row], revision: int) -> None:
        """Let the page see the rows of a prompt."""
        self._table.update(rows, revision)
        self._shown_sizes = self._sizes

    def data(self, since: int | None) -> FilesData:
        """Return the table as the page takes it; the argument is that of ``FileTable.data``."""
        return self._table.data(since)
