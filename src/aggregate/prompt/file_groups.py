"""Groups of files that follow each other by their paths: what is known of all of them is kept together."""

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from zlib import crc32

from aggregate.project.index import FileState, Index
from aggregate.prompt.file_reading import PreparedFile
from aggregate.prompt.known_files import IDENTITY_BYTES, AnalysisIndex, KnownFile, KnownGroup
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import MOST_MEMBERS

_MEMBERS: Final = 64
"""Files of a group on average: an edit makes one group anew, in some hundredths of a second, and a project of 100,000
files has some 1,600 groups to look a term up in."""


@dataclass(slots=True)
class Member:
    """A file of a group that is not known unchanged as a whole.

    Attributes:
        file: What it is.
        state: As it was seen, where what it holds is known; what is not known has to be looked at anyway.
        seen_ns: When it was looked at, in nanoseconds of Unix time, ``0`` where there is no regular file.
        content_hash: Of its bytes, ``b""`` where that is not known.
        identity: As the index knows it, ``b""`` while that is not known.
        shown: As it is to be shown, ``None`` where a remark stands for it or it could not be read.
        is_read: Whether it was read in this run, and all about it was noted.
        error: What stands for it where it could not be read.
        known: Its analysis, until its group is made.
    """

    file: ResolvedFile
    state: FileState | None = None
    seen_ns: int = 0
    content_hash: bytes = b""
    identity: bytes = b""
    shown: ResolvedFile | None = None
    is_read: bool = False
    error: PreparedFile | None = None
    known: KnownFile | None = None

    @property
    def is_usual(self) -> bool:
        """Whether it is known and to be shown as was asked, and its identity begins with the hash of its bytes."""
        is_as_asked = not self.is_read or self.shown is self.file
        has_hash = bool(self.content_hash) and self.identity.startswith(self.content_hash)
        return is_as_asked and has_hash


@dataclass(slots=True)
class FileGroup:
    """A group of files on its way into the corpus.

    Attributes:
        files: Its files, in the order of their paths.
        places: Of these among all files of the prompt.
        name: What the index calls it by its files, whatever they hold.
        members: What is known of each file by itself; empty while all of them are known to be unchanged.
        joined: The files' identities, ``b""`` while one is not known.
        known: What is known of it, ``None`` until it is made.
        terms: The table of its terms, where no index keeps it.
    """

    files: Sequence[ResolvedFile]
    places: Sequence[int]
    name: bytes
    members: list[Member] = field(default_factory=list)
    joined: bytes = b""
    known: KnownGroup | None = None
    terms: bytes | None = None

    @property
    def is_known_unchanged(self) -> bool:
        """Whether what all of its files hold is known without reading one."""
        return bool(self.joined) or all(member.identity for member in self.members)

    def forget_members(self, marks: Container[str]) -> None:
        """Keep of the files only what a group has that was known unchanged as a whole, where that tells all of them.

        A member takes some hundred bytes, which a first run would have for each file of the project to its end.

        Args:
            marks: The paths of files that somebody has marked as generated or not.
        """
        is_told = self.known is not None and not self.known.unusual
        if is_told and all(
            member.is_usual and member.file.path not in marks for member in self.members
        ):
            self.joined = b"".join([member.identity for member in self.members])
            self.members = []

    @property
    def key(self) -> bytes:
        """What the index calls it by what its files hold."""
        joined = b"".join([member.identity for member in self.members]) or self.joined
        return sha256(joined).digest()

    @property
    def identities(self) -> list[bytes]:
        """The files' identities, ``b""`` where one is not known."""
        if self.members:
            return [member.identity for member in self.members]
        starts = range(0, len(self.joined), IDENTITY_BYTES)
        return [self.joined[start : start + IDENTITY_BYTES] for start in starts]


@dataclass(slots=True)
class GroupPlan:
    """A group whose tables are not known yet.

    Attributes:
        group: The group.
        is_known: Whether they are known after all.
        waiting: Those of its files that are being analysed.
    """

    group: FileGroup
    is_known: bool = False
    waiting: deque[Member] = field(default_factory=deque)


def groups_of(files: Sequence[ResolvedFile], settings: bytes) -> Iterator[FileGroup]:
    """Yield the files that can be read in groups whose borders follow from their paths alone.

    So a new file moves few of them.

    Args:
        files: All files of the prompt.
        settings: A digest of what decides, besides its files, on what is known of a group.
    """
    placed = [(file.path, place) for place, file in enumerate(files) if not file.problem]
    placed.sort()
    places: list[int] = []
    for path, place in placed:
        places.append(place)
        is_border = crc32(path.encode(errors="surrogatepass")) % _MEMBERS == 0
        if is_border or len(places) >= MOST_MEMBERS:
            yield _group(files, places, settings)
            places = []
    if places:
        yield _group(files, places, settings)


def _group(files: Sequence[ResolvedFile], places: Sequence[int], settings: bytes) -> FileGroup:
    members = [files[place] for place in places]
    names = "\0".join([f"{member.path}\0{member.file}" for member in members])
    name = sha256(settings + names.encode(errors="surrogatepass")).digest()
    return FileGroup(members, places, name)


_LOOKED_AT: Final = 2_000
"""Files whose states are asked for at once."""
_GROUPS_LOOKED_AT: Final = 100
"""Groups that are loaded at once: what is loaded is in memory twice for a moment."""


class GroupLookup:
    """Knows groups of files again by what the index keeps of their states.

    Args:
        index: Where states are kept.
        analyses: Finds what is known of files by what they hold.
    """

    def __init__(self, index: Index, analyses: AnalysisIndex) -> None:
        self._index = index
        self._analyses = analyses

    def look_at(self, groups: Sequence[FileGroup]) -> None:
        """Find out which groups are unchanged as a whole, and which files of the others are."""
        changed: list[FileGroup] = []
        for start in range(0, len(groups), _GROUPS_LOOKED_AT):
            portion = groups[start : start + _GROUPS_LOOKED_AT]
            looks = self._index.look_at_groups(
                [(group.name, [file.file for file in group.files]) for group in portion]
            )
            for group, joined in zip(portion, looks, strict=True):
                if joined and len(joined) == IDENTITY_BYTES * len(group.files):
                    group.joined = joined
                else:
                    changed.append(group)
        self._look_at_members(changed)

    def _look_at_members(self, groups: Sequence[FileGroup]) -> None:
        """Find out which files of some groups are unchanged."""
        for group in groups:
            group.members = [Member(file) for file in group.files]
        members = [member for group in groups for member in group.members]
        for start in range(0, len(members), _LOOKED_AT):
            portion = members[start : start + _LOOKED_AT]
            states = self._index.known([member.file.file for member in portion])
            for member, state in zip(portion, states, strict=True):
                member.seen_ns = state.seen_ns if state else 0
                if state and state.content_hash:
                    member.state = state
                    member.content_hash = state.content_hash
                    member.identity = self._analyses.identity(member.file.path, state.content_hash)

    def load(self, groups: Sequence[FileGroup]) -> None:
        """Load what is kept of those groups whose files are all known unchanged."""
        loadable = [group for group in groups if group.is_known_unchanged]
        lost: list[FileGroup] = []
        for start in range(0, len(loadable), _GROUPS_LOOKED_AT):
            portion = loadable[start : start + _GROUPS_LOOKED_AT]
            kept = self._analyses.groups([group.key for group in portion])
            for group, known in zip(portion, kept, strict=True):
                group.known = known
                if known and group.members:
                    self.remember(group)
                elif not known and not group.members:
                    lost.append(group)
        self._look_at_members(lost)

    def remember(self, group: FileGroup) -> None:
        """Let the index know the group as a whole from now on, as long as its files are unchanged."""
        states = [member.state for member in group.members if member.state and member.content_hash]
        if len(states) == len(group.members):
            joined = b"".join(member.identity for member in group.members)
            self._index.remember_group(group.name, states, joined)
        for member in group.members:
            member.state = None
