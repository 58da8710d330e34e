"""A track's ``spec.md``: what all its tickets are for, which each worker is shown in full."""

from dataclasses import replace
from typing import NamedTuple, Self

from aggregate.compose.request import Request
from aggregate.compose.selection import display_path
from aggregate.conductor.track import Track
from aggregate.disk.reading import is_file
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem

SPEC = "spec.md"


class TrackSpec(NamedTuple):
    """What a track is for.

    Attributes:
        description: What ``tracks.md`` says.
        path: Where ``spec.md`` is, ``""`` where there is none or it is empty.
    """

    description: str = ""
    path: str = ""

    @classmethod
    def of(cls, track: Track | None) -> Self:
        """Return the specification of a track, an empty one for none."""
        if track is None:
            return cls()
        path = track.folder / SPEC
        has_text = is_file(path) and path.stat().st_size > 0
        return cls(track.description, str(path) if has_text else "")

    def entry(self, base_dir: str) -> tuple[Entry, ...]:
        """Return the specification as a file that is shown in full, none where there is none."""
        if not self.path:
            return ()
        return (Entry(FileItem(display_path(self.path, base_dir), force_full=True)),)

    def added_to(self, request: Request) -> Request:
        """Return a request that shows the specification too."""
        return replace(request, entries=(*request.entries, *self.entry(str(request.base_dir))))

    def shown_path(self, request: Request) -> str:
        """Return the path as a prompt shows it, ``""`` for no specification."""
        return display_path(self.path, request.base_dir) if self.path else ""
