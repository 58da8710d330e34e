"""Which files a draft asks for, found out again and again: folders are listed once for each state of the disk."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from aggregate.base.values import Entry, Scope
from aggregate.project.files import FolderListing
from aggregate.prompt import Request, Selection, select_files


class _Selected(NamedTuple):
    disk: int
    asked: tuple[object, ...]
    selection: Selection


class KeptSelection:
    """Selects the files of requests for one project; may be asked from any thread.

    What is the same as in the last selection is the same object there, so that comparing two of them is quick.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._entries: Sequence[Entry] = ()
        self._last: _Selected | None = None

    def select(self, request: Request, *, disk: int) -> Selection:
        """Return the files of a request.

        Args:
            request: Whose.
            disk: A number for the state of the disk: as long as it is the same, no file was changed.
        """
        with self._lock:
            entries = self._entries = self._as_before(request.entries)
            asked = _asked(request, entries)
            last = self._last
            if last is not None and last.disk == disk and last.asked == asked:
                return last.selection
            selection = select_files(
                replace(request, entries=entries),
                listing=self._listing_of(request.scope, disk),
            )
            self._last = _Selected(disk, asked, selection)
            return selection

    def _listing_of(self, scope: Scope, disk: int) -> FolderListing:
        if self._listing is None or self._listing[:2] != (disk, scope):
            self._listing = disk, scope, FolderListing(scope)
        return self._listing[2]

    def _as_before(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return the entries, each that was there before as the object that it was."""
        before: dict[str, list[Entry]] = {}
        for entry in self._entries:
            before.setdefault(entry.item.path, []).append(entry)
        return tuple(
            next((known for known in before.get(entry.item.path, ()) if known == entry), entry)
            for entry in entries
        )


def _asked(request: Request, entries: Sequence[Entry]) -> tuple[object, ...]:
    """Return what of a request decides on its files; all of what ``select_files`` looks at."""
    return (
        request.base_dir,
        entries,
        request.exclude,
        request.output_dir,
        request.namespace,
        request.shown_from,
        request.scope,
        request.generated,
        request.focus_paths,
        request.task is None,
        request.budget is None,
        request.is_tier3,
    )
