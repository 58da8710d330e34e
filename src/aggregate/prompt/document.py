"""The finished prompt: segments with their provenance, images, and the origin of each line.

Origins are stored as runs (rule L-1), and written in a packed format (rule L-3). The packed text has one column of
numbers per property of the runs: lines, label, source, first line of the file, and excess of the file's lines over the
run's. Sources are differences to the previous run with a source; first lines are differences to the end of the previous
run of the same source. The columns are JSON, compressed by zlib, in base 85, which needs no escapes in JSON.
"""

import hashlib
import json
import re
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import chain
from typing import NamedTuple

from aggregate.base.files import ShownText
from aggregate.base.text import heading_text
from aggregate.base.values import escape_surrogates


@dataclass(frozen=True, slots=True)
class Image:
    path: str  # as in the prompt's link
    media_type: str  # by its content, such as ``image/png``
    data: bytes = field(repr=False)
    width: int  # in pixels
    height: int

    @property
    def digest(self) -> str:
        return hashlib.blake2b(self.data, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Screenshot:
    path: str  # relative to the screenshots' base directory with ``/``
    exists: bool = True
    refused: str = ""  # why it may not be shown
    file: str = field(default="", compare=False, repr=False)  # where it lies, if it may be shown

    @property
    def problem(self) -> str:
        return self.refused or ("" if self.exists else "file not found")


class Section(StrEnum):
    """The sections of a prompt in their order.

    The discussion is last if the prompt waits for a message.
    """

    PROJECT = "project"
    TREE = "tree"
    FILES = "files"
    CHANGED = "changed"
    SCREENSHOTS = "screenshots"
    BEADS = "beads"
    RESULTS = "results"
    HISTORY = "history"
    INSTRUCTIONS = "instructions"
    ATTACHED = "attached"
    CHANGES = "changes"
    TASK = "task"


class Stability(StrEnum):
    """How often a segment changes between turns."""

    STABLE = "stable"
    SLOW = "slow"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the prompt with one origin.

    ``text`` begins with ``#`` or ``-``, unless it is the first, and neither begins nor ends with a separator. So its
    bytes do not depend on its neighbours, and token counts of segments add up exactly (see ``aggregate.base.tokens``).
    Lone surrogates are escaped, since UTF-8 cannot encode them.
    """

    section: Section
    text: str
    stability: Stability
    source: str = ""  # path of the file, name of the variable, or ``""`` for a section's heading
    # The source lines of a file's block, if they are known.
    shown: ShownText | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape_surrogates(self.text))


SEPARATOR = "\n\n"  # between two segments
END = "\n"  # behind the last segment of a written prompt
BEFORE_CONTENT = 3  # lines of a file's block before its content
NOT_SHOWN = "### Not shown"  # heading of the list of hidden files
# The beginning of a fenced turn; no role has a colon and a blank.
_FENCED_TURN = re.compile(r"(?:(?:(?!: )[^\n])*:\n\n)?`{3,}text(?:\n|\Z)")


def file_heading(path: str) -> str:
    return f"### File {heading_text(path)}"


def is_fenced(block: str) -> bool:
    return block.startswith("```", block.find("\n") + 2)


def opening_line(turn: str) -> int:
    """Return the line with the opening fence of a turn, ``0`` if the turn is not fenced."""
    opening = _FENCED_TURN.match(turn)
    return opening[0].removesuffix("\n").count("\n") + 1 if opening else 0


Parts = Mapping[Section, Sequence[Segment]]  # the sections without the files


@dataclass(frozen=True, slots=True)
class Prompt:
    """The segments of a prompt in order."""

    segments: tuple[Segment, ...]

    @property
    def markdown(self) -> str:
        """The prompt's text as sent to a model."""
        return SEPARATOR.join(segment.text for segment in self.segments)

    @property
    def written(self) -> str:
        """The text of a prompt's file, with a final line feed."""
        return f"{self.markdown}{END}" if self.segments else ""

    def pieces(self, end: str = END) -> Iterator[bytes]:
        """Yield the prompt's text as UTF-8, with the text ``end`` after the last segment."""
        # One character outside of the basic plane makes Python store a text with four bytes a character; small pieces
        # limit that.
        for i, segment in enumerate(self.segments):
            if i:
                yield SEPARATOR.encode()
            yield segment.text.encode()
        if self.segments:
            yield end.encode()


class Cut(NamedTuple):
    """A shortened or omitted turn, result or list.

    It was cut to keep the budget (rule A-4).
    """

    section: str  # ``"history"``, ``"results"``, ``"beads"`` or ``"screenshots"``
    what: str  # the turn, result or list
    tokens: int  # tokens saved
    reason: str  # a sentence


class OriginKind(StrEnum):
    FILE = "file"
    TURN = "turn"
    BEAD = "bead"
    RESULT = "result"
    SCREENSHOT = "screenshot"
    GENERATED = "generated"


class Label(IntEnum):
    """The content of a run, such as code or a heading.

    The numbers are stored in recorded maps and never change.
    """

    kind: OriginKind
    meaning: str

    def __new__(cls, number: int, kind: OriginKind, meaning: str = "") -> "Label":
        label = int.__new__(cls, number)
        label._value_ = number
        label.kind, label.meaning = kind, meaning
        return label

    VERBATIM = 0, OriginKind.FILE
    PART = 1, OriginKind.FILE
    REDACTED = 2, OriginKind.FILE, "a line with a secret that was replaced"
    NOT_SHOWN = 3, OriginKind.GENERATED, "not shown: {lines} of {source}"
    SUMMARY = 4, OriginKind.GENERATED, "summary of {source}"
    NOTE = 5, OriginKind.GENERATED, "note on {source}"
    MESSAGE = 6, OriginKind.GENERATED, "message about {source}"
    HEADING = 7, OriginKind.GENERATED, "heading of {source}"
    FENCE = 8, OriginKind.GENERATED, "fence of {source}"
    BLANK = 9, OriginKind.GENERATED, "blank line"
    SECTION = 10, OriginKind.GENERATED, "heading of the section {source}"
    REMAINDER = 11, OriginKind.GENERATED, "remainder"
    REMOVED = 12, OriginKind.GENERATED, "a line that {source} no longer has"
    TURN = 13, OriginKind.TURN
    BEAD = 14, OriginKind.BEAD
    RESULT = 15, OriginKind.RESULT
    SCREENSHOT = 16, OriginKind.SCREENSHOT
    RULE = 17, OriginKind.GENERATED, "rule between two turns"
    SECTION_NOTE = 18, OriginKind.GENERATED, "note of the section {source}"
    EARLIER = 19, OriginKind.FILE, "a text of the file at an unknown line"
    GIVEN = 20, OriginKind.GENERATED, "words of {source}"


WITHOUT_SOURCE = frozenset({Label.BLANK, Label.REMAINDER, Label.RULE})


class Origin(NamedTuple):
    kind: OriginKind
    # Path of a file or screenshot, number of a turn, id of a bead, producer of a result, or owner of a generated line.
    source: str = ""
    first: int = 0  # the first line of the file, 1-based; ``0`` without lines
    last: int = 0  # the last one, inclusive
    is_verbatim: bool = False  # whether it equals the file's line
    stands_for: str = ""  # the meaning of a generated line, or why it differs from the file


class Run(NamedTuple):
    """Consecutive lines of a prompt from the same place.

    If the prompt has as many lines as the file, they correspond line by line, otherwise only as a whole.
    """

    lines: int
    label: Label
    source: str = ""
    first: int = 0
    last: int = 0

    @property
    def is_exact(self) -> bool:
        return self.first > 0 and self.last - self.first + 1 == self.lines

    def is_continued_by(self, new: "Run") -> bool:
        if (self.label, self.source) != (new.label, new.source):
            return False
        if self.first and new.first:
            return self.is_exact and new.is_exact and new.first == self.last + 1
        return self.first == new.first

    def origin(self, offset: int) -> Origin:
        first, last, meaning = self.first, self.last, self.label.meaning
        if self.is_exact:
            first = last = first + offset
        if "{" in meaning:
            lines = "1 line" if first == last else f"{last - first + 1:,} lines"
            meaning = meaning.replace("{lines}", lines if first else "lines")
            meaning = meaning.replace("{source}", self.source)
        is_verbatim = self.label is Label.VERBATIM
        return Origin(self.label.kind, self.source, first, last, is_verbatim, meaning)


@dataclass(slots=True)
class SourceMap:
    """The origin of every line of a prompt; a line feed ends a line."""

    runs: list[Run] = field(default_factory=list)

    def add(
        self, lines: int, label: Label, source: str = "", first: int = 0, last: int = 0
    ) -> None:
        """Add lines at the end; they join the last run if they continue it."""
        if lines < 1:
            return
        new = Run(lines, label, source, first, last)
        if self.runs and self.runs[-1].is_continued_by(new):
            old = self.runs.pop()
            new = Run(old.lines + lines, label, source, old.first, last)
        self.runs.append(new)

    @property
    def lines(self) -> int:
        return sum(run.lines for run in self.runs)

    def origin(self, line: int) -> Origin | None:
        start = 1
        for run in self.runs:
            if start <= line < start + run.lines:
                return run.origin(line - start)
            start += run.lines
        return None

    def origins(self) -> Iterator[Origin]:
        for run in self.runs:
            yield from (run.origin(offset) for offset in range(run.lines))

    def find(self, path: str, line: int) -> int | None:
        """Return the prompt's first line showing a file's line.

        If the line is omitted, return the line with the mark for omitted lines.
        """
        stand_in: int | None = None
        for start, run in self.runs_of(path):
            if not run.first or not run.first <= line <= run.last:
                continue
            prompt_line = start + (line - run.first if run.is_exact else 0)
            if run.label is Label.VERBATIM:
                return prompt_line
            stand_in = stand_in or prompt_line
        return stand_in

    def verbatim_lines(self, path: str) -> frozenset[int]:
        runs = (run for _, run in self.runs_of(path) if run.label is Label.VERBATIM)
        return frozenset(line for run in runs for line in range(run.first, run.last + 1))

    def runs_of(self, path: str) -> Iterator[tuple[int, Run]]:
        """Yield the runs of a file, each with its first line in the prompt."""
        start = 1
        for run in self.runs:
            if run.source == path:
                yield start, run
            start += run.lines


_MOST_BYTES = 1 << 24  # unpacked: more than the map of a prompt of 100 MB, less than a bomb
_LEVEL = 9  # of zlib: a map is small
_NO_MAP = "is not a map of sources"


def pack_map(source_map: SourceMap, row_paths: Sequence[str] = ()) -> tuple[list[str], str]:
    """Return the packed runs, and their additional sources.

    Additional sources are not among ``row_paths``. Runs refer to sources by number: first those of ``row_paths``, then
    the returned ones.
    """
    numbers: dict[str, int] = {}
    for number, path in enumerate(row_paths):
        numbers.setdefault(path, number)
    sources: list[str] = []
    for run in source_map.runs:
        if run.source and run.source not in numbers:
            numbers[run.source] = len(row_paths) + len(sources)
            sources.append(run.source)
    numbers[""] = 0
    rows: list[tuple[int | None, ...]] = []
    ends: dict[int, int] = {}
    previous = 0
    for lines, label, name, first, last in source_map.runs:
        source = previous if label in WITHOUT_SOURCE else numbers[name]
        gap = first - ends.get(source, 0) if first else None
        extra = last - first + 1 - lines if first else 0
        rows.append((lines, label, source - previous, gap, extra))
        previous = source
        if first:
            ends[source] = last
    columns = [list(column) for column in zip(*rows, strict=True)]
    data = json.dumps(columns, separators=(",", ":")).encode()
    return sources, b85encode(zlib.compress(data, _LEVEL)).decode()


def unpack_map(text: str, sources: Sequence[str]) -> SourceMap:
    """Return the map packed by ``pack_map``.

    ``sources`` are all sources in the order of their numbers.

    Raises:
        ValueError: The text is damaged or not a packed map.
    """
    inflater = zlib.decompressobj()
    try:
        columns = json.loads(inflater.decompress(b85decode(text), _MOST_BYTES))
        if not inflater.eof or not {*map(type, chain(*columns))} <= {int, type(None)}:
            raise ValueError(_NO_MAP)
        return SourceMap([*_unpacked(columns, sources)])
    except (zlib.error, TypeError, RecursionError):
        raise ValueError(_NO_MAP) from None


def _unpacked(columns: Sequence[Sequence[int]], sources: Sequence[str]) -> Iterator[Run]:
    """Yield the runs of columns; raise ``ValueError`` if a number is out of range."""
    ends: dict[int, int] = {}
    source = 0
    for lines, number, step, gap, extra in zip(*columns, strict=True):
        source += step
        first = last = 0
        if gap is not None:
            first = gap + ends.get(source, 0)
            last = ends[source] = first + lines - 1 + extra
        label = Label(number)  # type: ignore[call-arg] # looked up, not made
        has_source = label not in WITHOUT_SOURCE
        is_known = 0 <= source < len(sources) or not has_source
        if not (lines > 0 and source >= 0 and is_known and 0 <= first <= last):
            raise ValueError(_NO_MAP)
        yield Run(lines, label, sources[source] if has_source else "", first, last)
