"""``tracks.md``: the list of a project's tracks, in both forms that the Conductor has written."""

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import unquote

from aggregate.agents.tracks.checkboxes import Checkbox, lines_outside_fences, set_checkboxes

_ENTRY = re.compile(
    r"(?:- \[(?P<new>[ ~xX])\] \*\*Track: (?P<what>.*?)\*\*|#{2,3} \[(?P<old>[ ~xX])\] Track: (?P<was>.*?))\s*"
)
_LINK = re.compile(r"\]\((?P<link>[^)]+)\)")
TRACK_ID = re.compile(r"\w[\w.-]*")
"""What a track's id may be, in any script; it is a folder's name."""


@dataclass(frozen=True, slots=True)
class TrackEntry:
    """A track as ``tracks.md`` has it.

    Attributes:
        track_id: Its id, the last part of the link below the entry; ``""`` where there is no link.
        description: What the entry says.
        checkbox: How far it is.
        offset: Where the checkbox stands in the file's text.
    """

    track_id: str
    description: str
    checkbox: Checkbox
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
            checkbox = Checkbox(entry[group].lower())
            tracks.append(TrackEntry("", description, checkbox, start + entry.start(group)))
        elif tracks and not tracks[-1].track_id and (link := _LINK.search(line)):
            tracks[-1] = replace(tracks[-1], track_id=_track_id(link["link"]))
    return tracks


def mark_track(text: str, track_id: str, checkbox: Checkbox) -> str:
    """Return the text of ``tracks.md`` with one track's checkbox set; every other byte stays."""
    offsets = [entry.offset for entry in read_tracks_file(text) if entry.track_id == track_id]
    return set_checkboxes(text, dict.fromkeys(offsets, checkbox))


def _track_id(link: str) -> str:
    path = PurePosixPath(unquote(link.strip()))
    name = path.parent.name if path.suffix == ".md" else path.name
    return name if TRACK_ID.fullmatch(name) else ""
