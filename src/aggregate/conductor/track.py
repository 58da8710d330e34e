"""A track: its folder in ``conductor/tracks/``, and what its files say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from aggregate.conductor.checkboxes import Checkbox
from aggregate.conductor.metadata_file import TrackStatus, set_values, timestamp
from aggregate.conductor.plan_file import mark_tasks
from aggregate.conductor.tickets import TICKETS, Tickets, load_tickets
from aggregate.conductor.tracks_file import TrackEntry, mark_track, read_tracks_file
from aggregate.disk.reading import read_bytes
from aggregate.disk.roots import project_root
from aggregate.disk.writing import confined, exclusive_access, replace_text
from aggregate.errors import TrackError

FOLDER = "conductor"
REGISTER = "tracks.md"
MARKS = {
    TrackStatus.NEW: Checkbox.OPEN,
    TrackStatus.IN_PROGRESS: Checkbox.STARTED,
    TrackStatus.COMPLETED: Checkbox.DONE,
    TrackStatus.CANCELLED: Checkbox.OPEN,
}
"""The register knows three marks; a cancelled track is open again."""


@dataclass(frozen=True, slots=True)
class Track:
    """A registered track.

    Attributes:
        track_id: Its id.
        description: What the register says.
        folder: Where its files are.
        register: The ``tracks.md`` that it stands in.
        written_in: The folder that its files must lie in, links resolved, to be changed; ``None`` for anywhere.
    """

    track_id: str
    description: str
    folder: Path
    register: Path
    written_in: Path | None = None

    def tickets(self) -> Tickets:
        """Read its tickets.

        Raises:
            TrackError: It has no ``tickets.toml``.
            ConfigError: The file cannot be used.
        """
        path = self.folder / TICKETS
        if not path.is_file():
            raise TrackError(f"{path}: the track has no tickets: write a [[tickets]] table with id and prompt for each")
        return load_tickets(path)

    def text(self, name: str) -> str:
        """Return a file of the track, such as ``spec.md``; ``""`` where it has none."""
        return _read(self.folder / name)

    def mark_plan(self, marks: Mapping[tuple[str, str], Checkbox]) -> None:
        """Set the marks of tickets (id and title) in ``plan.md``; without such tasks nothing is written."""
        self._change(self.folder / "plan.md", lambda text: mark_tasks(text, marks))

    def set_status(self, status: TrackStatus, time: datetime) -> None:
        """Write the status into ``metadata.json`` and its mark into the register, where they say something else.

        Raises:
            TrackError: ``metadata.json`` is no JSON object.
        """

        def changed(text: str) -> str:
            after = set_values(text, {"status": status.value}) if text else ""
            return set_values(after, {"updated_at": timestamp(time)}) if after != text else text

        path = self.folder / "metadata.json"
        try:
            self._change(path, changed)
        except (ValueError, RecursionError) as error:
            raise TrackError(f"{path}: is no JSON object ({error}): correct it or delete it") from None
        self._change(self.register, lambda text: mark_track(text, self.track_id, MARKS[status]))

    def _change(self, path: Path, change: Callable[[str], str]) -> None:
        """Replace a file by what ``change`` makes of it, unless that is the same; other conductors wait meanwhile."""
        with exclusive_access(confined(path, self.written_in)):
            before = _read(path)
            after = change(before)
            if after != before:
                replace_text(path, after)


def open_track(project_folder: Path, name: str) -> Track:
    """Return the track of that id, or the only one whose id begins with ``name``.

    Raises:
        TrackError: There is no register, no such track, more than one, or its folder is missing.
    """
    register = project_folder / FOLDER / REGISTER
    if not register.is_file():
        raise TrackError(
            f"{register}: there is no register of tracks here: write one, or name the project with --config"
        )
    tracks = [one for one in read_tracks_file(_read(register)) if one.track_id]
    found = _pick(tracks, name, register)
    folder = register.parent / "tracks" / found.track_id
    if not folder.is_dir():
        raise TrackError(
            f"{register}: the track {found.track_id} has no folder {folder}: create it or correct the link"
        )
    written_in = Path(project_root(project_folder))
    return Track(found.track_id, found.description, folder, register, written_in)


def list_tracks(project_folder: Path) -> list[TrackEntry]:
    """Return the tracks of a project's register; none where there is no register."""
    return read_tracks_file(_read(project_folder / FOLDER / REGISTER))


def _pick(tracks: list[TrackEntry], name: str, register: Path) -> TrackEntry:
    exact = [one for one in tracks if one.track_id == name]
    found = exact or [one for one in tracks if one.track_id.startswith(name)]
    if len(found) == 1 or exact:
        return found[0]
    known = ", ".join(one.track_id for one in (found or tracks)) or "none with a link to its folder"
    if found:
        raise TrackError(f"{register}: {name} is the beginning of several tracks ({known}): write more of it")
    raise TrackError(f"{register}: there is no track {name}: it has {known}")


def _read(path: Path) -> str:
    try:
        return read_bytes(path).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TrackError(f"{path}: cannot be read ({reason}): make it a readable UTF-8 file") from None
