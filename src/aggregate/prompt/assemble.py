"""Assemble the prompt from rendered files and the other sections; record its files for later runs."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.disk.reading import is_file, read_bytes
from aggregate.base.disk.witnesses import doubt
from aggregate.base.files import FileRecord
from aggregate.base.monitor import timed
from aggregate.base.task_budget import FileChoice, Guess, Missing
from aggregate.project.files import FolderListing, display_path, read_image_header
from aggregate.prompt.asking import FoundSecrets, Request, is_named, unknown_focus
from aggregate.prompt.document import (
    Cut,
    Image,
    Origin,
    Parts,
    Prompt,
    Screenshot,
    Section,
    Segment,
    SourceMap,
    Stability,
)
from aggregate.prompt.files import (
    File,
    FileStream,
    RenderedFiles,
    check_refused,
    prompt_files,
    screenshots_section,
)
from aggregate.prompt.sections import whole_sections

if TYPE_CHECKING:
    from aggregate.ranking import Ranking


def find_screenshots(
    base_dir: str | Path, entries: Sequence[str], *, shown_from: str | Path, listing: FolderListing
) -> tuple[Screenshot, ...]:
    """Return the images that paths and globs below ``base_dir`` match, each once."""
    images: dict[str, Screenshot] = {}
    for entry in entries:
        resolved = listing.resolve(base_dir, entry)
        for name in resolved.names:
            file = Path(resolved.folder, name)
            path = display_path(file, shown_from)
            exists = not resolved.refused and is_file(file)
            location = (resolved.real or str(file)) if exists else ""
            images.setdefault(path, Screenshot(path, exists, resolved.refused, location))
        if not resolved.names and resolved.is_glob:
            images.setdefault(entry, Screenshot(entry, exists=False, refused=resolved.refused))
    return tuple(images.values())


def read_images(
    screenshots: Sequence[Screenshot], *, limit: int
) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """Read screenshots; return the images, and warnings.

    There is a warning for each file without a usable image.
    """
    images: list[Image] = []
    warnings: list[str] = []
    for path, file in [(screenshot.path, screenshot.file) for screenshot in screenshots]:
        problem: object = "not a PNG, JPEG, GIF or WebP image"
        try:
            data = read_bytes(file, limit=limit) if file else b""
        except (OSError, ValueError) as error:
            data, problem = b"", getattr(error, "strerror", None) or error
        if header := read_image_header(data):
            images.append(Image(path, header.media_type, data, header.width, header.height))
        elif file:
            warnings.append(f"screenshot {path} is only named in the prompt: {problem}")
    return tuple(images), tuple(warnings)


@dataclass(slots=True, eq=False)
class Composition:
    """A prompt with its files, decisions and warnings.

    It can be iterated once for its segments; warnings and rows are complete after the iteration. The prompt stores no
    texts, unless it is ``composed``.
    """

    request: Request
    source: RenderedFiles | FileStream  # a stream reads its files during the iteration
    choices: Sequence[FileChoice] = ()  # audit rows in the order of the configuration
    cut: Sequence[Cut] = ()
    missing: Sequence[Missing] = ()  # evidence missing for the ranking
    guess: Guess | None = None  # why the choice of files is a guess, if it is one
    listed: Sequence[Segment] = ()  # in a prompt with a budget, the list of hidden files
    parts: Parts | None = None  # in a prompt with a budget, the sections other than files
    rows: list[File] = field(default_factory=list)  # without their texts
    _images: Sequence[Screenshot] = ()
    _secrets: FoundSecrets | None = None
    _prompt: Prompt | None = None
    _map: "SourceMap | None" = None

    def composed(self) -> "Composition":
        """Iterate the prompt now and keep its segments' text."""
        self._prompt = Prompt(tuple(self))
        return self

    @property
    def prompt(self) -> Prompt:
        return self._prompt or self.composed().prompt

    def scored(self, choices: Sequence[FileChoice], ranking: "Ranking") -> "Composition":
        """Add the scores of files, and the doubts about them, to a prompt."""
        return replace(self, choices=choices, missing=ranking.missing, guess=ranking.guess)

    @property
    def files(self) -> tuple[File, ...]:
        """The rendered files; empty if the prompt is streamed."""
        return self.source.files if isinstance(self.source, RenderedFiles) else ()

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """Records of the files, as from ``build_file_items``."""
        return tuple(file.to_record() for file in self.files)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about omissions and doubts."""
        request = self.request
        # With a budget the pins report the task's places.
        focus_files = request.focus_paths if request.budget is None else request.focus_files
        paths = [row.path for row in self.rows]
        unknown = []
        for focus in focus_files:
            if not any(is_named(row.path, row.item.path, [focus]) for row in self.rows):
                unknown.append(unknown_focus(focus, paths))
        images = (
            f"screenshot {image.path}: {image.problem}" for image in self._images if image.problem
        )
        secrets = self._secrets.warnings if self._secrets else ()
        return (*self.source.warnings, *unknown, *images, *secrets)

    @property
    def secret_places(self) -> set[str]:
        """Names of files and sections with secrets, replaced or not."""
        return self._secrets.places if self._secrets else set()

    @property
    def refused(self) -> tuple[str, ...]:
        """Warnings about files outside of the readable scope."""
        images = [image for image in self._images if image.refused]
        refused = (f"screenshot {image.path}: {image.refused}" for image in images)
        return (*self.source.refused, *refused)

    def check_scope(self) -> None:
        """Raise ``ScopeError`` if a file is outside of the scope."""
        check_refused(self.refused)

    def __iter__(self) -> Iterator[Segment]:
        if self._prompt:
            yield from self._prompt.segments
            return
        request = self.request
        self._secrets = FoundSecrets(request.redaction)
        self._images = find_screenshots(
            request.screenshot_dir,
            request.screenshots,
            shown_from=request.shown_from,
            listing=FolderListing(request.scope),
        )
        root = "" if request.scope.allow_outside else request.scope.root
        beads = build_beads_section(request.base_dir, root=root) if request.beads else ""
        segments = section_segments(
            prompt_files(self._noted(self._secrets), request, self.listed),
            whole_sections(request) if self.parts is None else self.parts,
            images=self._images,
            beads=beads,
            is_finished=request.is_finished,
        )
        yield from map(self._secrets.shown_segment, segments)

    def _noted(self, secrets: FoundSecrets) -> Iterator[File]:
        for file in self.source:
            self.rows.append(file.without_text())
            secrets.note_file(file.path, file.source.secrets)
            yield file

    @property
    def source_map(self) -> "SourceMap":
        """The origin of each line of the prompt (rule L-1)."""
        if self._map is None:
            from aggregate.prompt.output.source_map import map_sources  # few ask

            self._map = map_sources(self.prompt.segments)
        return self._map

    def origin(self, line: int) -> "Origin | None":
        """Return the origin of the prompt's 1-based ``line``, ``None`` after its end."""
        return self.source_map.origin(line)

    def find(self, path: str, line: int) -> int | None:
        """Return the prompt's line showing a file's line.

        If the file's line is omitted, return the line of its gap mark.
        """
        return self.source_map.find(path, line)


def section_segments(
    files: Iterable[Segment],
    parts: Parts,
    *,
    images: Sequence[Screenshot],
    beads: str,
    is_finished: bool = False,
) -> Iterator[Segment]:
    """Yield the segments of all sections of a prompt.

    The most stable sections come first (rule M-9). The discussion comes last, unless the prompt ``is_finished``: then
    the task does (rule T-7).
    """
    links = screenshots_section(images)
    small = {
        Section.SCREENSHOTS: Segment(Section.SCREENSHOTS, links, Stability.STABLE),
        Section.BEADS: Segment(Section.BEADS, beads, Stability.SLOW),
    }
    for section in sorted(Section, key=lambda name: name is Section.HISTORY and not is_finished):
        if section is Section.FILES:
            yield from files
        elif section in small:
            yield from [small[section]] if small[section].text else []
        else:
            yield from parts.get(section, ())


PromptStream = Composition  # the result of ``stream_prompt``


@timed("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    return Composition(request, rendered).composed()


def build_beads_section(
    base_dir: str | Path,
    *,
    environ: Mapping[str, str] | None = None,
    now: datetime | None = None,
    root: str = "",
) -> str:
    """Render the beads of the project around ``base_dir``.

    Without beads the text is empty (rule M-8).

    Args:
        base_dir: A folder of the project.
        environ: For ``BEADS_DIR``, and for ``PATH`` to find ``bd``; by default the process's.
        now: Compared with ``defer_until``; by default the current time.
        root: Real path of the folder that must contain the beads; by default any may.
    """
    # Few projects have beads, and these imports take 15 ms.
    from aggregate.project.beads import read_board
    from aggregate.prompt.sections.beads import beads_section

    doubt("beads may wait for a time")
    environ = os.environ if environ is None else environ
    board = read_board(Path(base_dir), environ=environ, root=root)
    return beads_section(board, now=now or datetime.now(UTC))
