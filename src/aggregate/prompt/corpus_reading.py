"""From the files that a request selects to the corpus that a ranking reads; what is known unchanged is not read."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Final

from aggregate.base.values import Redaction
from aggregate.project.files import SourceFile
from aggregate.project.index import Index, file_state
from aggregate.prompt.analysis_pool import pack_all, pack_one
from aggregate.prompt.file_corpus import CorpusFiles, FileCorpus, NumberedGroup, source_hash
from aggregate.prompt.file_groups import FileGroup, GroupLookup, GroupPlan, Member, groups_of
from aggregate.prompt.file_reading import FileReader, PreparedFile, unread
from aggregate.prompt.known_files import (
    AnalysisIndex,
    AnalysisRequest,
    KnownFile,
    KnownGroup,
    terms_of,
)
from aggregate.prompt.selection import ResolvedFile

_LARGE: Final = 200_000
"""Characters of a text that does not wait for the others of its group to be read."""
_MOST_HELD: Final = 64_000_000
"""Bytes of analyses that wait in memory where no index keeps them; those of more files are made once more where they
are asked for."""


def read_corpus(
    files: Sequence[ResolvedFile],
    *,
    index: Index,
    redaction: Redaction,
    reader: FileReader,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of ``files``, of which only those are read that the index does not know.

    Args:
        files: The candidates in the order of the prompt; remarks and what is not to be read may be among them.
        index: Where analyses are kept from run to run.
        redaction: What is a secret in them.
        reader: Reads the files, and notes what is doubtful about them.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
    """
    analyses = AnalysisIndex(index)
    reading = _CorpusReading(files, analyses, index, reader, redaction)
    return reading.corpus(on_start=on_start, on_done=on_done)


class _CorpusReading:
    """What is found out about the files, group by group."""

    def __init__(
        self,
        files: Sequence[ResolvedFile],
        analyses: AnalysisIndex,
        index: Index,
        reader: FileReader,
        redaction: Redaction,
    ) -> None:
        self._files = files
        self._analyses = analyses
        self._index = index
        self._reader = reader
        self._redaction = redaction
        self._lookup = GroupLookup(index, analyses)
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
        groups = list(groups_of(self._files, self._analyses.settings))
        self._lookup.look_at(groups)
        self._lookup.load(groups)
        missing = [group for group in groups if group.known is None]
        if on_start:
            on_start(sum(len(group.files) for group in missing))
        with closing(self._tables(missing)) as made:
            for group in made:
                if on_done:
                    on_done(len(group.files))
        files = CorpusFiles(self._reader)
        added = [files.add(group) for group in groups]
        columns, numbers = files.in_order()
        return FileCorpus(
            columns,
            groups=[
                NumberedGroup.of(group, places, numbers)
                for group, places in zip(groups, added, strict=True)
            ],
            others=self._others(files.errors),
            index=self._analyses,
            reader=FileReader(self._redaction),
            held=self._held,
            analysed=self._analysed,
            grouped=self._grouped,
        )

    def _others(self, errors: dict[int, PreparedFile]) -> list[PreparedFile]:
        """Return what could not be read, in the order of the prompt, and remarks."""
        errors = dict(errors)
        for place, file in enumerate(self._files):
            if file.problem and not file.is_remark:
                errors[place] = PreparedFile(file, unread(file))
        remarks = self._reader.remarks(self._files)
        return [
            *(errors[place] for place in sorted(errors)),
            *(PreparedFile(remark, unread(remark)) for remark in remarks),
        ]

    def _tables(self, groups: Sequence[FileGroup]) -> Generator[FileGroup, None, None]:
        """Find out about groups that are not known as they were seen: what is not known of their files is read."""
        plans: deque[GroupPlan] = deque()
        for packed in pack_all(self._requests(groups, plans)):
            plan = plans[0]
            if packed is None:
                plans.popleft()
                if not plan.is_known:
                    self._make(plan.group)
                self._lookup.remember(plan.group)
                plan.group.forget_members(self._reader.marks)
                yield plan.group
            else:
                self._analysed += 1
                self._keep(plan.waiting.popleft(), packed)

    def _requests(
        self, groups: Sequence[FileGroup], plans: deque[GroupPlan]
    ) -> Iterator[AnalysisRequest]:
        """Yield what to analyse of each group, and behind that nothing; put its plan behind those that wait for it."""
        for group in groups:
            plan, sources = self._plan(group)
            plans.append(plan)
            yield from sources
            yield None

    def _plan(self, group: FileGroup) -> tuple[GroupPlan, list[AnalysisRequest]]:
        """Find out what has to be analysed of a group: nothing where it is known once its unknown files are read."""
        members = group.members
        sources: dict[int, SourceFile] = {}
        for place, member in enumerate(members):
            if not member.identity:
                sources[place] = self._read(member)
        if sources and self._is_kept(group):
            return GroupPlan(group, is_known=True), []
        before = group.identities
        for place, known in enumerate(self._analyses.files(before)):
            member = members[place]
            member.known = member.known or known
            if member.known is None and place not in sources:
                sources[place] = self._read(member)
                if member.identity != before[place] and not member.known:
                    (member.known,) = self._analyses.files([member.identity])
        if before != group.identities and self._is_kept(group):
            return GroupPlan(group, is_known=True), []
        places = [place for place in sorted(sources) if members[place].known is None]
        plan = GroupPlan(group, waiting=deque(members[place] for place in places))
        return plan, [(members[place].file.path, sources[place]) for place in places]

    def _make(self, group: FileGroup) -> None:
        """Make the tables of a group of which all is known."""
        analyses = [member.known for member in group.members if member.known]
        group.known, terms = KnownGroup.of(analyses), terms_of(analyses)
        self._analyses.put_group(group.key, group.known, terms)
        if not self._index.is_used:
            group.terms = terms
        self._grouped += 1
        for member in group.members:
            member.known = None

    def _is_kept(self, group: FileGroup) -> bool:
        """Load what is kept of a group, and tell whether there is anything."""
        (group.known,) = self._analyses.groups([group.key])
        if group.known:
            for member in group.members:
                member.known = None
        return group.known is not None

    def _read(self, member: Member) -> SourceFile:
        """Read a file; a large one is analysed at once, so that its text need not wait."""
        file = member.file
        source, clean, shown = self._reader.read(file, hashed=True)
        if member.seen_ns and source.info and source.content_hash:
            member.state = file_state(source.info, seen_ns=member.seen_ns)
            self._index.remember(member.state, source.content_hash)
        member.is_read = True
        member.content_hash = source.content_hash
        member.identity = self._analyses.identity(file.path, source_hash(clean))
        if source.error:
            member.error = PreparedFile(shown, source) if shown else None
        else:
            member.shown = shown
        if len(clean.text) < _LARGE:
            return clean
        (member.known,) = self._analyses.files([member.identity])
        if member.known is None:
            self._analysed += 1
            self._keep(member, pack_one(file.path, clean))
        return SourceFile("")

    def _keep(self, member: Member, packed: bytes) -> None:
        """Take a file's analysis, and keep it in the index, or in memory where there is none."""
        member.known = KnownFile.unpack(packed)
        if self._index.is_used:
            self._analyses.put_file(member.identity, packed)
        elif self._held_bytes + len(packed) <= _MOST_HELD:
            self._held[member.identity] = packed
            self._held_bytes += len(packed)
