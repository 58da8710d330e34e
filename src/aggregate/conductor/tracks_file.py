"""``tracks.md``: the register of a project's tracks, in both forms that the Conductor has written."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from aggregate.conductor.checkboxes import Checkbox, lines_outside_fences, set_checkboxes

_ENTRY = re.compile(
    r"(?:- \[(?P<new>[ ~xX])\] \*\*Track: (?P<what>.*?)\*\*|#{2,3} \[(?P<old>[ ~xX])\] Track: (?P<was>.*?))\s*"
)
_LINK = re.compile(r"\]\((?P<link>[^)]+)\)")
TRACK_ID = re.compile(r"\w[\w.-]*")
"""What a track's id may be, in any script; it is a folder's name."""


@dataclass(frozen=True, slots=True)
class TrackEntry:
    """A track as the register has it.

    Attributes:
        track_id: Its id, the last part of the link below the entry; ``""`` where there is no link.
        description: What the entry says.
        mark: How far it is.
        offset: Where the mark stands in the register's text.
    """

    track_id: str
    description: str
    mark: Checkbox
    offset: int


def read_tracks_file(text: str) -> list[TrackEntry]:
    """Return the tracks of a ``tracks.md`` in its order.

    An entry is ``- [ ] **Track: <description>**`` or, as first written, ``## [ ] Track: <description>``; the link on a
    line below names its folder. What stands in a fenced block is no entry.
    """
    tracks: list[TrackEntry] = []
    for start, line in lines_outside_fences(text):
        if entry := _ENTRY.fullmatch(line):
            group = "new" if entry["new"] else "old"
            description = (entry["what"] or entry["was"] or "").strip()
            tracks.append(TrackEntry("", description, Checkbox(entry[group].lower()), start + entry.start(group)))
        elif tracks and not tracks[-1].track_id and (link := _LINK.search(line)):
            last = tracks[-1]
            tracks[-1] = TrackEntry(_track_id(link["link"]), last.description, last.mark, last.offset)
    return tracks


def mark_track(text: str, track_id: str, mark: Checkbox) -> str:
    """Return the register with one track's mark set; every other byte stays."""
    return set_checkboxes(text, {one.offset: mark for one in read_tracks_file(text) if one.track_id == track_id})


def _track_id(link: str) -> str:
    path = PurePosixPath(unquote(link.strip()))
    name = path.parent.name if path.suffix == ".md" else path.name
    return name if TRACK_ID.fullmatch(name) else ""
