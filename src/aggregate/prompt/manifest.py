"""What became of the files of a prompt in another one: which are new, gone, changed, or at another level."""

from collections.abc import Iterator
from dataclasses import dataclass

from aggregate.base.values import Audit, FileChoice, Level


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that is not the same in two prompts.

    Attributes:
        path: As both prompts show it.
        before: Its level in the earlier one, ``None`` where it was no candidate.
        after: Its level in the later one, ``None`` where it is none.
        is_edited: Whether its content has changed in between.
    """

    path: str
    before: Level | None
    after: Level | None
    is_edited: bool = False

    @property
    def sentence(self) -> str:
        """The change in one line."""
        if self.before is None:
            return f"new: {self.path} ({self.after})"
        if self.after is None:
            return f"gone: {self.path} (was {self.before})"
        level = "" if self.before is self.after else f" ({self.before} → {self.after})"
        return f"{'changed' if self.is_edited else 'level'}: {self.path}{level}"


def compare_manifests(earlier: Audit, later: Audit) -> tuple[FileChange, ...]:
    """Return the files that differ: those of the later prompt in its order, then those that are gone."""
    before = {row.path: row for row in earlier.rows}
    after = {row.path: row for row in later.rows}
    gone = (FileChange(path, row.level, None) for path, row in before.items() if path not in after)
    return (*_changes(before, after), *gone)


def _changes(before: dict[str, FileChoice], after: dict[str, FileChoice]) -> Iterator[FileChange]:
    for path, row in after.items():
        old = before.get(path)
        if old is None:
            yield FileChange(path, None, row.level)
            continue
        are_known = old.content_hash and row.content_hash
        is_edited = bool(are_known) and old.content_hash != row.content_hash
        if is_edited or old.level is not row.level:
            yield FileChange(path, old.level, row.level, is_edited)
