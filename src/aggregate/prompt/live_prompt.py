"""A prompt that is composed again and again in one process, as files change: an editor's panel, a server."""

import os
import time
from collections.abc import Callable, Iterable, Sequence

from aggregate.base.disk.reading import is_file, real_path
from aggregate.base.files import RenderedFile
from aggregate.project.index import FileState, Index, look_at, user_index
from aggregate.project.paths import MARKERS
from aggregate.prompt.assemble import Composition, assemble
from aggregate.prompt.file_reading import FileReader
from aggregate.prompt.file_rendering import FileStream, RenderedFiles, error_sentence, refusals
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile, Selection, select_files

# Names of files that decide on others.
_DECIDING = frozenset({".gitignore", ".gitattributes", *MARKERS})


class LivePrompt:
    """Composes one request repeatedly; what has not changed on the disk meanwhile is neither read nor rendered again.

    It keeps the texts of all files in memory. Each prompt is the same as that of ``compose_prompt`` at that moment.

    Args:
        request: What to compose.
        index: Where views are kept from run to run; by default the user's.
        select: Returns the files of a request as they are now.
    """

    def __init__(
        self,
        request: Request,
        *,
        index: Index | None = None,
        select: Callable[[Request], Selection] = select_files,
    ) -> None:
        self._request = request
        self._select_files = select
        self._index = index or user_index()
        self._selection = Selection(())
        self._remarks: Sequence[RenderedFile] = ()
        self._begin()

    def _begin(self) -> None:
        self._reader = FileReader(self._request.redaction, self._selection.generated)
        self._known: dict[str, tuple[ResolvedFile, FileState | None]] = {}
        self._rendered: dict[str, RenderedFile] = {}

    @property
    def selection(self) -> Selection:
        """The files of the last prompt, as they were asked for."""
        return self._selection

    def ask(self, request: Request) -> None:
        """Compose another request from now on; files that it shows as before are not rendered again."""
        before, self._request = self._request, request
        if request.redaction != before.redaction:
            self._begin()

    def compose(self, changed: Iterable[str] | None = None) -> Composition:
        """Return the prompt as it is now.

        Args:
            changed: Where the caller watches the folders: the paths of all files that were changed, made, deleted or
                renamed since the last call, as the prompt shows them. Nothing else is looked at then, unless one of
                them is no file of the prompt or is gone, or decides on others as a ``.gitignore`` does. By default
                folders are listed and all files are looked at.
        """
        paths = None if changed is None else [*changed]
        if paths is not None and self._are_only_edits(paths):
            self._render([self._known[path][0] for path in paths])
        else:
            generated = self._selection.generated
            self._selection = self._select_files(self._request)
            if self._selection.generated != generated:
                self._begin()
            self._render(self._changed(self._selection.files))
        present = [self._rendered[path] for path in self._known if path in self._rendered]
        files = (*present, *self._remarks)
        errors = (error_sentence(file) for file in files if file.error)
        warnings = self._reader.warnings(self._selection, errors)
        doubts = (*self._request.doubts, *warnings)
        return assemble(self._request, RenderedFiles(files, doubts, refusals(self._selection)))

    def _are_only_edits(self, paths: Sequence[str]) -> bool:
        """Tell whether the listing of files is as before; a link that has come may lead out of the project."""
        base = real_path(self._request.base_dir)
        return bool(self._known) and all(
            path in self._known
            and path.rpartition("/")[2] not in _DECIDING
            and is_file(self._known[path][0].file)
            and real_path(os.path.join(base, path)) == os.path.normpath(os.path.join(base, path))
            for path in paths
        )

    def _changed(self, files: Sequence[ResolvedFile]) -> list[ResolvedFile]:
        """Return those of the selected files that are not as they were rendered, and forget those that are gone."""
        changed: list[ResolvedFile] = []
        present: dict[str, tuple[ResolvedFile, FileState | None]] = {}
        for file in files:
            known, before = present[file.path] = self._known.get(file.path, (file, None))
            now = look_at(file.file, seen_ns=time.time_ns())
            if not (before and now and before.still_holds(now)) or known != file:
                changed.append(file)
        for path in self._known.keys() - present.keys():
            self._reader.forget(path)
            self._rendered.pop(path, None)
        self._known = present
        return changed

    def _render(self, files: Sequence[ResolvedFile]) -> None:
        for file in files:
            self._reader.forget(file.path)
            self._rendered.pop(file.path, None)
            self._known[file.path] = file, look_at(file.file, seen_ns=time.time_ns())
        rendered_files = self._stream(files)
        # Remarks stand behind the files; of a glob they speak of all its files, so they are made again.
        end = len(rendered_files) - len(self._reader.remarks(files))
        self._rendered |= {rendered.path: rendered for rendered in rendered_files[:end]}
        self._remarks = self._stream(self._reader.remarks(self._selection.files))

    def _stream(self, files: Sequence[ResolvedFile]) -> list[RenderedFile]:
        selection = Selection(tuple(files), generated=self._selection.generated)
        return list(FileStream(selection, self._reader, self._index))
