"""What is known of changes on the disk between two prompts."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

_DECIDING: Final = frozenset({".gitignore", ".gitattributes"})
"""Names of files that decide on others, so that the listing may be another one."""


class DiskChanges(NamedTuple):
    """What the next prompt has to look at.

    Attributes:
        disk: The number of the disk's state: as long as it is the same, no file was changed.
        changed: The files that were changed, ``None`` where that is not known.
        must_list: Whether there may be other files.
    """

    disk: int
    changed: set[str] | None
    must_list: bool


class DiskState:
    """Collects what was changed until the next prompt; for one thread at a time.

    Attributes:
        number: Of the state that is known.
        is_watched: Whether somebody tells of changes.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_watched = False
        self._changed: set[str] | None = None
        self._must_list = True

    def look_anew(self) -> None:
        """Let the next prompt look at everything."""
        self.number += 1
        self._changed, self._must_list = None, True

    def forget_changes(self, *, must_list: bool) -> None:
        """Let the next prompt look at all files that are listed: what came of the last changes is not known.

        Args:
            must_list: Whether the files could not be listed, though there may be others.
        """
        self._changed = None
        self._must_list |= must_list

    def note(self, paths: Iterable[str], listed: Collection[str], *, gone: Collection[str]) -> None:
        """Note that files were changed, made or deleted.

        Args:
            paths: These, as the prompt shows them.
            listed: All files that are known.
            gone: Those of the paths at which there is nothing any more.
        """
        changed = [*paths]
        self.number += 1
        if self._changed is not None:
            self._changed.update(changed)
        self._must_list |= any(
            path not in listed or path.rpartition("/")[2] in _DECIDING or path in gone
            for path in changed
        )

    def take(self) -> DiskChanges:
        """Return what was changed, for a prompt that looks at it; what comes then is for the next one."""
        if not self.is_watched:  # whatever is on the disk may have been changed
            self.number += 1
            self._changed = None
        changes = DiskChanges(self.number, self._changed, self._must_list)
        self._changed, self._must_list = set(), False
        return changes
