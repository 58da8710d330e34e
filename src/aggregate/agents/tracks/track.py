"""A track: its folder in ``conductor/tracks/``, and what its files say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from aggregate.agents.tracks.checkboxes import Checkbox
from aggregate.agents.tracks.metadata_file import TrackStatus, set_values, timestamp
from aggregate.agents.tracks.plan_file import mark_tasks
from aggregate.agents.tracks.tickets import Tickets
from aggregate.agents.tracks.tickets_file import TICKETS, load_tickets
from aggregate.agents.tracks.tracks_file import TrackEntry, mark_track, read_tracks_file
from aggregate.base.disk import confined, exclusive_access, project_root, read_bytes, replace_text
from aggregate.base.errors import TrackError

FOLDER = "conductor"
TRACKS = "tracks.md"
CHECKBOXES = {
    TrackStatus.NEW: Checkbox.OPEN,
    TrackStatus.IN_PROGRESS: Checkbox.STARTED,
    TrackStatus.COMPLETED: Checkbox.DONE,
    TrackStatus.CANCELLED: Checkbox.OPEN,
}
"""What a track's status is in ``tracks.md``, which knows three; a cancelled track is open again."""


@dataclass(frozen=True, slots=True)
class Track:
    """A track that stands in ``tracks.md``.

    Attributes:
        track_id: Its id.
        description: What ``tracks.md`` says.
        folder: Where its files are.
        tracks_file: The ``tracks.md`` that it stands in.
        written_in: The folder that its files must lie in, links resolved, to be changed; ``None`` for anywhere.
    """

    track_id: str
    description: str
    folder: Path
    tracks_file: Path
    written_in: Path | None = None

    def tickets(self) -> Tickets:
        """Read its tickets.

        Raises:
            TrackError: It has no ``tickets.toml``.
            ConfigError: The file cannot be used.
        """
        path = self.folder / TICKETS
        if not path.is_file():
            raise TrackError(
                f"{path}: the track has no tickets: write a [[tickets]] table with id and prompt for each"
            )
        return load_tickets(path)

    def mark_plan(self, checkboxes: Mapping[tuple[str, str], Checkbox]) -> None:
        """Set the checkboxes of tickets (id and title) in ``plan.md``; without such tasks nothing is written."""
        self._change(self.folder / "plan.md", lambda text: mark_tasks(text, checkboxes))

    def set_status(self, status: TrackStatus, time: datetime) -> None:
        """Write the status into ``metadata.json`` and its checkbox into ``tracks.md``, where they say something else.

        Raises:
            TrackError: ``metadata.json`` is no JSON object.
        """

        def with_status(text: str) -> str:
            after = set_values(text, {"status": status.value}) if text else ""
            if after == text:
                return text
            return set_values(after, {"updated_at": timestamp(time)})

        path = self.folder / "metadata.json"
        try:
            self._change(path, with_status)
        except (ValueError, RecursionError) as error:
            raise TrackError(
                f"{path}: is no JSON object ({error}): correct it or delete it"
            ) from None
        self._change(
            self.tracks_file, lambda text: mark_track(text, self.track_id, CHECKBOXES[status])
        )

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
        TrackError: There is no ``tracks.md``, no such track, more than one, or its folder is missing.
    """
    tracks_file = project_folder / FOLDER / TRACKS
    if not tracks_file.is_file():
        raise TrackError(
            f"{tracks_file}: there is no register of tracks here: write one, or name the project with --config"
        )
    linked = [entry for entry in read_tracks_file(_read(tracks_file)) if entry.track_id]
    entry = _pick(linked, name, tracks_file)
    folder = tracks_file.parent / "tracks" / entry.track_id
    if not folder.is_dir():
        raise TrackError(
            f"{tracks_file}: the track {entry.track_id} has no folder {folder}: create it or correct the link"
        )
    written_in = Path(project_root(project_folder))
    return Track(entry.track_id, entry.description, folder, tracks_file, written_in)


def list_tracks(project_folder: Path) -> list[TrackEntry]:
    """Return the tracks of a project; none where there is no ``tracks.md``."""
    return read_tracks_file(_read(project_folder / FOLDER / TRACKS))


def _pick(entries: list[TrackEntry], name: str, tracks_file: Path) -> TrackEntry:
    exact = [entry for entry in entries if entry.track_id == name]
    matching = exact or [entry for entry in entries if entry.track_id.startswith(name)]
    if len(matching) == 1 or exact:
        return matching[0]
    known = (
        ", ".join(entry.track_id for entry in (matching or entries))
        or "none with a link to its folder"
    )
    if matching:
        raise TrackError(
            f"{tracks_file}: {name} is the beginning of several tracks ({known}): write more of it"
        )
    raise TrackError(f"{tracks_file}: there is no track {name}: it has {known}")


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
