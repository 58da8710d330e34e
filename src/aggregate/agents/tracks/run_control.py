"""Show, decide on, cancel and forget recorded runs; show, apply or drop their changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from aggregate.agents.tracks.assignment import Ending, TicketStatus, WorkerReply, ticket_of
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue, open_database
from aggregate.agents.tracks.durable.run_database import database_exists, locate_database
from aggregate.agents.tracks.durable.run_records import CANCELLED, RUNNING, Run, Runs
from aggregate.agents.tracks.ledger import EventFile, EventLine, cancel_line, step_lines
from aggregate.agents.tracks.merged_changes import APPLIED, BASE, MERGED, branches_of, locate_top
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import ReportLine, RunFiles, account
from aggregate.agents.tracks.tickets import dependencies, parent_of
from aggregate.agents.tracks.track import Checkbox, Track, open_track
from aggregate.agents.tracks.work_trees import Change, Depot, depot
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.disk.writing import confined, replace_text
from aggregate.base.errors import TrackError
from aggregate.base.nearest_names import did_you_mean
from aggregate.project.configuration import Project
from aggregate.project.git import git

INTERRUPTED = "interrupted"  # the state of an open run without a conductor


@dataclass(frozen=True, slots=True)
class TrackProgress:
    run_id: str
    state: str  # running, interrupted, finished or cancelled
    lines: tuple[ReportLine, ...]  # one for each ended ticket
    statuses: Mapping[str, TicketStatus]  # of open tickets: not run, started, spread or waits

    @property
    def account(self) -> str:
        return account(self.lines)

    def with_status(self, *statuses: TicketStatus) -> tuple[str, ...]:
        return tuple(one for one, status in self.statuses.items() if status in statuses)


@dataclass(frozen=True, slots=True)
class MadeAttempt:
    round: int
    number: int
    lines: tuple[EventLine, ...]  # of its turns, calls and checks, as in ``events.jsonl``
    reply: WorkerReply | None  # None while it is under way

    @property
    def state(self) -> str:
        if self.reply is None:
            return "under way"
        status = self.reply.status
        return status.value if status.has_answer else f"{status.value}: {self.reply.text}"


class PastRun:
    """A recorded run: its tickets, child tickets and outcomes."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._queue = DbosQueue(run.engine)
        outcomes = self.outcomes = RunOutcomes(run.tickets, self._queue, run)
        for ticket in outcomes.run.tickets:
            ending = outcomes.ending(ticket.id)
            if ending and ending.status is TicketStatus.SPREAD:
                outcomes.spread(ticket, ending)
        self.tickets = {ticket.id: ticket for ticket in outcomes.in_order()}
        own = [ticket_id for ticket_id in self.tickets if ticket_id not in outcomes.children]
        ends = {outcome.ticket: outcome for outcome in outcomes.of(own)}
        for parent_id, children in outcomes.children.items():
            if all(child.id in ends for child in children):
                ends[parent_id] = outcomes.fold(parent_id, ends)
        self.lines = {one: ReportLine(self.tickets[one], end) for one, end in ends.items()}

    def commit_of(self, ticket_id: str) -> str:
        """Return the last commit of a ticket's changes, ``""`` for none."""
        keys = self._keys_of_rounds(ticket_id)
        outcomes = self._queue.outcomes(keys)
        commits = [outcomes[key].last.commit for key in keys if key in outcomes]
        return next(filter(None, reversed(commits)), "")

    def progress(self, state: str) -> TrackProgress:
        open_ids = [ticket_id for ticket_id in self.tickets if ticket_id not in self.lines]
        statuses = dict.fromkeys(open_ids, TicketStatus.NOT_RUN)
        if self._run.state == RUNNING:  # queued tickets of a cancelled run wait for nothing
            for ticket_id in open_ids:
                if ending := self.outcomes.ending(ticket_id):
                    statuses[ticket_id] = ending.status
            for key in self._queue.unfinished(self.outcomes.keys(open_ids)):
                statuses[ticket_of(key)] = TicketStatus.STARTED
        lines = [self.lines[ticket_id] for ticket_id in self.tickets if ticket_id in self.lines]
        return TrackProgress(self._run.run_id, state, tuple(lines), statuses)

    def attempts(self, ticket_id: str) -> list[MadeAttempt]:
        attempts: list[MadeAttempt] = []
        for round_number, key in enumerate(self._keys_of_rounds(ticket_id), 1):
            steps = self._queue.steps(key)
            records = [step.record for step in steps if step.name == "attempt"]
            replies = list(map(WorkerReply.from_recorded, records))
            lines = [line for line in step_lines(key, steps) if line["event"] != "retry"]
            is_under_way = not replies or any(line["attempt"] > len(replies) for line in lines)
            for number, reply in enumerate([*replies, *([None] if is_under_way else [])], 1):
                of_attempt = tuple(line for line in lines if line["attempt"] == number)
                attempts.append(MadeAttempt(round_number, number, of_attempt, reply))
        return attempts

    def is_over(self) -> bool:
        return self.lines.keys() == self.tickets.keys()

    def failed(self) -> list[str]:
        """Return the tickets that failed, were cancelled, or were omitted below these."""
        again = {
            ticket_id
            for ticket_id, line in self.lines.items()
            if not line.is_done and ticket_id not in self.outcomes.children
        }
        taken_back = map(ticket_of, self._queue.cancelled(self.outcomes.keys(self.tickets)))
        again |= {*taken_back} - self.lines.keys()
        for ticket_id in self._below(map(parent_of, again)) & self.lines.keys():
            if self.lines[ticket_id].status is TicketStatus.LEFT_OUT:
                again.add(ticket_id)
        return self._begun(again)

    def named(self, ids: Sequence[str]) -> list[str]:
        """Return these tickets and their dependents, if they were begun."""
        for ticket_id in ids:
            self._check_id(ticket_id)
        again = {*ids, *self._below(map(parent_of, ids))}
        for ticket_id in tuple(again):
            again |= {child.id for child in self.outcomes.children.get(ticket_id, ())}
        return self._begun(again)

    def _check_id(self, ticket_id: str) -> None:
        if ticket_id not in self.tickets:
            raise TrackError(f'no such ticket in this run: "{ticket_id}"')

    def _begun(self, ids: set[str]) -> list[str]:
        begun = {ticket_of(key) for key in self._queue.known(self.outcomes.keys(ids))}
        begun |= {ticket_id for ticket_id in ids if self.outcomes.ending(ticket_id)}
        return [ticket_id for ticket_id in self.tickets if ticket_id in begun]

    def _below(self, ids: Iterable[str]) -> set[str]:
        waits_for = dependencies(self.outcomes.run.tickets)
        below: set[str] = set()
        pending = set(ids)
        while pending:
            pending = {one for one, needed in waits_for.items() if pending & {*needed}} - below
            below |= pending
        return below

    def _keys_of_rounds(self, ticket_id: str) -> list[str]:
        self._check_id(ticket_id)
        return [*self.outcomes.earlier_keys(ticket_id), self.outcomes.key(ticket_id)]


@contextmanager
def _runs_of(track: Track, project: Project, database: str) -> Iterator[Runs | None]:
    """Yield the runs of a track, ``None`` without a database."""
    url = locate_database(project, database)
    if not database_exists(url):
        yield None
        return
    with open_database(url) as engine:
        yield Runs.of(engine, project, track.track_id)


@contextmanager
def latest_run(
    project: Project, name: str, database: str, *, over: str = ""
) -> Iterator[tuple[Track, Run]]:
    """Yield the latest run of a track.

    If ``over`` is given, a closed run raises an error with this message.
    """
    track = open_track(project.folder, name)
    with _runs_of(track, project, database) as runs:
        run = runs.latest() if runs else None
        if run is None or (over and run.state != RUNNING):
            raise TrackError(f"{track.track_id}: {over or 'there was no run yet'}")
        yield track, run


def changes_to_apply(project: Project, name: str, *, database: str = "") -> bool:
    """Return whether the latest run has merged, unapplied changes."""
    with latest_run(project, name, database) as (_, run):
        packs = run.packs
        return packs.ref(MERGED) != (packs.ref(APPLIED) or packs.ref(BASE))


def cancel(project: Project, name: str, *, database: str = "") -> str:
    """Cancel the latest run of a track; return its name."""
    over = "there is no run to cancel: all have ended"
    with latest_run(project, name, database, over=over) as (track, run):
        run.end(CANCELLED)
        queue = DbosQueue(run.engine)
        keys = queue.keys(run.run_id)
        queue.cancel(keys)
        # The tickets of another version's run cannot be read, and its folder needs none.
        output_dir = WorkerContexts(project, track=track).output_dir
        files = RunFiles.of(output_dir, track.track_id, run.number, ())
        EventFile(files.folder).add(map(cancel_line, sorted(queue.cancelled(keys))))
        track.mark(Checkbox.OPEN)
        return run.run_id


def status(project: Project, name: str, *, database: str = "") -> TrackProgress | None:
    """Return the progress of the latest run, ``None`` without one."""
    with _runs_of(open_track(project.folder, name), project, database) as runs:
        run = runs.latest() if runs else None
        if run is None:
            return None
        is_interrupted = run.state == RUNNING and not run.is_conducted
        return PastRun(run).progress(INTERRUPTED if is_interrupted else run.state)


def made_attempts(
    project: Project, name: str, ticket_id: str, *, database: str = ""
) -> list[MadeAttempt]:
    """Return the latest run's attempts at a ticket, in order."""
    with latest_run(project, name, database) as (_, run):
        return PastRun(run).attempts(ticket_id)


def decide(
    project: Project,
    name: str,
    ticket_id: str,
    *,
    approved: bool,
    note: str = "",
    database: str = "",
) -> str:
    """Approve or reject a waiting ticket; return the run's name."""
    over = "no run is under way, so no ticket waits"
    with latest_run(project, name, database, over=over) as (_, run):
        names = [ticket.id for ticket in run.tickets.tickets]
        if parent_of(ticket_id) not in names:
            raise TrackError(
                f"{run.run_id} has no ticket {ticket_id!r}: {did_you_mean(ticket_id, names)}"
            )
        outcomes = RunOutcomes(run.tickets, DbosQueue(run.engine), run)
        decision = TicketStatus.DONE if approved else TicketStatus.REJECTED
        if not run.decide(outcomes.key(ticket_id), Ending(decision, note)):
            endings = {one: outcomes.ending(one) for one in names}
            statuses = {one: ending.status for one, ending in endings.items() if ending}
            waiting = [one for one in sorted(statuses) if statuses[one] is TicketStatus.WAITING]
            reason = "does not wait"
            if ticket_id in statuses:
                reason = f"was already decided ({statuses[ticket_id].value})"
            others = f"these do: {', '.join(waiting)}" if waiting else "no ticket waits now"
            raise TrackError(f'{run.run_id}: "{ticket_id}" {reason}; {others}')
        return run.run_id


def forget(project: Project, name: str, *, database: str = "") -> list[str]:
    """Delete a track's closed runs from the database; files stay."""
    with _runs_of(open_track(project.folder, name), project, database) as runs:
        over = runs.over() if runs else []
        for run in over:
            queue = DbosQueue(run.engine)
            queue.forget(queue.keys(run.run_id))
            run.forget()
        return [run.run_id for run in over]


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
    wanted = None if change.mode == "000000" else after
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
