"""From rendered files and everything else that a request names to the prompt."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Union

from aggregate.base.disk.reading import is_file, read_bytes
from aggregate.base.disk.witnesses import doubt
from aggregate.base.files import FileRecord, FileRow, RenderedFile
from aggregate.base.monitor import get_monitor
from aggregate.base.redaction import ALLOWED_LINE, Finding, Redaction, redact, redact_words
from aggregate.base.request import FileChoice, Finish, Guess, Missing
from aggregate.base.values import THRESHOLD
from aggregate.project.files import FolderListing, display_path, read_image_header
from aggregate.prompt.document import Cut, Image, Prompt, Screenshot, Section, Segment, Stability
from aggregate.prompt.file_rendering import FileStream, RenderedFiles, check_refused
from aggregate.prompt.layout import files_segments, numbered, screenshots_section, tier3_segments
from aggregate.prompt.request import Request, is_named, unknown_focus
from aggregate.prompt.sections.given import attached_section, instructions_section
from aggregate.prompt.selection import MOST_NAMED
from aggregate.prompt.turns import safe_discussion_segments

if TYPE_CHECKING:
    from aggregate.prompt.document import Origin, SourceMap
    from aggregate.prompt.results import Results


def find_screenshots(
    base_dir: str | Path, entries: Sequence[str], *, shown_from: str | Path, listing: FolderListing
) -> tuple[Screenshot, ...]:
    """Return the images that paths and globs below ``base_dir`` stand for, each once, as far as the scope allows."""
    images: dict[str, Screenshot] = {}
    for entry in entries:
        resolved = listing.resolve(base_dir, entry)
        for name in resolved.names:
            file = Path(resolved.folder, name)
            path = display_path(file, shown_from)
            exists = not resolved.refused and is_file(file)
            place = (resolved.real or str(file)) if exists else ""
            images.setdefault(path, Screenshot(path, exists, resolved.refused, place))
        if not resolved.names and resolved.is_glob:
            images.setdefault(entry, Screenshot(entry, exists=False, refused=resolved.refused))
    return tuple(images.values())


def read_images(
    screenshots: Sequence[Screenshot], *, limit: int
) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """Return the images that screenshots are, and a warning for each that is there and cannot be sent."""
    images: list[Image] = []
    warnings = []
    for screenshot in screenshots:
        if not screenshot.file:
            continue
        try:
            data = read_bytes(screenshot.file, limit=limit)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            warnings.append(f"screenshot {screenshot.path} is only named in the prompt: {problem}")
            continue
        header = read_image_header(data)
        if header is None:
            warnings.append(
                f"screenshot {screenshot.path} is only named in the prompt: it is no PNG, JPEG, GIF or WebP image"
            )
            continue
        images.append(Image(screenshot.path, header.media_type, data, header.width, header.height))
    return tuple(images), tuple(warnings)


# Files and sections that the line about secrets names: as many as fit into a few rows of a terminal.
_MOST_PLACES: Final = 10


class FoundSecrets:
    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._by_place: dict[str, list[Finding]] = {}
        self._files: set[str] = set()

    def note_file(self, path: str, secrets: Sequence[Finding]) -> None:
        if self._redaction.replaces:
            self._note(path, secrets)
        elif secrets:
            self._files.add(path)

    def shown_segment(self, segment: Segment) -> Segment:
        """Return a segment as a prompt shows it, and note its secrets; its source may have one too."""
        if segment.section is Section.FILES:  # searched when they were read
            if segment.source in self._files:
                self.shown(segment.text, segment.source)
            return segment
        source = redact_words([segment.source], self._redaction).get(segment.source, segment.source)
        text = self.shown(segment.text, source or segment.section.value)
        return replace(segment, text=text, source=source)

    def shown(self, text: str, place: str) -> str:
        result = redact(text, self._redaction)
        self._note(place, result.findings)
        return result.text if self._redaction.replaces else text

    @property
    def places(self) -> set[str]:
        return {*self._by_place, *self._files}

    def _note(self, place: str, findings: Sequence[Finding]) -> None:
        if findings:
            self._by_place.setdefault(place, []).extend(findings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence: how many there are, where, and how they are kept, or replaced; none where there are none."""
        findings = list(chain(*self._by_place.values()))
        if not findings:
            return ()
        number = f"{len(findings):,} secret{'s' if len(findings) > 1 else ''}"
        places = [self._named(*found) for found in self._by_place.items()]
        if len(places) > _MOST_PLACES:
            places[_MOST_PLACES:] = [f"{len(places) - _MOST_PLACES:,} more places"]
        where = ", ".join(places)
        if not self._redaction.replaces:
            return (f"{number} not replaced in {where}: --redact replaces them",)
        digests = list(dict.fromkeys(found.digest for found in findings if found.digest))
        allow = ", ".join(f'"{digest}"' for digest in digests[:MOST_NAMED])
        by_hash = f"allow = [{allow}] under [redaction], or " if allow else ""
        comment = f"a comment with {ALLOWED_LINE} on its line"
        return (
            f"{number} replaced in {where}: --no-redact keeps all, {by_hash}{comment} keeps one",
        )

    def _named(self, place: str, findings: Sequence[Finding]) -> str:
        """Return a place with what was found; what is not replaced has no line, since a view has other ones."""
        rules = ", ".join(dict.fromkeys(found.rule for found in findings[:MOST_NAMED]))
        line = f":{findings[0].line}" if self._redaction.replaces else ""
        more = f" and {len(findings) - 1:,} more" if len(findings) > 1 else ""
        return f"{place}{line}{more} ({rules})"


def redact_text(text: str, place: str, redaction: Redaction) -> tuple[str, tuple[str, ...]]:
    found = FoundSecrets(redaction)
    return found.shown(text, place), found.warnings


Parts = Mapping[Section, Sequence[Segment]]  # What stands in the sections beside the files


def no_file_fits(smallest: int) -> str:
    return f"no file fits into the budget: the smallest that shows one is --budget {smallest}"


@dataclass(slots=True, eq=False)
class Composition:
    """A prompt, and what it was made of.

    It is iterated once for its segments, which are made one after another; what it tells is complete after that. None
    of their texts is kept, unless it is ``composed``.

    Attributes:
        source: The request's files, read already or while they are iterated.
        choices: With a task or a budget: what was decided about each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        guess: Why the choice is one, where the task tells of no place.
        parts: What the other sections show where a budget decides on it.
        rows: What is told of each file.
        smallest: The smallest budget that shows a file, where this one shows none; else ``0``.
    """

    request: Request
    source: Union["RenderedFiles", "FileStream"]
    choices: Sequence[FileChoice] = ()
    cut: Sequence[Cut] = ()
    missing: Sequence[Missing] = ()
    guess: Guess | None = None
    lay_out: Callable[[Iterable[RenderedFile]], Iterable[Segment]] | None = None
    parts: Parts | None = None
    rows: list[FileRow] = field(default_factory=list)
    smallest: int = 0
    _images: Sequence[Screenshot] = ()
    _secrets: FoundSecrets | None = None
    _prompt: Prompt | None = None
    _map: "SourceMap | None" = None

    def composed(self) -> "Composition":
        """Make all segments, keep them, and return this."""
        self._prompt = Prompt(tuple(self))
        return self

    @property
    def prompt(self) -> Prompt:
        """The segments in order."""
        return self._prompt or self.composed().prompt

    @property
    def files(self) -> tuple[RenderedFile, ...]:
        """The files, rendered; none of a prompt that keeps no texts."""
        return self.source.files if isinstance(self.source, RenderedFiles) else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each."""
        request = self.request
        # With a budget the pins tell of the task's places.
        focus_files = request.focus_paths if request.budget is None else request.focus_files
        unknown = (
            unknown_focus(focus, [row.path for row in self.rows])
            for focus in focus_files
            if not any(is_named(row.path, row.entry, [focus]) for row in self.rows)
        )
        images = (
            f"screenshot {image.path}: {image.problem}" for image in self._images if image.problem
        )
        secrets = self._secrets.warnings if self._secrets else ()
        return (*self.source.warnings, *unknown, *images, *secrets)

    @property
    def secret_places(self) -> set[str]:
        """The files and sections with something that is taken for a secret, replaced or not."""
        return self._secrets.places if self._secrets else set()

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        refused = (
            f"screenshot {image.path}: {image.refused}" for image in self._images if image.refused
        )
        return (*self.source.refused, *refused)

    def __iter__(self) -> Iterator[Segment]:
        """Yield the prompt's segments."""
        if self._prompt:
            yield from self._prompt.segments
            return
        request = self.request
        secrets = self._secrets = FoundSecrets(request.redaction)
        self._images = find_screenshots(
            request.screenshot_dir,
            request.screenshots,
            shown_from=request.shown_from,
            listing=FolderListing(request.scope),
        )
        root = "" if request.scope.allow_outside else request.scope.root
        beads = build_beads_section(request.base_dir, root=root) if request.beads else ""
        parts = self.parts
        if parts is None:
            history = safe_discussion_segments(request.history)
            parts = given_parts(history, request.results, request.finish)
        files = self._file_segments(secrets)
        segments = section_segments(
            map(numbered, files) if request.is_numbered else files,
            parts,
            images=self._images,
            beads=beads,
            is_finished=request.is_finished,
        )
        yield from map(secrets.shown_segment, segments)

    def _file_segments(self, secrets: FoundSecrets) -> Iterable[Segment]:
        def noted() -> Iterator[RenderedFile]:
            for file in self.source:
                self.rows.append(file.row)
                secrets.note_file(file.path, file.secrets)
                yield file

        request = self.request
        if self.lay_out is not None:
            return self.lay_out(noted())
        if request.is_tier3:
            return tier3_segments(noted(), request.focus_files)
        return files_segments(noted(), is_summary=request.is_summary)

    @property
    def source_map(self) -> "SourceMap":
        """Where each line of the prompt comes from (rule L-1); made when it is first asked for."""
        if self._map is None:
            from aggregate.prompt.source_map import map_sources  # few ask

            self._map = map_sources(self.prompt.segments)
        return self._map

    def origin(self, line: int) -> "Origin | None":
        """Return where the 1-based ``line`` of the prompt comes from, ``None`` where it has no such line."""
        return self.source_map.origin(line)

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a file's 1-based line, else that stands for it."""
        return self.source_map.find(path, line)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """A record per file, as ``build_file_items`` returns them."""
        return tuple(file.to_record() for file in self.files)

    def check_scope(self) -> None:
        """Raise a ``ScopeError`` with the first file that the prompt asks for and its scope does not allow."""
        check_refused(self.refused)


def given_parts(
    history: Sequence[Segment], results: "Sequence[Results]" = (), finish: Finish | None = None
) -> Parts:
    """Return what a prompt without a budget shows of a discussion, of results, and of what the user adds."""
    parts: dict[Section, Sequence[Segment]] = {Section.HISTORY: history}
    if finish:
        parts[Section.INSTRUCTIONS] = instructions_section(finish.instructions)
        parts[Section.ATTACHED] = attached_section(finish.attached)
    if results:
        # Few prompts have results.
        from aggregate.base.tokens import count
        from aggregate.prompt.fitted_results import results_without_budget

        parts[Section.RESULTS] = results_without_budget(results, count)
    return parts


def section_segments(
    files: Iterable[Segment],
    parts: Parts,
    *,
    images: Sequence[Screenshot],
    beads: str,
    is_finished: bool = False,
) -> Iterator[Segment]:
    """Yield the segments of all sections, each only if not empty: what changes stands behind what stays (rule M-9).

    The discussion stands last, but for a prompt that ``is_finished`` (rule T-7).
    """
    links = screenshots_section(images)
    small = {
        Section.SCREENSHOTS: Segment(Section.SCREENSHOTS, links, Stability.STABLE),
        Section.BEADS: Segment(Section.BEADS, beads, Stability.SLOW),
    }
    for section in sorted(Section, key=lambda each: each is Section.HISTORY and not is_finished):
        if section is Section.FILES:
            yield from files
        elif section in small:
            yield from (each for each in (small[section],) if each.text)
        else:
            yield from parts.get(section, ())


PromptStream = Composition  # What ``stream_prompt`` returns


@get_monitor().scope("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    return Composition(request, rendered).composed()


def build_beads_section(
    base_dir: str | Path,
    *,
    environ: Mapping[str, str] | None = None,
    now: datetime | None = None,
    root: str = "",
) -> str:
    """Find, read and render the beads of the project around ``base_dir``, ``""`` where there are none (rule M-8).

    Args:
        base_dir: Where the project is looked for.
        environ: For ``BEADS_DIR`` and for ``PATH``, where ``bd`` is looked for; the process's own by default.
        now: Compared with ``defer_until`` only; the current time by default.
        root: The real path of the folder that the beads must lie in; by default they may lie anywhere.
    """
    # These take 15 ms, and few projects have beads.
    from aggregate.project.beads import read_board
    from aggregate.prompt.sections.beads import beads_section

    doubt("beads may wait for a time")
    environ = os.environ if environ is None else environ
    board = read_board(Path(base_dir), environ=environ, root=root)
    return beads_section(board, now=now or datetime.now(UTC))


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int | None = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results.

    With a ``threshold`` values whose JSON has as many bytes are written below ``cache_dir``, and shown by references.
    """
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    if threshold is None:
        from aggregate.prompt.sections.subagent_results import flatten_results

        return tuple(flatten_results(results))
    from aggregate.prompt.references import compact_all  # 70 ms

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)
