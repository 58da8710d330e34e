"""Record the inputs and output of a run, for replays and for prompts after a few edits."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from aggregate.base.disk.reading import is_inside, real_path
from aggregate.base.disk.witnesses import UNSEEN, Own, Witnesses, watch
from aggregate.base.disk.writing import cache_folder, replace_own
from aggregate.base.errors import AggregateError
from aggregate.base.files import Entry, FileItem
from aggregate.base.redaction import redact
from aggregate.cli import replay
from aggregate.cli.output import record
from aggregate.cli.replay import Output, RememberedRun, ThisRun, Written
from aggregate.project.configuration import CONFIG_NAME, Project
from aggregate.project.index import Index
from aggregate.prompt import Composition, File
from aggregate.prompt.asking import Request, files_of_sections
from aggregate.prompt.document import END, SEPARATOR, Section
from aggregate.prompt.files import FileReader, FileStream, Selection, rendered_segment
from aggregate.prompt.output.numbered_output import audit_path, request_log_path
from aggregate.sending import LoggedRequest, read_request, write_request
from aggregate.sending.cache import HashedPrompt, HashedSegment

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens

# Files that affect more than their own block.
_STEERING = (".gitignore", ".gitattributes", ".gitmodules", CONFIG_NAME)
# A recorded file: path, location, number of its entry, whether a glob matches it, whether it is an error, and its own
# entry. The location is ``""`` if it may affect more than its own block. The own entry is for files without a number.
Row = tuple[str, str, int, bool, bool, tuple[str, bool, str] | None]
_PART_BYTES: Final = 1 << 20
_FILES: Final = Section.FILES.value
_MOST_ALL: Final = 100_000_000  # bytes of all remembered runs; the oldest are deleted


def _edited_prompt(this: ThisRun, request: Request, *, counts: bool) -> "EditedPrompt | None":
    """Render the changed files into the earlier prompt; ``None`` if other blocks may change too."""
    run = this.earlier
    if run is None or not (this.changed and run.pages and run.written):
        return None
    # The last prompt may be deleted, or another process is still writing its records.
    with suppress(OSError, ValueError):
        values, warnings = json.loads(run.pages)
        files = _known_files(request, values)
        by_file = {file.file: file for file in files if file.file}
        if not this.changed.keys() <= by_file.keys():
            return None
        blocks = _edited_blocks(request, [by_file[path] for path in this.changed])
        last = blocks and replay.last_prompt(run)
        logged = read_request(last.path) if last else None
        if not blocks or not last or not logged:
            return None
        with last.path.open("rb") as file:
            old = mmap(file.fileno(), 0, access=ACCESS_READ)
        segments = [*logged.prompt.segments]
        numbers = {part.source: n for n, part in enumerate(segments) if part.section == _FILES}
        if sha256(old).hexdigest() != run.written.prompt or not blocks.keys() <= numbers.keys():
            return None
        texts = {numbers[path]: text for path, text in blocks.items()}
        for number, text in texts.items():
            source = segments[number].source
            tokens = _count(text, is_last=number == len(segments) - 1) if counts else 0
            segments[number] = HashedSegment.of(text, tokens, section=_FILES, source=source)
        prompt = HashedPrompt(tuple(segments))
        return EditedPrompt(files, warnings, counts, logged, old, texts, prompt)
    return None


@dataclass(frozen=True, slots=True)
class EditedPrompt:
    """The last prompt with the blocks of changed files replaced.

    ``WrittenPrompt`` uses it like a ``Composition``.
    """

    rows: "Sequence[File]"
    warnings: Sequence[str]
    _counts: bool
    _earlier: LoggedRequest
    _old: mmap
    _texts: Mapping[int, str]  # the new segments by their numbers
    _new: HashedPrompt

    choices: ClassVar[tuple[()]] = ()
    missing: ClassVar[tuple[()]] = ()
    guess: ClassVar[None] = None

    @property
    def pieces(self) -> Iterator[bytes]:
        """The bytes of the prompt: unchanged parts are read from the old file."""
        start = end = 0
        for number, segment in enumerate(self._earlier.prompt.parts, start=1):
            if number in self._texts:
                yield from self._copied(start, end)
                yield self._texts[number].encode()
                start = end + segment.size
            end += segment.size + len(SEPARATOR)
        yield from self._copied(start, len(self._old))

    def _copied(self, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, _PART_BYTES):
            yield self._old[at : min(at + _PART_BYTES, end)]

    def tokens(self) -> "PromptTokens | None":
        if not self._counts:
            return None
        from aggregate.prompt import PromptTokens  # a quiet run counts nothing

        parts = self._new.parts
        keys = [(Section(part.section), part.source) for part in parts]
        return PromptTokens.of(keys, [part.tokens for part in parts])

    def record(self, path: Path) -> None:
        write_request(LoggedRequest(path, self._new))


def _count(text: str, *, is_last: bool) -> int:
    from aggregate.base.tokens import count_batch  # slow to load, and a quiet run does not count

    return count_batch([text + (END if is_last else SEPARATOR)])[0]


class Recording:
    """Watches a run from its beginning; does nothing if ``this`` is ``None``."""

    def __init__(self, this: ThisRun | None) -> None:
        self._this = this
        if this:
            self._seen = watch()
            self._output = record()

    def begin(self, request: Request, *, counts: bool) -> EditedPrompt | None:
        """List the output folder before a prompt is written.

        Return the earlier prompt with the changed files; ``None`` if other blocks may change too.
        """
        if self._this is None:
            return None
        self._request = request
        self._own = Own(os.path.realpath(request.output_dir), request.namespace)
        self._before = self._own.names()
        return _edited_prompt(self._this, request, counts=counts)

    def keep(self) -> None:
        """Store the run, unless its result depends on more than files."""
        if self._this:
            with suppress(OSError, AggregateError):
                self._save(self._this, self._look_around(self._this), self._output)

    def keep_prompt(
        self, path: Path, stream: "Composition | EditedPrompt", project: Project
    ) -> None:
        """Store the run with the prompt it wrote to ``path``."""
        this = self._this
        if not this or self._seen.doubts or not (str(path).isascii() and str(path).isprintable()):
            return
        # Files read only by git may be unreadable here.
        with suppress(OSError, AggregateError):
            written = Written(*map(_hash_of, (path, request_log_path(path), audit_path(path))))
            self._seen.paths.discard(str(path))  # read for its hash only
            if isinstance(stream, Composition):
                witnesses, pages = self._look_around(this), self._pages(stream, project)
            elif this.earlier is None:
                return
            else:
                earlier, pages = this.earlier.witnesses, this.earlier.pages
                witnesses = earlier.with_files(this.changed, now_ns=this.began_ns)
            self._save(this, witnesses, _marked(self._output, path), written, pages)

    def _save(
        self,
        this: ThisRun,
        witnesses: Witnesses | None,
        output: Output,
        written: Written | None = None,
        pages: bytes = b"",
    ) -> None:
        path = replay.path_of(this.key)
        if witnesses is None or self._seen.doubts or path is None or not path.parent.is_dir():
            return
        names = "\n".join((*witnesses.files.paths, *(text for _, text in output)))
        if redact(names, self._request.redaction).findings:
            return  # a cache must not contain secrets, not even as names
        folder, project = str(self._request.output_dir), self._request.written_in
        root = str(project) if project else None
        run = RememberedRun(
            this.key, witnesses, output, written, folder, root, this.began_ns, pages
        )
        data = run.pack()
        if len(data) <= replay.MOST_BYTES:
            replace_own(path, data)
            _remove_old(path)

    def _pages(self, composition: Composition, project: Project) -> bytes:
        """Pack the blocks of a prompt for reuse; ``b""`` if one depends on other files."""
        config = project.path or Path(CONFIG_NAME)
        sections = files_of_sections(config, self._request)
        rows = _known_rows(composition, [os.path.abspath(config), *sections, *self._steering])
        return json.dumps([rows, composition.warnings]).encode() if rows else b""

    @cached_property
    def _steering(self) -> list[str]:
        """Paths of files that affect more than their own block."""
        from aggregate.project.witnessed import steering_paths

        request = self._request
        folders = (request.base_dir, request.shown_from, request.screenshot_dir, request.output_dir)
        return [*steering_paths(self._seen, folders)]

    def _look_around(self, this: ThisRun) -> Witnesses | None:
        """Return the present state of the run's inputs; ``None`` if it cannot be known."""
        from aggregate.project.witnessed import paths_behind, program_paths

        if self._seen.doubts:
            return None
        own = self._own
        cache = str(cache_folder())
        caches = f"{cache}/", f"{real_path(cache)}/"
        trees = [*map(real_path, self._seen.trees)]
        listed = [*trees, real_path(str(self._request.base_dir))]
        if any(is_inside(path, folder) for path in caches for folder in listed):
            return None  # storing the run would change a folder of the project
        paths = [
            path
            for path in (*self._steering, *paths_behind(self._seen, trees))
            if not f"{path}/".startswith((*UNSEEN, *caches)) and not path.endswith(".pyc")
            if not (path.startswith(own.folder) and own.has_record(path))
        ]
        earlier = this.earlier and this.earlier.witnesses
        if earlier and earlier.own == own and earlier.covers(paths):
            # Compared with the disk at the start: only ``changed`` is new.
            witnesses = earlier.with_files(this.changed, now_ns=this.began_ns)
            return witnesses.following(program_paths(), seen_ns=this.began_ns)
        return Witnesses.of(
            own,
            paths,
            followed=dict.fromkeys(program_paths()),
            before=self._before,
            began_ns=this.began_ns,
        )


def _known_rows(composition: Composition, steering: Sequence[str]) -> list[Row]:
    """Return data about a prompt's files for later runs.

    The list is empty if a changed file could affect other files' blocks. ``steering`` are absolute paths of files that
    affect other files, such as ``.gitignore``.
    """
    request, source = composition.request, composition.source
    depends = request.is_audited or request.is_tier3 or request.is_summary or request.results
    if depends or request.is_numbered or not isinstance(source, FileStream):
        return []
    numbers = {id(entry): number for number, entry in enumerate(request.entries)}
    special = {*source.reader.noted, *composition.secret_places, *steering}
    rows: list[Row] = []
    for file in composition.rows:
        location, number = file.file, numbers.get(id(file.entry), -1)
        if "/." in location or not location.startswith("/"):
            location = os.path.abspath(location) if location else ""
        is_special = file.path.rpartition("/")[2] in _STEERING
        is_special = is_special or not special.isdisjoint((file.path, location))
        if number < 0 or is_special or file.is_error:
            location = ""
        own = (file.item.path, file.item.auto_aggregate, file.view_mode.value)
        entry = None if number >= 0 else own
        rows.append((file.path, location, number, file.by_glob, file.is_error, entry))
    return rows


def _known_files(request: Request, rows: Sequence[Sequence[Any]]) -> list[File]:
    """Return the files of recorded rows; ``request`` has the entries of then."""
    files: list[File] = []
    for path, location, number, by_glob, is_error, own in rows:
        entry = request.entries[number]
        if own:
            entry_path, auto_aggregate, mode = own
            entry = Entry(FileItem(entry_path, auto_aggregate, view_mode=mode))
        files.append(File(path, location, entry, by_glob, is_error=is_error))
    return files


def _edited_blocks(request: Request, files: Sequence[File]) -> Mapping[str, str] | None:
    """Render the blocks of changed files by path.

    Return ``None`` if more than these blocks may change in the prompt.
    """
    selection = Selection(tuple(files)).with_generated_policy(request)
    reader = FileReader(request.redaction, selection)
    rendered = tuple(FileStream(reader, Index(None, limit=0)))
    has_notes = reader.noted or selection.skipped
    if has_notes or any(file.is_error or file.source.secrets for file in rendered):
        return None
    if [file.without_text() for file in rendered] != [*files]:
        return None
    return {file.path: rendered_segment(file).text for file in rendered}


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _marked(output: Iterable[tuple[int, str]], path: Path) -> Output:
    """Replace the prompt's path in the output by a mark, for a replay."""
    quoted, mark = json.dumps(str(path)), f'"{replay.QUOTED_PATH}"'
    marked = []
    for number, text in output:
        if number == 1:
            text = text.replace(quoted, mark, 1)  # noqa: PLW2901
            text = text.replace(f"{path}\n", f"{replay.PATH}\n", 1)  # noqa: PLW2901
        marked.append((number, text))
    return marked


def _remove_old(newest: Path) -> None:
    runs = [(path.lstat(), path) for path in newest.parent.glob("run-*")]
    runs.sort(key=lambda run: run[0].st_mtime_ns, reverse=True)
    sizes = accumulate(info.st_size for info, _ in runs)
    for size, (_, path) in zip(sizes, runs, strict=True):
        if size > _MOST_ALL and path != newest:
            path.unlink(missing_ok=True)
