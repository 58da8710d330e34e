"""Exact token counts of prompts, as sums over segments.

Sums are exact if no token spans a cut. The vocabulary never joins a line break with the next line, unless the next line
begins with white space or ``/``; segments begin with ``#`` or ``-``, and are counted with the separator behind them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from struct import Struct

from aggregate.base.monitor import timed
from aggregate.base.tokens import TokenCounter, count_batch
from aggregate.project.index import Index, Kind, token_version, user_index
from aggregate.prompt.document import SEPARATOR, Prompt, Section

_WAITING_CHARACTERS = 300_000  # characters looked up together
_MOST_CHARACTERS = 20_000_000  # of counted texts in memory, since a page may be open all day
COUNT = Struct("<Q")


@cache
def token_kind() -> Kind:
    """Return the kind of index entries with token counts, whose keys are SHA-256 of texts."""
    return Kind("tokens", token_version())


@dataclass(slots=True, eq=False)
class SegmentCounter:
    """Counts the tokens of segments with their separators, in threads if there are many."""

    _index: Index
    _waiting: list[tuple[bytes, str]] = field(default_factory=list, init=False)
    _characters: int = field(default=0, init=False)
    _counts: list[int] = field(default_factory=list, init=False)
    # Positions and keys without a cached count.
    _new: list[tuple[int, bytes]] = field(default_factory=list, init=False)
    _counter: TokenCounter = field(default_factory=TokenCounter, init=False)

    def add(self, text: str, data: bytes, separator: str) -> None:
        digest = sha256(data)
        digest.update(separator.encode())
        self._waiting.append((digest.digest(), text + separator))
        self._characters += len(text)
        if self._characters >= _WAITING_CHARACTERS:
            self._look_up()

    @timed("count_tokens")
    def tokens(self, places: Iterable[tuple[Section, str]]) -> "PromptTokens":
        """Return the tokens of the added segments, whose sections and sources are ``places``."""
        self._look_up()
        results = self._counter.results()
        rows: list[tuple[bytes, bytes]] = []
        for (position, key), tokens in zip(self._new, results, strict=True):
            self._counts[position] = tokens
            rows.append((key, COUNT.pack(tokens)))
        self._index.put_many(token_kind(), rows)
        return PromptTokens.of(places, self._counts)

    def _look_up(self) -> None:
        cached = self._index.get_many(token_kind(), [key for key, _ in self._waiting])
        for (key, text), row in zip(self._waiting, cached, strict=True):
            if row is None:
                self._new.append((len(self._counts), key))
                self._counter.submit(text)
            self._counts.append(COUNT.unpack(row)[0] if row else 0)
        self._waiting, self._characters = [], 0


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Tokens (o200k) of a prompt and its parts.

    The parts are segments, sections, and files without section headings.
    """

    document: int
    segments: tuple[int, ...]
    sections: Mapping[Section, int]
    files: Mapping[str, int]

    @classmethod
    def of(cls, places: Iterable[tuple[Section, str]], counts: Sequence[int]) -> "PromptTokens":
        sections: dict[Section, int] = {}
        files: dict[str, int] = {}
        for (section, source), tokens in zip(places, counts, strict=True):
            sections[section] = sections.get(section, 0) + tokens
            if section in (Section.FILES, Section.CHANGED) and source:
                files[source] = files.get(source, 0) + tokens
        return cls(sum(counts), tuple(counts), sections, files)


@timed("count_prompt")
def count_prompt(prompt: Prompt, *, index: Index | None = None, end: str = "") -> PromptTokens:
    """Return exact token counts of a prompt.

    They include those of its sections and files. ``index`` caches them, by default the user's. ``end`` follows the last
    segment: ``END`` for a written prompt.
    """
    counter = SegmentCounter(index or user_index())
    last = len(prompt.segments) - 1
    for i, segment in enumerate(prompt.segments):
        data = segment.text.encode("utf-8", "surrogatepass")
        counter.add(segment.text, data, SEPARATOR if i < last else end)
    keys = ((segment.section, segment.source) for segment in prompt.segments)
    return counter.tokens(keys)


@dataclass(slots=True, eq=False)
class SavedCounts:
    """Counts the tokens of single texts with a cache.

    The vocabulary is loaded for the first new text.
    """

    _index: Index
    _counts: dict[str, int] = field(default_factory=lambda: {"": 0}, init=False)
    _characters: int = field(default=0, init=False)

    def __call__(self, text: str) -> int:
        tokens = self._counts.get(text)
        if tokens is not None:
            return tokens
        if self._characters > _MOST_CHARACTERS:
            self._counts, self._characters = {"": 0}, 0
        self._characters += len(text)
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        row = self._index.get_many(token_kind(), [key])[0]
        if row is None:
            row = COUNT.pack(count_batch([text])[0])
            self._index.put_many(token_kind(), [(key, row)])
        self._counts[text] = int(COUNT.unpack(row)[0])
        return self._counts[text]
