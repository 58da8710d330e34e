"""The readable files of a corpus, collected group by group: as they are shown, and what is known of each."""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.prompt.analysis_index import HASH_BYTES
from aggregate.prompt.file_groups import FileGroup, Member
from aggregate.prompt.file_reading import FileReader, NoteKind
from aggregate.prompt.generated_files import WrittenBy
from aggregate.prompt.known_files import USUAL, ReadFacts
from aggregate.prompt.prepared_files import PreparedFile
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import FileFacts

ABSENT: Final = -1
"""The number of a file of a group that is not in the corpus."""


class CorpusColumns(NamedTuple):
    """The files of a corpus, by their numbers.

    Attributes:
        shown: As they are to be shown.
        facts: What is known of each.
        identities: As ``AnalysisIndex`` knows them.
        hashes: The SHA-256 of the bytes of those whose identities do not begin with it.
    """

    shown: list[ResolvedFile]
    facts: list[FileFacts]
    identities: list[bytes]
    hashes: dict[int, bytes]


class CorpusFiles:
    """Collects the files, and notes what is doubtful about those that were not read in this run.

    Args:
        reader: Knows how files are to be shown, and notes what is doubtful.

    Attributes:
        errors: What stands for files that could not be read, by their places in the prompt.
    """

    def __init__(self, reader: FileReader) -> None:
        self.errors: dict[int, PreparedFile] = {}
        self._reader = reader
        self._marks = reader.marks
        self._columns = CorpusColumns([], [], [], {})
        self._places: list[int] = []

    def add(self, group: FileGroup) -> Sequence[int]:
        """Add the files of a group that is known; return for each its place among those added so far, or ``ABSENT``."""
        if group.known is None:
            raise ValueError("a group is known before its files are added")
        columns, unusual = group.known.facts()
        paths = [file.path for file in group.files]
        if unusual or group.members or not self._marks.keys().isdisjoint(paths):
            return self._add_singly(group, columns, unusual)
        start = len(self._places)  # most groups: the loop for a hundred thousand files
        self._columns.shown.extend(group.files)
        self._columns.identities.extend(group.identities)
        self._columns.facts.extend(
            map(FileFacts._make, zip(paths, *columns, repeat(False), strict=False))
        )
        self._places.extend(group.places)
        return range(start, len(self._places))

    def in_order(self) -> tuple[CorpusColumns, Sequence[int]]:
        """Return the files in the order of the prompt, and for each place that ``add`` returned the file's number."""
        columns, places = self._columns, self._places
        order = sorted(range(len(places)), key=places.__getitem__)
        if order == list(range(len(order))):  # as with one glob
            return columns, range(len(order))
        numbers = [0] * len(order)
        for number, added in enumerate(order):
            numbers[added] = number
        in_order = CorpusColumns(
            [columns.shown[added] for added in order],
            [columns.facts[added] for added in order],
            [columns.identities[added] for added in order],
            {numbers[added]: content_hash for added, content_hash in columns.hashes.items()},
        )
        return in_order, numbers

    def _add_singly(
        self, group: FileGroup, columns: Sequence[Sequence[Any]], unusual: Mapping[int, ReadFacts]
    ) -> Sequence[int]:
        added: list[int] = []
        members: Sequence[Member | None] = group.members or [None] * len(group.files)
        rows = zip(group.files, group.places, group.identities, members, *columns, strict=True)
        for number, (file, place, identity, member, *traits) in enumerate(rows):
            read_facts = unusual.get(number, USUAL)
            if (
                member is None and read_facts is USUAL and file.path not in self._marks
            ):  # as most are
                added.append(len(self._places))
                self._append(file, place, identity, FileFacts._make((file.path, *traits, False)))
                continue
            written_by = WrittenBy(read_facts.reason, read_facts.size)
            shown = self._shown(file, place, member, read_facts)
            if shown is None:
                added.append(ABSENT)
                continue
            added.append(len(self._places))
            if member and member.content_hash != identity[:HASH_BYTES]:
                self._columns.hashes[len(self._places)] = member.content_hash
            is_generated = self._reader.is_generated(file, written_by)
            facts = FileFacts._make((file.path, *traits, is_generated))
            self._append(shown, place, identity, facts)
        return added

    def _append(self, shown: ResolvedFile, place: int, identity: bytes, facts: FileFacts) -> None:
        self._columns.shown.append(shown)
        self._columns.identities.append(identity)
        self._columns.facts.append(facts)
        self._places.append(place)

    def _shown(
        self, file: ResolvedFile, place: int, member: Member | None, read_facts: ReadFacts
    ) -> ResolvedFile | None:
        """Return a file as it is to be shown, ``None`` where it is not, and note what is doubtful about it."""
        if read_facts.problem:
            self._reader.notes.add(file.path, NoteKind.VIEW, [(file.path, read_facts.problem)])
        if member and member.is_read:  # all about it was noted then
            if member.error:
                self.errors[place] = member.error
            return member.shown
        if read_facts.is_binary and self._reader.note_binary(file):
            return None
        written_by = WrittenBy(read_facts.reason, read_facts.size)
        if read_facts.error:
            # Known unchanged, so it is not read: guessing an encoding once more would take longer than all else.
            source = SourceFile(
                "", modified_at(file.file), read_facts.error, is_binary=read_facts.is_binary
            )
            if self._reader.shown(file, lambda: written_by):
                self.errors[place] = PreparedFile(file, source)
            return None
        shown: ResolvedFile | None = file
        if self._reader.is_generated(file, written_by):
            shown = self._reader.shown(
                file, lambda: written_by if written_by.reason else _as_written(file)
            )
        if shown and read_facts is not USUAL:
            invisible = (read_facts.line, read_facts.invisible) if read_facts.line else None
            self._reader.note(file, read_facts.encoding, invisible)
        return shown


def _as_written(file: ResolvedFile) -> WrittenBy:
    """Return what the text of a file says that only ``.gitattributes`` call generated: its size is not kept."""
    return WrittenBy.of(file.path, read_file(file.file).text)
