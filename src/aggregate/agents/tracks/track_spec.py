"""A track's ``spec.md``: what all its tickets are for, which each worker is shown in full."""

from dataclasses import replace
from typing import NamedTuple, Self

from aggregate.agents.tracks.track import Track
from aggregate.base.disk import is_file
from aggregate.base.errors import TrackError
from aggregate.base.values import Entry, FileItem
from aggregate.prompt import Request, display_path

SPEC = "spec.md"
SPEC_BYTES = 4_000_000
"""About a million tokens, as much as the largest windows hold."""


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
        """Return the specification of a track, an empty one for none.

        Raises:
            TrackError: It is larger than what any worker can be shown.
        """
        if track is None:
            return cls()
        path = track.folder / SPEC
        size = path.stat().st_size if is_file(path) else 0
        if size > SPEC_BYTES:
            raise TrackError(
                f"{path}: has {size:,} bytes, and each worker is shown all of it: shorten it to {SPEC_BYTES:,} or less"
            )
        return cls(track.description, str(path) if size else "")

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


NO_SPEC = TrackSpec()
"""Of tickets that belong to no track."""
