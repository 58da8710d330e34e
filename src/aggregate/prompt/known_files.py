"""What is known of files and of groups of them by their contents, and how that lies in the index as bytes."""

import json
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from aggregate.project.files import UTF_8, SourceFile
from aggregate.prompt.file_reading import invisible_in
from aggregate.prompt.generated_files import WrittenBy
from aggregate.ranking import Analysis, NameGroup, column, numbers, pack_names, pack_terms

AnalysisRequest = tuple[str, SourceFile] | None
"""What to analyse: a file's path and what reading it gave; ``None`` asks for nothing."""
_SIZE: Final = struct.Struct("=I")


class ReadFacts(NamedTuple):
    """What reading a file told besides its text, where that is not the usual.

    Attributes:
        error: Why there is no text, ``""`` where there is.
        is_binary: Whether that is because it is no text file.
        encoding: What it was read in.
        line: The first line with characters that nobody sees, ``0`` for none.
        invisible: A sentence about them.
        reason: What the text says of who has written it, as in ``WrittenBy``.
        size: Its bytes in UTF-8, where that says something.
        problem: Why it was analysed without its grammar.
    """

    error: str = ""
    is_binary: bool = False
    encoding: str = UTF_8
    line: int = 0
    invisible: str = ""
    reason: str = ""
    size: int = 0
    problem: str = ""

    @classmethod
    def of(cls, path: str, source: SourceFile, problem: str = "") -> "ReadFacts":
        """Return what reading the file at ``path`` told."""
        line, sentence = invisible_in(source) or (0, "")
        reason, size = WrittenBy.of(path, source.text)
        return cls(
            source.error,
            source.is_binary,
            source.encoding,
            line,
            sentence,
            reason,
            size if reason else 0,
            problem,
        )


USUAL: Final = ReadFacts()
"""What reading most files tells."""


class KnownFile(NamedTuple):
    """A file's analysis, and what is told of the file.

    Attributes:
        facts: What reading it told.
        analysis: Of its text; of an empty one where there is none.
    """

    facts: ReadFacts
    analysis: Analysis

    @classmethod
    def of(cls, path: str, source: SourceFile, *, problem: str = "") -> "KnownFile":
        """Analyse what reading the file at ``path`` gave: without its grammar where that has a problem with it.

        The grammar is to be asked in child processes only.
        """
        from aggregate.ranking import analyse  # the parser, which these alone need

        return cls(
            ReadFacts.of(path, source, problem),
            analyse(path, source.text, with_grammar=not problem),
        )

    def pack(self) -> bytes:
        """Return it as bytes, for this machine."""
        facts = json.dumps(self.facts).encode()
        return _SIZE.pack(len(facts)) + facts + self.analysis.pack()

    @classmethod
    def unpack(cls, data: bytes) -> "KnownFile":
        """Return what ``pack`` made bytes."""
        (size,) = _SIZE.unpack_from(data)
        start = _SIZE.size + size
        facts = ReadFacts(*json.loads(data[_SIZE.size : start]))
        return cls(facts, Analysis.unpack(data[start:]))


class KnownGroup:
    """What is known of a group of files: what is told of each, and which names they define and use.

    Their terms are many times as much, and are looked up group by group.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data

    @classmethod
    def of(cls, members: Sequence[KnownFile]) -> "KnownGroup":
        """Make it of some files."""
        traits = [member.analysis.traits for member in members]
        languages = sorted({each.language for each in traits})
        unusual = {
            place: member.facts for place, member in enumerate(members) if member.facts != USUAL
        }
        facts = json.dumps([len(members), languages, unusual]).encode()
        columns = (
            bytes([languages.index(each.language) for each in traits]),
            bytes([each.is_code for each in traits]),
            column("I", [each.characters for each in traits]),
            column("I", [each.terms for each in traits]),
            column("I", [each.pieces for each in traits]),
        )
        names = pack_names(_texts_of(members))
        return cls(b"".join((_SIZE.pack(len(facts)), facts, *columns, names)))

    def pack(self) -> bytes:
        """Return it as bytes, for this machine."""
        return self._data

    def facts(self) -> tuple[list[Sequence[Any]], dict[int, ReadFacts]]:
        """Return the columns of ``FileFacts`` between path and mark, and what reading some files told that is unusual.

        The latter by the files' places.
        """
        count, languages, _ = self._head
        start = self._start
        names, flags = self._data[start : start + count], self._data[start + count :][:count]
        start += 2 * count
        counts = numbers("I", memoryview(self._data)[start : start + 12 * count])
        columns: list[Sequence[Any]] = [
            [languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(3)),
        ]
        return columns, self.unusual

    @property
    def unusual(self) -> dict[int, ReadFacts]:
        """What reading some of the files told that is unusual, by the files' places."""
        return {int(place): ReadFacts(*facts) for place, facts in self._head[2].items()}

    @property
    def _start(self) -> int:
        """Where the columns begin."""
        return int(_SIZE.unpack_from(self._data)[0]) + _SIZE.size

    @cached_property
    def _head(self) -> tuple[int, list[str], dict[str, list[Any]]]:
        """The number of files, their languages, and what reading some told."""
        count, languages, unusual = json.loads(self._data[_SIZE.size : self._start])
        return count, languages, unusual

    @cached_property
    def names(self) -> NameGroup:
        """The names, with the files' places in the group."""
        return NameGroup(memoryview(self._data)[self._start + 14 * self._head[0] :])


def terms_of(members: Sequence[KnownFile]) -> bytes:
    """Return the table of a group's terms."""
    return pack_terms(_texts_of(members))


def _texts_of(members: Sequence[KnownFile]) -> list[Analysis | None]:
    return [None if member.facts.error else member.analysis for member in members]
