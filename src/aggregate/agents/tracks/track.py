"""Tracks: folders in ``conductor/tracks/``, and entries of ``tracks.md``, edited in place."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath
from textwrap import wrap
from urllib.parse import unquote

from aggregate.agents.tracks.tickets import TICKETS, Ticket, Tickets, load_tickets
from aggregate.base.disk.reading import project_root, read_bytes, read_text
from aggregate.base.disk.writing import confined, exclusive_access, replace_text
from aggregate.base.errors import TrackError
from aggregate.base.text import heading_text, with_fences

_ENTRY = re.compile(
    r"(?:- \[(?P<new>[ ~xX])\] \*\*Track: (?P<what>.*?)\*\*|#{2,3} \[(?P<old>[ ~xX])\] Track: (?P<was>.*?))\s*"
)
_LINK = re.compile(r"\]\((?P<link>[^)]+)\)")
TRACK_ID = re.compile(r"\w[\w.-]*")  # in any script; it is a folder's name
FOLDER = "conductor"
TRACKS = "tracks.md"


class Checkbox(StrEnum):
    """The state of a track: the character between the brackets."""

    OPEN = " "
    STARTED = "~"
    DONE = "x"


@dataclass(frozen=True, slots=True)
class TrackEntry:
    """An entry of ``tracks.md``.

    The id is the last part of the entry's link, ``""`` without a link.
    """

    track_id: str
    description: str
    checkbox: Checkbox
    offset: int  # of the checkbox in the file's text


def read_tracks_file(text: str) -> list[TrackEntry]:
    """Return the tracks of a ``tracks.md`` in order.

    An entry is ``- [ ] **Track: <description>**`` or, in an older format, ``## [ ] Track: <description>``; the link on
    a line below names its folder. Fenced blocks are skipped.
    """
    tracks: list[TrackEntry] = []
    start = 0
    for line, is_fenced in with_fences(text.split("\n")):
        if is_fenced:
            pass
        elif entry := _ENTRY.fullmatch(line):
            group = "new" if entry["new"] else "old"
            description = (entry["what"] or entry["was"] or "").strip()
            checkbox = Checkbox(entry[group].lower())
            tracks.append(TrackEntry("", description, checkbox, start + entry.start(group)))
        elif tracks and not tracks[-1].track_id and (link := _LINK.search(line)):
            path = PurePosixPath(unquote(link["link"].strip()))
            name = path.parent.name if path.suffix == ".md" else path.name
            track_id = name if TRACK_ID.fullmatch(name) else ""
            tracks[-1] = replace(tracks[-1], track_id=track_id)
        start += len(line) + 1
    return tracks


def mark_track(text: str, track_id: str, checkbox: Checkbox) -> str:
    for entry in read_tracks_file(text):
        if entry.track_id == track_id:
            text = f"{text[: entry.offset]}{checkbox.value}{text[entry.offset + 1 :]}"
    return text


@dataclass(frozen=True, slots=True)
class Track:
    track_id: str
    description: str
    folder: Path
    tracks_file: Path
    written_in: Path | None = None  # the folder of its files, with links resolved

    def tickets(self) -> Tickets:
        path = self.folder / TICKETS
        if not path.is_file():
            raise TrackError(
                f"{path}: the track has no tickets: write a [[tickets]] table with id and prompt for each"
            )
        return load_tickets(path)

    def mark(self, checkbox: Checkbox) -> None:
        """Set the track's checkbox in ``tracks.md``, under a lock."""
        with exclusive_access(confined(self.tracks_file, self.written_in)):
            before = _read(self.tracks_file)
            after = mark_track(before, self.track_id, checkbox)
            if after != before:
                replace_text(self.tracks_file, after)


def open_track(project_folder: Path, name: str) -> Track:
    """Return the track whose id is ``name``, or the only one that begins with it."""
    tracks_file = project_folder / FOLDER / TRACKS
    if not tracks_file.is_file():
        raise TrackError(
            f"{tracks_file}: there is no such file to list tracks: write one, or name the project with --config"
        )
    linked = [entry for entry in read_tracks_file(_read(tracks_file)) if entry.track_id]
    exact = [entry for entry in linked if entry.track_id == name]
    matching = exact or [entry for entry in linked if entry.track_id.startswith(name)]
    if not exact and len(matching) != 1:
        names = ", ".join(entry.track_id for entry in (matching or linked))
        if matching:
            raise TrackError(
                f"{tracks_file}: {name} is the beginning of several tracks' ids ({names}): write a longer beginning"
            )
        names = names or "none with a link to its folder"
        raise TrackError(f"{tracks_file}: there is no track {name}: it has {names}")
    entry = matching[0]
    folder = tracks_file.parent / "tracks" / entry.track_id
    if not folder.is_dir():
        raise TrackError(
            f"{tracks_file}: the track {entry.track_id} has no folder {folder}: create it or correct the link"
        )
    written_in = Path(project_root(project_folder))
    return Track(entry.track_id, entry.description, folder, tracks_file, written_in)


def list_tracks(project_folder: Path) -> list[TrackEntry]:
    return read_tracks_file(_read(project_folder / FOLDER / TRACKS))


def _read(path: Path) -> str:
    try:
        return read_bytes(path).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TrackError(
            f"{path}: cannot be read ({reason}): make it a readable UTF-8 file"
        ) from None


_SLUG_CHARACTERS = 40  # of an id's name, part of file names beside a date and a ticket
_REGISTER = "# Project Tracks\n"
_LOOK = "Find the evidence in the files for and against answers to this question, with paths:"
_TICKETS = """\
# Each ticket is a worker's job. All keys that it may have:
{keys}

[[tickets]]
id = "research"
title = "Research the question"
prompt = {research}
collect_into = "$findings"

[[tickets]]
id = "answer"
title = "Answer the question"
prompt = {answer}
depends_on = ["$findings"]
"""


def new_track(folder: Path, name: str, *, time: datetime, question: str = "") -> Path:
    """Create a track's folder and its entry; return its ``tickets.toml``.

    The id consists of the name and the date. The tickets answer ``question``, by default the name.
    """
    import tomlkit  # not needed to read tracks

    slug = re.sub(r"[^\w]+", "_", name.lower()).strip("_")[:_SLUG_CHARACTERS].rstrip("_")
    track_id = f"{slug}_{time:%Y%m%d}"
    if not slug or not TRACK_ID.fullmatch(track_id):
        raise TrackError(
            f"{name!r} has no letter, but an id must begin with one: choose another name"
        )
    root = Path(project_root(folder))
    track = confined(folder / FOLDER / "tracks" / track_id, root)
    if track.exists():
        raise TrackError(f"{track}: this track already exists: choose another name")
    question = question or name
    title = heading_text(name)
    prompts = [f"{_LOOK}\n\n{question}", f"Answer from the findings:\n\n{question}"]
    research, answer = (tomlkit.string(prompt, multiline=True).as_string() for prompt in prompts)
    keys = f"{', '.join(Ticket.model_fields)}."
    comment = "\n".join(wrap(keys, 100, initial_indent="# ", subsequent_indent="# "))
    texts = {
        "spec.md": f"# Specification: {title}\n\n## Overview\n\n{question}\n",
        "tickets.toml": _TICKETS.format(keys=comment, research=research, answer=answer),
    }
    for file_name, text in texts.items():
        replace_text(confined(track / file_name, root), text)
    link = f"./tracks/{track_id}/"
    register = confined(folder / FOLDER / TRACKS, root)
    with exclusive_access(register):
        before = read_text(register) if register.exists() else _REGISTER
        entry = f"---\n\n- [ ] **Track: {title}**\n*Link: [{link}]({link})*\n"
        replace_text(register, f"{before.rstrip()}\n\n{entry}")
    return track / "tickets.toml"
