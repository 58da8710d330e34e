"""Show, apply or drop the changes of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aggregate.agents.tracks.line import APPLIED, BASE, MERGED, branches_of, locate_top
from aggregate.agents.tracks.run_control import PastRun, latest_run
from aggregate.agents.tracks.trees import Change, Depot, depot
from aggregate.base.disk.reading import confined
from aggregate.base.disk.writing import replace_text
from aggregate.base.errors import TrackError
from aggregate.project.configuration import Project
from aggregate.project.git import git


def diff(project: Project, name: str, ticket_id: str = "", *, database: str = "") -> str:
    """Return the changes of the latest run as a patch.

    With a ticket id the patch has this ticket's changes, without one all merged changes not applied yet.
    """
    with latest_run(project, name, database) as (_, run), depot(run.packs) as repository:
        packs = run.packs
        before, after = packs.ref(APPLIED) or packs.ref(BASE), packs.ref(MERGED)
        if ticket_id:
            after = PastRun(run).commit_of(ticket_id)
            pack = packs.get(after)
            before = pack.parents[0] if pack and pack.parents else ""
        if not before or not after:
            raise TrackError(f"{run.run_id}: {ticket_id or 'it'} changed no files")
        repository.take(before, after)
        return repository.diff(before, after)


class _Edit(NamedTuple):
    path: Path
    content: bytes | None  # None where the file goes
    is_program: bool


def apply(project: Project, name: str, *, database: str = "") -> list[str]:
    """Apply the latest run's merged changes; return the changed paths.

    The changes go into the user's files. Nothing is written if one of the files has changed since the run began, or is
    not a regular file.
    """
    with latest_run(project, name, database) as (_, run), depot(run.packs) as repository:
        packs = run.packs
        applied, head = packs.ref(APPLIED), packs.ref(MERGED)
        if not head:
            raise TrackError(f"{run.run_id}: it changed no files")
        before = applied or packs.ref(BASE)
        repository.take(before, head)
        changes = repository.changes(before, head)
        top = locate_top(project.folder).folder
        edits = [edit for change in changes for edit in _edit(change, top, repository)]
        for edit in edits:
            _write(edit, top)
        packs.move(APPLIED, applied, head)
        return [change.path for change in changes]


def drop(project: Project, name: str, *, database: str = "") -> str:
    """Delete the changes and branches of the latest run."""
    with latest_run(project, name, database) as (track, run):
        if run.is_conducted:
            raise TrackError(f"{run.run_id} is under way: wait for its end, or cancel it")
        below = f"refs/heads/{branches_of(run.packs, track.track_id)}/"
        run.packs.forget()
        listed = git(str(project.folder), "for-each-ref", "--format=%(refname)", below)
        for ref in (listed or b"").decode().split():
            git(str(project.folder), "update-ref", "-d", ref)
        return run.run_id


def _edit(change: Change, top: Path, repository: Depot) -> Sequence[_Edit]:
    """Return the edit for a change; none if the file already has it."""
    path = confined(top / change.path, top)
    if not change.is_plain or path.is_symlink():
        raise TrackError(
            f"{change.path} is or becomes a link or a submodule: merge the tickets' branches yourself"
        )
    before, after = repository.content(change.before), repository.content(change.after)
    content = path.read_bytes() if path.is_file() else None
    exists_after = change.mode != "000000"
    wanted = after if exists_after else None
    if content == wanted:
        return ()
    has_own_ends = content is not None and b"\r\n" in content and b"\r\n" not in before
    plain = content.replace(b"\r\n", b"\n") if content is not None and has_own_ends else content
    if plain != (before if change.mode_before != "000000" else None):
        raise TrackError(
            f"{change.path} has changed since the run began: undo your changes to it, then apply; "
            "nothing was written"
        )
    if wanted is not None and has_own_ends:
        wanted = wanted.replace(b"\n", b"\r\n")
    return (_Edit(path, wanted, change.mode == "100755"),)


def _write(edit: _Edit, top: Path) -> None:
    if edit.content is None:
        edit.path.unlink(missing_ok=True)
        return
    replace_text(edit.path, edit.content, within=top)
    mode = edit.path.stat().st_mode
    if edit.is_program and not mode & 0o100:
        edit.path.chmod(mode | 0o111)
