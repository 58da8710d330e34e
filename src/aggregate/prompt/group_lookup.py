"""Which groups of files are unchanged since they were read, and what is known of these."""

from collections.abc import Sequence
from typing import Final

from aggregate.project.index import Index
from aggregate.prompt.analysis_index import IDENTITY_BYTES, AnalysisIndex
from aggregate.prompt.file_groups import FileGroup, Member

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
