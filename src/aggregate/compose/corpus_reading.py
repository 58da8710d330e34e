"""From the files that a request selects to the corpus that a ranking reads; what is known unchanged is not read."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from aggregate.compose.analysis_index import (
    USUAL,
    AnalysisIndex,
    AnalysisRequest,
    KnownFile,
    KnownGroup,
    ReadFacts,
)
from aggregate.compose.analysis_pool import pack_all
from aggregate.compose.file_corpus import CorpusFile, FileCorpus, NumberedGroup, source_hash
from aggregate.compose.file_reading import FileReader, unread
from aggregate.compose.generated_files import WrittenBy
from aggregate.compose.prepared_files import PreparedFile
from aggregate.compose.selection import ResolvedFile
from aggregate.index.file_states import FileState, file_state
from aggregate.index.store import Index
from aggregate.ranking.corpus import FileFacts
from aggregate.ranking.term_groups import MOST_MEMBERS
from aggregate.sources.file_content import SourceFile, modified_at, read_file

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction

_MEMBERS: Final = 64
"""Files of a group on average: an edit makes one group anew, in some hundredths of a second, and a project of 100,000
files has some 1,600 groups to look a term up in."""
_LOOKED_AT: Final = 2_000
"""Files whose states are asked for at once."""
_LARGE: Final = 200_000
"""Characters of a text that does not wait for the others of its group to be read."""
_MOST_HELD: Final = 64_000_000
"""Bytes of analyses that wait in memory where no index keeps them; those of more files are made once more where they
are asked for."""


def read_corpus(
    files: Sequence[ResolvedFile],
    *,
    index: Index,
    redaction: "Redaction | None",
    reader: FileReader,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of ``files``, of which only those are read that the index does not know.

    Args:
        files: The candidates in the order of the prompt; remarks and what is not to be read may be among them.
        index: Where analyses are kept from run to run.
        redaction: Which secrets are replaced before, ``None`` for none.
        reader: Reads the files, and notes what is doubtful about them.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
    """
    analyses = AnalysisIndex(index, redaction)
    reading = _CorpusReading(files, analyses, index, reader, redaction)
    return reading.corpus(on_start=on_start, on_done=on_done)


@dataclass(slots=True)
class _Member:
    """A file on its way into the corpus.

    Attributes:
        file: What it is.
        place: Among all files of the prompt.
        state: As it was just seen, where it has to be read.
        content_hash: Of its bytes, ``b""`` where that is not known.
        identity: As the index knows it, ``b""`` while that is not known.
        shown: As it is to be shown, ``None`` where a remark stands for it or it could not be read.
        is_read: Whether it was read in this run, and all about it was noted.
        error: What stands for it where it could not be read.
        known: Its analysis, until its group is made.
        facts: What is told of it.
        number: In the corpus, ``-1`` for none.
    """

    file: ResolvedFile
    place: int
    state: FileState | None = None
    content_hash: bytes = b""
    identity: bytes = b""
    shown: ResolvedFile | None = None
    is_read: bool = False
    error: PreparedFile | None = None
    known: KnownFile | None = None
    facts: FileFacts | None = None
    number: int = -1


@dataclass(slots=True)
class _Plan:
    """A group whose tables are not known yet.

    Attributes:
        group: Its files.
        kept: Its tables, where they are known after all.
        waiting: Those of its files that are being analysed.
    """

    group: Sequence[_Member]
    kept: KnownGroup | None = None
    waiting: deque[_Member] = field(default_factory=deque)


class _CorpusReading:
    """What is found out about the files, group by group."""

    def __init__(
        self,
        files: Sequence[ResolvedFile],
        analyses: AnalysisIndex,
        index: Index,
        reader: FileReader,
        redaction: "Redaction | None",
    ) -> None:
        self._files = files
        self._analyses = analyses
        self._index = index
        self._reader = reader
        self._redaction = redaction
        self._held: dict[bytes, bytes] = {}
        self._held_bytes = 0
        self._analysed = 0
        self._grouped = 0

    def corpus(
        self,
        *,
        on_start: Callable[[int], None] | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> FileCorpus:
        """Return the corpus; the arguments are those of ``read_corpus``."""
        members = self._members()
        groups = list(_groups(members))
        known = self._known_groups(groups)
        missing = [group for group, kept in zip(groups, known, strict=True) if kept is None]
        if on_start:
            on_start(sum(map(len, missing)))
        tables: list[KnownGroup] = []
        with closing(self._tables(missing)) as made:
            for group, kept in zip(groups, known, strict=True):
                tables.append(next(made) if kept is None else kept)
                if on_done and kept is None:
                    on_done(len(group))
        for group, table in zip(groups, tables, strict=True):
            for member, (traits, facts) in zip(group, table.facts(), strict=True):
                self._settle(member, traits, USUAL if facts is None else ReadFacts(*facts))
        others = self._others(members)
        files = self._numbered(members)
        return FileCorpus(
            [
                CorpusFile(each.shown, each.identity, each.content_hash)
                for each in files
                if each.shown
            ],
            [each.facts for each in files if each.facts],
            groups=[
                NumberedGroup(table, [member.number for member in group])
                for group, table in zip(groups, tables, strict=True)
            ],
            others=others,
            index=self._analyses,
            reader=FileReader(self._redaction),
            held=self._held,
            analysed=self._analysed,
            grouped=self._grouped,
        )

    def _numbered(self, members: Sequence[_Member]) -> list[_Member]:
        """Return the members that are in the corpus in the order of the prompt, and give them their numbers."""
        files = sorted((each for each in members if each.shown), key=lambda each: each.place)
        for number, member in enumerate(files):
            member.number = number
        return files

    def _others(self, members: Sequence[_Member]) -> list[PreparedFile]:
        """Return what could not be read, in the order of the prompt, and remarks."""
        errors = {each.place: each.error for each in members if each.error}
        for place, file in enumerate(self._files):
            if file.problem and not file.is_remark:
                errors[place] = PreparedFile(file, unread(file))
        remarks = self._reader.remarks(self._files)
        return [
            *(errors[place] for place in sorted(errors)),
            *(PreparedFile(remark, unread(remark)) for remark in remarks),
        ]

    def _members(self) -> list[_Member]:
        """Return the files to read in the order of their paths, with what is known of each."""
        files = [(place, file) for place, file in enumerate(self._files) if not file.problem]
        files.sort(key=lambda placed: placed[1].path)
        members: list[_Member] = []
        for start in range(0, len(files), _LOOKED_AT):
            portion = files[start : start + _LOOKED_AT]
            states = self._index.known([file.file for _, file in portion])
            for (place, file), state in zip(portion, states, strict=True):
                member = _Member(file, place)
                if state and state.content_hash:
                    member.content_hash = state.content_hash
                    member.identity = self._analyses.identity(file.path, state.content_hash)
                else:
                    member.state = state
                members.append(member)
        return members

    def _known_groups(self, groups: Sequence[Sequence[_Member]]) -> list[KnownGroup | None]:
        """Return the tables of those groups whose files are all known unchanged."""
        identities = [[member.identity for member in group] for group in groups]
        wanted = [place for place, group in enumerate(identities) if all(group)]
        known: list[KnownGroup | None] = [None] * len(groups)
        kept = self._analyses.groups([identities[place] for place in wanted])
        for place, group in zip(wanted, kept, strict=True):
            known[place] = group
        return known

    def _tables(self, groups: Sequence[Sequence[_Member]]) -> Generator[KnownGroup, None, None]:
        """Yield the tables of groups that are not known as they were seen: what is not known of their files is read."""
        plans: deque[_Plan] = deque()
        for packed in pack_all(self._requests(groups, plans)):
            plan = plans[0]
            if packed is None:
                plans.popleft()
                yield plan.kept or self._made(plan.group)
            else:
                self._analysed += 1
                self._keep(plan.waiting.popleft(), packed)

    def _requests(
        self, groups: Sequence[Sequence[_Member]], plans: deque["_Plan"]
    ) -> Iterator[AnalysisRequest]:
        """Yield what to analyse of each group, and behind that nothing; put its plan behind those that wait for it."""
        for group in groups:
            plan, sources = self._plan(group)
            plans.append(plan)
            yield from sources
            yield None

    def _plan(self, group: Sequence[_Member]) -> tuple["_Plan", list[AnalysisRequest]]:
        """Find out what has to be analysed of a group: nothing where it is known once its unknown files are read."""
        sources: dict[int, SourceFile] = {}
        for place, member in enumerate(group):
            if not member.identity:
                sources[place] = self._read(member)
        if sources and (kept := self._kept_group(group)):
            return _Plan(group, kept), []
        before = [member.identity for member in group]
        for place, known in enumerate(self._analyses.files(before)):
            member = group[place]
            member.known = member.known or known
            if member.known is None and place not in sources:
                sources[place] = self._read(member)
                if member.identity != before[place] and not member.known:
                    (member.known,) = self._analyses.files([member.identity])
        is_changed = before != [member.identity for member in group]
        if is_changed and (kept := self._kept_group(group)):
            return _Plan(group, kept), []
        places = [place for place in sorted(sources) if group[place].known is None]
        waiting = deque(group[place] for place in places)
        return _Plan(group, None, waiting), [
            (group[place].file.path, sources[place]) for place in places
        ]

    def _made(self, group: Sequence[_Member]) -> KnownGroup:
        """Make the tables of a group of which all is known."""
        made = KnownGroup.of([member.known for member in group if member.known])
        self._analyses.put_group([member.identity for member in group], made)
        self._grouped += 1
        for member in group:
            member.known = None
        return made

    def _kept_group(self, group: Sequence[_Member]) -> KnownGroup | None:
        (kept,) = self._analyses.groups([[member.identity for member in group]])
        if kept:
            for member in group:
                member.known = None
        return kept

    def _read(self, member: _Member) -> SourceFile:
        """Read a file; a large one is analysed at once, so that its text need not wait."""
        file = member.file
        if member.state is None:
            (member.state,) = self._index.known([file.file])
        source, shown, _ = self._reader.read(file, hashed=True)
        if member.state and source.info and source.content_hash:
            state = file_state(source.info, seen_ns=member.state.seen_ns)
            self._index.remember(state, source.content_hash)
        member.is_read = True
        member.state = None
        member.content_hash = source.content_hash
        member.identity = self._analyses.identity(file.path, source_hash(source))
        if source.error:
            member.error = PreparedFile(shown, source) if shown else None
        else:
            member.shown = shown
        if len(source.text) < _LARGE:
            return source
        (member.known,) = self._analyses.files([member.identity])
        if member.known is None:
            self._analysed += 1
            self._keep(member, KnownFile.of(file.path, source).pack())
        return SourceFile("")

    def _keep(self, member: _Member, packed: bytes) -> None:
        """Take a file's analysis, and keep it in the index, or in memory where there is none."""
        member.known = KnownFile.unpack(packed)
        if self._index.is_used:
            self._analyses.put_file(member.identity, packed)
        elif self._held_bytes + len(packed) <= _MOST_HELD:
            self._held[member.identity] = packed
            self._held_bytes += len(packed)

    def _settle(self, member: _Member, traits: Sequence[Any], facts: ReadFacts) -> None:
        """Find out how a file is to be shown, and note what is doubtful about one that was not read in this run."""
        file = member.file
        written_by = WrittenBy(facts.reason, facts.size)
        is_generated = self._reader.is_generated(file, written_by)
        member.facts = FileFacts._make((file.path, *traits[:-1], is_generated))  # quick for 100,000
        if member.is_read or (facts.is_binary and self._reader.note_binary(file)):
            return
        if facts.error:
            # Known unchanged, so it is not read: guessing an encoding once more would take longer than all else.
            source = SourceFile("", modified_at(file.file), facts.error, is_binary=facts.is_binary)
            if self._reader.shown(file, lambda: written_by):
                member.error = PreparedFile(file, source)
            return
        said = (lambda: written_by) if facts.reason else (lambda: _as_written(file))
        member.shown = self._reader.shown(file, said) if is_generated else file
        if member.shown and facts is not USUAL:
            invisible = (facts.line, facts.invisible) if facts.line else None
            self._reader.note(file, facts.encoding, invisible)


def _as_written(file: ResolvedFile) -> WrittenBy:
    """Return what the text of a file says that only ``.gitattributes`` call generated: its size is not kept."""
    return WrittenBy.of(file.path, read_file(file.file).text)


def _groups(members: Sequence[_Member]) -> Iterator[list[_Member]]:
    """Yield the members in groups whose borders follow from their paths alone, so that a new file moves few of them."""
    group: list[_Member] = []
    for member in members:
        group.append(member)
        path = member.file.path.encode(errors="surrogatepass")
        if len(group) >= MOST_MEMBERS or crc32(path) % _MEMBERS == 0:
            yield group
            group = []
    if group:
        yield group
