"""From the files that a request selects to the corpus that a ranking reads; what is known unchanged is not read.

What is known of files that follow each other by their paths is kept together, in tables of a group.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import repeat
from operator import itemgetter
from typing import Final
from zlib import crc32

from aggregate.base.values import Redaction
from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.project.index import FileState, Index, file_state
from aggregate.prompt.file_corpus import ABSENT, FileCorpus, NumberedGroup, source_hash
from aggregate.prompt.file_reading import FileReader, NoteKind, ReadFacts, Reading, remember, unread
from aggregate.prompt.known_files import (
    IDENTITY_BYTES,
    USUAL,
    AnalysisIndex,
    AnalysisRequest,
    KnownFile,
    KnownGroup,
    pack_all,
)
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import MOST_MEMBERS, FileFacts

# Files of a group on average: an edit makes one group anew, in some hundredths of a second, and a project of 100,000
# files has some 1,600 groups to look a term up in.
_MEMBERS: Final = 64
_GROUPS_AT_ONCE: Final = 32  # Of which the index is asked at once
# Characters of a text that does not wait for the others of its group to be read, but is read once more.
_LARGE: Final = 200_000
# Bytes of analyses that wait in memory where no index keeps them; those of more files are made once more where they are
# asked for.
_MOST_HELD: Final = 64_000_000

# A file of the corpus: its place in the prompt, what it is, its identity, and what is known of it.
_Row = tuple[int, ResolvedFile, bytes, FileFacts]


@dataclass(slots=True)
class FileGroup:
    """A group of files on its way into the corpus.

    Attributes:
        places: Of these among all files of the prompt.
        name: What the index calls it by its files, whatever they hold.
        identities: The files' identities, ``b""`` while one is not known.
        states: The files as they were seen, where what they hold is known; none where the group is known as a whole.
        terms: The table of its terms, where no index keeps it.
    """

    files: Sequence[ResolvedFile]
    places: Sequence[int]
    name: bytes
    identities: list[bytes]
    states: list[FileState | None] = field(default_factory=list)
    seen_ns: int = 0
    known: KnownGroup | None = None
    terms: bytes | None = None

    @property
    def key(self) -> bytes:
        return sha256(b"".join(self.identities)).digest()


@dataclass(slots=True)
class _Plan:
    """A group whose tables are not known yet: the analyses of its files, and the places of those that are made."""

    group: FileGroup
    analyses: list[KnownFile | None] = field(default_factory=list)
    waiting: deque[int] = field(default_factory=deque)


def read_corpus(
    files: Sequence[ResolvedFile],
    *,
    index: Index,
    redaction: Redaction,
    reader: FileReader,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of ``files``, of which only those are read that the index does not know; these are counted."""
    reading = _CorpusReading(files, index, reader)
    groups = list(reading.groups())
    reading.look_at(groups)
    missing = [group for group in groups if group.known is None]
    if on_start:
        on_start(sum(len(group.files) for group in missing))
    with closing(reading.tables(missing)) as made:
        for group in made:
            if on_done:
                on_done(len(group.files))
    return reading.corpus(groups, FileReader(redaction))


class _CorpusReading:
    def __init__(self, files: Sequence[ResolvedFile], index: Index, reader: FileReader) -> None:
        self._files = files
        self._index = index
        self._reader = reader
        self._analyses = AnalysisIndex(index)
        # Files that were read in this run and are not as most: without their texts, by their paths.
        self._unusual: dict[str, Reading] = {}
        self._held: dict[bytes, bytes] = {}
        self._held_bytes = 0
        self._analysed = 0
        self._grouped = 0

    def groups(self) -> Iterator[FileGroup]:
        """Yield the files that can be read in groups whose borders follow from their paths: a new file moves few."""
        placed = sorted(
            (file.path, place) for place, file in enumerate(self._files) if not file.problem
        )
        places: list[int] = []
        for number, (path, place) in enumerate(placed, start=1):
            places.append(place)
            is_border = crc32(path.encode(errors="surrogatepass")) % _MEMBERS == 0
            if is_border or len(places) >= MOST_MEMBERS or number == len(placed):
                files = [self._files[place] for place in places]
                named = "\0".join([part for file in files for part in (file.file, file.path)])
                name = self._analyses.settings + named.encode(errors="surrogatepass")
                yield FileGroup(files, places, sha256(name).digest(), [b""] * len(files))
                places = []

    def look_at(self, groups: Sequence[FileGroup]) -> None:
        """Find out which files are unchanged, as a group or each, and load what is kept of groups of such."""
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            portion = groups[start : start + _GROUPS_AT_ONCE]
            looks = self._index.look_at_groups(
                [(group.name, [file.file for file in group.files]) for group in portion]
            )
            for group, joined in zip(portion, looks, strict=True):
                if joined:
                    starts = range(0, len(joined), IDENTITY_BYTES)
                    group.identities = [joined[start : start + IDENTITY_BYTES] for start in starts]
                else:
                    states = self._index.known([file.file for file in group.files])
                    group.seen_ns = max((state.seen_ns for state in states if state), default=0)
                    group.states = [
                        state if state and state.content_hash else None for state in states
                    ]
                    group.identities = [
                        self._analyses.identity(file.path, state.content_hash)
                        if state and state.content_hash
                        else b""
                        for file, state in zip(group.files, states, strict=True)
                    ]
            whole = [group for group in portion if all(group.identities)]
            kept = self._analyses.groups([group.key for group in whole])
            for group, known in zip(whole, kept, strict=True):
                group.known = known
                if known:
                    self._remember(group)

    def _remember(self, group: FileGroup) -> None:
        """Let the index know a group as a whole from now on, as long as its files are unchanged."""
        states = [state for state in group.states if state]
        if len(states) == len(group.files):
            self._index.remember_group(group.name, states, b"".join(group.identities))
        group.states = []

    def tables(self, groups: Sequence[FileGroup]) -> Generator[FileGroup, None, None]:
        """Find out about groups that are not known as they were seen: what is not known of their files is read."""
        plans: deque[_Plan] = deque()

        def requests() -> Iterator[AnalysisRequest]:
            for group in groups:
                plan, texts = self._plan(group)
                plans.append(plan)
                for place in list(plan.waiting):
                    source = texts.get(place) or self._read(group, place)
                    yield group.files[place].path, source
                yield None  # behind each group

        for packed in pack_all(requests()):
            plan = plans[0]
            if packed is not None:
                place = plan.waiting.popleft()
                plan.analyses[place] = KnownFile.unpack(packed)
                self._keep(plan.group.identities[place], packed)
                continue
            plans.popleft()
            if plan.group.known is None:
                known = [known for known in plan.analyses if known]
                plan.group.known, terms = KnownGroup.of(known)
                self._analyses.put_group(plan.group.key, plan.group.known, terms)
                if not self._index.is_used:
                    plan.group.terms = terms
                self._grouped += 1
            self._remember(plan.group)
            yield plan.group

    def _plan(self, group: FileGroup) -> tuple[_Plan, dict[int, SourceFile]]:
        """Find out what has to be analysed of a group: nothing where it is known once its unknown files are read."""
        texts: dict[int, SourceFile] = {}
        plan = _Plan(group)
        for place, identity in enumerate(group.identities):
            if not identity:
                source = self._read(group, place)
                if len(source.text) < _LARGE:
                    texts[place] = source
        (group.known,) = self._analyses.groups([group.key])
        if group.known is None:
            plan.analyses = self._analyses.files(group.identities)
            unknown = (place for place, known in enumerate(plan.analyses) if known is None)
            plan.waiting.extend(unknown)
        return plan, texts

    def _read(self, group: FileGroup, place: int) -> SourceFile:
        """Read a file, and return it without secrets, for all that may be kept."""
        file = group.files[place]
        self._reader.forget(file.path)
        reading = self._reader.read(file, hashed=True)
        source = reading.source
        remember(self._index, source, seen_ns=group.seen_ns)
        if group.states and source.info and source.content_hash:
            group.states[place] = file_state(source.info, seen_ns=group.seen_ns)
        content = source_hash(reading.clean)
        group.identities[place] = self._analyses.identity(file.path, content)
        is_as_asked = reading.file is file and not reading.is_listed
        is_usual = is_as_asked and reading.facts._replace(size=0) == USUAL
        if content != source.content_hash or not is_usual:
            bare = replace(source, text="")
            self._unusual[file.path] = reading._replace(source=bare, clean=bare)
        return reading.clean

    def _keep(self, identity: bytes, packed: bytes) -> None:
        """Keep a file's analysis in the index, or in memory where there is none."""
        self._analysed += 1
        if self._index.is_used:
            self._analyses.put_file(identity, packed)
        elif self._held_bytes + len(packed) <= _MOST_HELD:
            self._held[identity] = packed
            self._held_bytes += len(packed)

    def corpus(self, groups: Sequence[FileGroup], reader: FileReader) -> FileCorpus:
        """Return the corpus of groups that are known; the reader reads texts once more."""
        others = {
            place: unread(file)
            for place, file in enumerate(self._files)
            if file.problem and not file.is_remark
        }
        rows: list[_Row] = []
        for group in groups:
            rows += self._rows(group, others)
        rows.sort(key=itemgetter(0))
        numbers = {row[0]: number for number, row in enumerate(rows)}
        facts = [row[3] for row in rows]
        hashes = {
            number: self._unusual[path].source.content_hash
            for number, path in enumerate(each.path for each in facts)
            if path in self._unusual
        }
        return FileCorpus(
            files=facts,
            shown=[row[1] for row in rows],
            identities=[row[2] for row in rows],
            hashes=hashes,
            held=self._held,
            groups=[
                NumberedGroup(
                    group.known,
                    group.key,
                    group.terms,
                    [numbers.get(place, ABSENT) for place in group.places],
                )
                for group in groups
                if group.known
            ],
            others=[
                *(others[place] for place in sorted(others)),
                *map(unread, self._reader.remarks(self._files)),
            ],
            index=self._analyses,
            reader=reader,
            analysed=self._analysed,
            grouped=self._grouped,
        )

    def _rows(self, group: FileGroup, others: dict[int, Reading]) -> Iterator[_Row]:
        """Yield those files of a group that can be read and are shown; the errors of the rest go to ``others``."""
        if group.known is None:
            raise ValueError("a group is known before its files are added")
        columns, unusual = group.known.columns(), group.known.unusual
        paths = [file.path for file in group.files]
        facts = map(FileFacts._make, zip(paths, *columns, repeat(False), strict=False))
        rows = zip(group.places, group.files, group.identities, facts, strict=True)
        told = (self._reader.marks, self._unusual)
        if not unusual and all(each.keys().isdisjoint(paths) for each in told):
            yield from rows  # most groups: the loop for a hundred thousand files
            return
        for number, (place, file, identity, known) in enumerate(rows):
            read = unusual.get(number, USUAL)
            if read.problem:
                self._reader.note(file.path, NoteKind.VIEW, read.problem)
            reading = self._unusual.get(file.path) or self._known_reading(file, read)
            if reading.is_listed:
                continue
            if reading.source.error:
                others[place] = reading
                continue
            is_generated = bool(self._reader.why_generated(file, read))
            yield place, reading.file, identity, known._replace(is_generated=is_generated)

    def _known_reading(self, file: ResolvedFile, facts: ReadFacts) -> Reading:
        """Return what reading a file would give that is known; guessing an encoding once more would take long."""
        if not facts.generated and self._reader.why_generated(file, facts):
            # Only .gitattributes call it generated, and its size is not kept.
            facts = ReadFacts.of(file.path, read_file(file.file))
        shown = self._reader.shown(file, facts)
        if shown:
            self._reader.note_facts(file.path, facts)
        modified = modified_at(file.file) if facts.error else 0.0
        source = SourceFile("", modified, facts.error, is_binary=facts.is_binary)
        return Reading(shown or file, source, source, facts, is_listed=shown is None)
