"""Durable runs: what a database, several processes and ``kill -9`` do to them. Each trap of DBOS has its test."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from signal import pause
from threading import Barrier, BrokenBarrierError, Event, Lock
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from simulation.track_kills import LOG, TRACK

from aggregate import Project, Prompt, RunOptions, StateError, TrackError, conduct, open_project
from aggregate.agents.tracks import TicketStatus, Worker, open_track
from aggregate.agents.tracks.durable import (
    SEGMENTS as SEGMENT_ROWS,
    Run,
    Runs,
    WorkerProcess,
    conducting,
    database_url,
    is_conducted,
    open_engine,
    retry_while_away,
    worker_heartbeat,
)
from aggregate.agents.tracks.durable.dbos_queue import MAX_STARTS, DbosQueue, prepare_database
from aggregate.agents.tracks.run_control import TrackProgress, cancel, forget, status
from tests.agents.tracks.killed import LoggedWorker, read_leftovers, start, write_project
from tests.fakes.conducting import Says, assigned
from tests.fakes.postgres import HOW_TO_GET_IT, find_programs, outage, postgres_server
from tests.fakes.prompts import part
from tests.processes import python


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if find_programs() is None:
        pytest.skip(HOW_TO_GET_IT)
    with postgres_server() as url:
        ready = open_engine(database_url(url).replace("/postgres?", "/template1?"))
        prepare_database(ready)  # so that each new database has all tables
        ready.dispose()
        yield url.replace("/postgres?", f"/{new_database(url)}?")


def new_database(server: str) -> str:
    name = f"db_{next(NUMBERS)}"
    engine = sa.create_engine(database_url(server), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return name


NUMBERS = count(1)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that is empty, of both kinds."""
    if request.param == "sqlite":
        return database_url(str(tmp_path / "state.sqlite"))
    server = database_url(request.getfixturevalue("server"))
    return re.sub(r"/db_\d+\?", f"/{new_database(server)}?", server)


both = pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
"""The main paths, which are tried on both kinds each time."""
on_postgres = pytest.mark.parametrize("url", ["postgres"], indirect=True)


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    """An engine on an empty database with all tables in it."""
    engine = open_engine(url)
    prepare_database(engine)
    yield engine
    engine.dispose()


def until(true: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def worked(engine: sa.Engine, worker: Worker, *tickets: str, lease: float = 30) -> dict[str, Any]:
    """Let a worker work until these tickets have their outcomes, and return them."""
    queue, keys = DbosQueue(engine), [f"r/{ticket}" for ticket in tickets]
    with WorkerProcess(engine, worker, lease=lease):
        until(lambda: len(queue.outcomes(keys)) == len(keys))
    return {key.removeprefix("r/"): outcome for key, outcome in queue.outcomes(keys).items()}


def execute(
    engine: sa.Engine, text: str, table: str = "workflow_status", **values: str
) -> list[Any]:
    """Run a statement on a table of DBOS, which it names ``{}``."""
    schema = "dbos." if engine.dialect.name == "postgresql" else ""
    with engine.begin() as connection:
        done = connection.execute(sa.text(text.format(f"{schema}{table}")), values)
        return [*done.scalars()] if done.returns_rows else []


def test_an_assignment_is_worked_on_once(engine: sa.Engine) -> None:
    """Enqueued twice, before and after its end, it has one worker and one outcome (O-41)."""
    queue, worker = DbosQueue(engine), Says()
    queue.put(assigned("a"))
    queue.put(assigned("a"))
    assert worked(engine, worker, "a")["a"].text == "answer of a"
    queue.put(assigned("a"))
    queue.put(assigned("b"))
    worked(engine, worker, "b")
    assert worker.order == ["a", "b"]
    assert queue.known(["r/a", "r/b", "r/c"]) == {"r/a", "r/b"}


def test_concurrency_is_not_exceeded(engine: sa.Engine) -> None:
    """No more tickets are worked on at one time than a worker may, whatever the queue gives out."""
    now, most, lock, full = 0, 0, Lock(), Event()

    def busy(_: Any) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if most == 3:
                full.set()
        full.wait(20)  # a busy machine begins them one by one
        time.sleep(0.02)
        with lock:
            now -= 1
        return "x"

    queue, tickets = DbosQueue(engine), [f"t{i}" for i in range(8)]
    queue.set_concurrency(3)
    for ticket in tickets:
        queue.put(assigned(ticket))
    worked(engine, Says(busy), *tickets)
    assert most == 3


def test_attempts_that_were_recorded_are_not_made_again(engine: sa.Engine) -> None:
    """A worker that stops between two attempts leaves the first one recorded; the next worker makes the second."""
    tried: list[int] = []

    def once(given: Any) -> str:
        tried.append(given.attempt)
        if given.attempt == 1:
            raise OSError("busy")
        return "done"

    DbosQueue(engine).put(assigned("a", retries=3))
    with WorkerProcess(engine, Says(once)):
        until(lambda: tried == [1])
        time.sleep(0.2)  # so that the attempt is recorded and its worker waits
    assert worked(engine, Says(once), "a")["a"].errors == ("OSError: busy",)
    assert tried == [1, 2]


SEGMENTS = tuple(part("files", f"### File {i}\n\n\x00 \ud83d {i}", str(i)) for i in range(3))


def segment_rows(engine: sa.Engine) -> list[str]:
    """Return what the database has of contexts."""
    with engine.connect() as connection:
        return list(connection.execute(sa.select(SEGMENT_ROWS.c.segment)).scalars())


@both
def test_a_context_is_put_into_the_database_once(engine: sa.Engine) -> None:
    """Tickets that see the same files share their rows, also with NUL and half a surrogate pair; each worker gets its own context whole."""
    worker = Says()
    first, second = Prompt(SEGMENTS), Prompt((SEGMENTS[2], *SEGMENTS[1:], SEGMENTS[0]))
    DbosQueue(engine).put(replace(assigned("a"), prompt=first))
    DbosQueue(engine).put(replace(assigned("b"), prompt=second))
    assert len(segment_rows(engine)) == 3
    worked(engine, worker, "a", "b")
    assert {one.ticket: one.prompt for one in worker.given} == {"a": first, "b": second}


@pytest.mark.parametrize("planted", ['["files", "other", "stable", ""]', None])
def test_a_context_that_somebody_changed(engine: sa.Engine, planted: str | None) -> None:
    """A segment that is not what was written, or is gone, is not shown to a model: its ticket fails with one sentence."""
    worker = Says()
    DbosQueue(engine).put(replace(assigned("a"), prompt=Prompt(SEGMENTS)))
    with engine.begin() as connection:
        changed = SEGMENT_ROWS.update().values(segment=planted)
        connection.execute(changed if planted else SEGMENT_ROWS.delete())
    assert "of r in the database is " in str(worked(engine, worker, "a")["a"].failure)
    assert worker.given == []


def test_what_is_urgent_goes_before_what_waits(engine: sa.Engine) -> None:
    """A ticket that has waited for others is worked on before those that were enqueued earlier and waited for none."""
    queue, worker = DbosQueue(engine), Says()
    queue.set_concurrency(1)
    for ticket in ("a", "b", "next"):
        queue.put(replace(assigned(ticket), urgent=ticket == "next"))
    worked(engine, worker, "a", "b", "next")
    assert worker.order == ["next", "a", "b"]


def test_a_cancelled_ticket_gives_its_place_free(engine: sa.Engine) -> None:
    """A worker does not wait for the answer to a ticket that was taken back: it goes on with the next one."""
    go, begun = Event(), Event()

    def hang(given: Any) -> str:
        if given.ticket == "slow":
            begun.set()
            go.wait(60)
        return "answer"

    queue = DbosQueue(engine)
    queue.set_concurrency(1)
    queue.put(assigned("slow"))
    with WorkerProcess(engine, Says(hang)):
        assert begun.wait(30)
        queue.put(assigned("next"))
        queue.cancel(["r/slow"])
        until(lambda: queue.outcomes(["r/next"]))
        assert not go.is_set()
        assert queue.outcomes(["r/slow"]) == {}
        go.set()


def test_one_worker_process_in_a_process(engine: sa.Engine) -> None:
    """A second one is refused with one sentence, for DBOS would leave one of them without tickets; later there may be another."""
    second = WorkerProcess(engine, Says())
    with (
        WorkerProcess(engine, Says()),
        pytest.raises(StateError, match="this process works on tickets already"),
    ):
        second.__enter__()
    with second:
        pass


def pending(engine: sa.Engine, executor: str, key: str) -> None:
    """Make it look as if ``executor`` were at work on ``key``."""
    text = "UPDATE {} SET status = 'PENDING', executor_id = :executor WHERE workflow_uuid = :key"
    execute(engine, text, executor=executor, key=key)


def holds(url: str) -> None:
    """Live in a process of its own, as worker and as conductor, until that is killed."""
    engine = open_engine(url)
    worker_heartbeat(engine, 30).renew()
    with conducting(engine, "p/t/001", lease=30):
        pause()


def test_a_killed_process_on_this_machine(tmp_path: Path) -> None:
    """On SQLite its lock says at once that it is dead, without a lease; nobody deletes the sign of a living one."""
    url = database_url(str(tmp_path / "state.sqlite"))
    engine = open_engine(url)
    prepare_database(engine)
    code = f"from tests.agents.tracks.test_durable import holds; holds({url!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    mine = worker_heartbeat(engine, 30)
    mine.renew()
    until(lambda: len(mine.alive("")) == 3, 60)
    (other,) = (name for name in mine.alive("") if str(process.pid) in name)
    DbosQueue(engine).put(assigned("a"))
    pending(engine, other, "r/a")
    assert (mine.dead(), is_conducted(engine, "p/t/001")) == ([], True)
    process.kill()
    process.wait()
    assert (mine.dead(), is_conducted(engine, "p/t/001")) == ([other], False)
    for file in tmp_path.glob("*.lock"):
        os.utime(file, (0, 0))
    assert mine.alive("") == {mine.executor_id}
    assert [file.name for file in tmp_path.glob("*.lock")] == [
        f"state.sqlite.{mine.executor_id}.lock"
    ]
    mine.stop()
    assert list(tmp_path.glob("*.lock")) == []
    engine.dispose()


@on_postgres
def test_a_lease_that_ends(engine: sa.Engine) -> None:
    """Between machines a worker is dead when its lease has run out, or nobody knows it."""
    other, mine = worker_heartbeat(engine, 1), worker_heartbeat(engine, 30)
    other.renew()
    mine.renew()
    DbosQueue(engine).put(assigned("a"))
    pending(engine, other.executor_id, "r/a")
    assert mine.dead() == []
    until(lambda: mine.dead() == [other.executor_id])
    pending(engine, mine.executor_id, "r/a")
    assert mine.dead() == []


def test_a_run_on_sqlite_loads_nothing_of_postgres(tmp_path: Path) -> None:
    """What servers and leases need is a module that only a run on a server loads."""
    folder = write_project(tmp_path / "p", 1)
    code = (
        "import sys; from aggregate import conduct, open_project;"
        f"assert conduct(open_project({str(folder / 'manual_slop.toml')!r}), {TRACK!r}, lambda *_: 'x').succeeded;"
        "print(*(name for name in sys.modules if name.startswith('aggregate.agents.tracks.durable.')))"
    )
    loaded = python(code).split()
    assert "aggregate.agents.tracks.durable.sqlite_locks" in loaded
    assert "aggregate.agents.tracks.durable.postgres_leases" not in loaded


def test_a_database_that_records_nothing_for_a_moment(engine: sa.Engine) -> None:
    """A failing disk is no failure of the ticket: what could not be recorded is done again, and the user is told."""
    queue, worker = DbosQueue(engine), Says()
    reasons: list[str] = []
    process = WorkerProcess(engine, worker, lease=0.5, away=reasons.append)

    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if (
            len(worker.given) == 1
            and statement.startswith(("INSERT", "UPDATE"))
            and "processes" not in statement
        ):
            raise sa.exc.OperationalError(statement, None, psycopg.errors.IoError("the disk fails"))

    sa.event.listen(process._engine, "before_cursor_execute", fail)
    with process:
        queue.put(assigned("a"))
        until(lambda: reasons)
        sa.event.remove(process._engine, "before_cursor_execute", fail)
        until(lambda: queue.outcomes(["r/a"]))
    outcome = queue.outcomes(["r/a"])["r/a"]
    assert (outcome.text, outcome.errors, reasons) == ("answer of a", (), ["the disk fails"])
    # Once more, and on a slow machine, where the short lease runs out meanwhile, perhaps another time.
    assert worker.order[:2] == ["a", "a"]


@on_postgres
def test_a_server_that_goes_away_for_a_moment(engine: sa.Engine, url: str) -> None:
    """What ended meanwhile is recorded when it is back: no ticket stays with a worker that does not work on it any more."""
    queue, asked, go = DbosQueue(engine), Event(), Event()
    queue.put(assigned("away"))

    def slow(_: Any) -> str:
        asked.set()
        go.wait(30)
        return "here"

    with WorkerProcess(engine, Says(slow)), ThreadPoolExecutor(1) as pool:
        assert asked.wait(30)
        with outage(url):
            look = pool.submit(queue.outcomes, ["r/away"])
            go.set()
            time.sleep(0.3)
        assert look.result(30).keys() <= {"r/away"}  # it waited, and did not fail
        until(lambda: queue.outcomes(["r/away"]))
    assert queue.outcomes(["r/away"])["r/away"].text == "here"


@on_postgres
def test_a_server_that_stays_away(engine: sa.Engine, url: str) -> None:
    """After some patience that is one sentence, and a worker that ends then ends without another one."""
    process = WorkerProcess(engine, Says())
    process.__enter__()
    with outage(url):
        with pytest.raises(StateError, match="the database cannot be used"):
            retry_while_away(engine, lambda: engine.connect().close(), patience=0)
        process.__exit__()


def test_tickets_of_a_dead_worker_are_taken_over(engine: sa.Engine) -> None:
    """What a worker left when its lease ran out, another one recovers; DBOS by itself would leave it for ever."""
    worker = Says()
    DbosQueue(engine).put(assigned("a"))
    pending(engine, "somewhere-1-abc", "r/a")
    worked(engine, worker, "a", lease=1)
    assert worker.order == ["a"]


def test_a_worker_that_was_only_slow(engine: sa.Engine) -> None:
    """A ticket that was taken over from a living worker is answered by both, and has one outcome (O-41)."""
    barrier, answers = Barrier(2), iter(["first", "second"])

    def both(_: Any) -> str:
        answer = next(answers)
        try:
            barrier.wait(timeout=10)
        except BrokenBarrierError:
            return "alone"
        return answer

    queue = DbosQueue(engine)
    queue.put(assigned("a"))
    with WorkerProcess(engine, Says(both)) as process:
        until(lambda: barrier.n_waiting)
        text = "UPDATE {} SET status = 'ENQUEUED' WHERE executor_id = :executor"
        execute(engine, text, executor=process.executor_id)
        until(lambda: queue.outcomes(["r/a"]))
        outcome = queue.outcomes(["r/a"])["r/a"]
        time.sleep(0.3)
        assert queue.outcomes(["r/a"])["r/a"] == outcome
    assert outcome.status is TicketStatus.DONE
    assert outcome.text in ("first", "second", "alone")


def test_a_ticket_that_kills_its_workers(engine: sa.Engine) -> None:
    """It is given up after so many starts, and has an outcome that says so: the run does not hang."""
    worker = Says()
    DbosQueue(engine).put(assigned("a"))
    execute(engine, f"UPDATE {{}} SET recovery_attempts = {MAX_STARTS + 1}")
    failure = worked(engine, worker, "a")["a"].failure
    assert (worker.order, failure) == (
        [],
        "given up: 20 workers were killed while they worked on it",
    )


def test_the_version_is_fixed(engine: sa.Engine) -> None:
    """Work of an earlier process is found by a later one: the version does not follow the code."""
    DbosQueue(engine).put(assigned("a"))
    assert execute(engine, "SELECT application_version FROM {}") == ["aggregate-conductor-6"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://u:secret@h/d", r"mysql://... is not a database for runs: use postgresql:// or a file"),
        ("postgresql://u:secret@/d?host=/nowhere", r"u:\*\*\*@/d.*the database cannot be used \(.*\): check --database"),
    ],
)  # fmt: skip
def test_databases_that_cannot_be_used(text: str, message: str) -> None:
    """One sentence without the password."""
    with pytest.raises(StateError, match=message) as caught:
        open_engine(database_url(text))
    assert "secret" not in str(caught.value)


def standing(project: Project, url: str = "") -> TrackProgress:
    progress = status(project, TRACK, database=url)
    assert progress is not None
    return progress


@both
def test_conduct_status_cancel(tmp_path: Path, url: str) -> None:
    """A run in this process from its beginning to its end, then one that is cancelled on its way."""
    folder = write_project(tmp_path / "p", 6)
    loaded = open_project(folder / "manual_slop.toml")
    assert status(loaded, TRACK, database=url) is None
    assert not url.startswith("sqlite:///") or not Path(url.removeprefix("sqlite:///")).exists()
    result = conduct(loaded, TRACK, Says(), options=RunOptions(database=url))
    assert result.succeeded
    found = standing(loaded, url)
    assert (found.run_id, found.state, len(found.lines)) == ("p/killed_1/001", "finished", 6)
    for refused in (
        lambda: cancel(loaded, TRACK, database=url),
        lambda: conduct(loaded, TRACK, Says(), options=RunOptions(database=url, resume=True)),
    ):
        with pytest.raises(TrackError, match="all have ended"):
            refused()
    options = RunOptions(database=url, concurrency=1)
    second = conduct(loaded, TRACK, Says(lambda _: cancelling(folder, url)), options=options)
    assert second.cancelled
    assert '"status"' not in second.report.read_text()
    found = standing(loaded, url)
    assert found.state == "cancelled"


def dead_run(folder: Path, url: str) -> Run:
    """Leave a run of three tickets behind as a kill does: one has ended, one was begun."""
    engine = open_engine(url)
    prepare_database(engine)
    run = Runs(engine, "p", TRACK).begin(open_track(folder, TRACK).tickets(), 1)
    queue = DbosQueue(engine)
    for ticket in ("t0000", "t0001"):
        queue.put(replace(assigned(ticket), key=f"{run.run_id}/{ticket}"))
        if ticket == "t0000":
            with WorkerProcess(engine, Says()):
                until(lambda: queue.outcomes([f"{run.run_id}/t0000"]))
    engine.dispose()
    return run


def test_a_dead_run_is_cancelled(tmp_path: Path, url: str) -> None:
    """Nothing of it counts as under way."""
    folder = write_project(tmp_path / "p", 3, chained=False)
    loaded, run = open_project(folder / "manual_slop.toml"), dead_run(folder, url)
    found = standing(loaded, url)
    assert found.statuses == {"t0001": TicketStatus.STARTED, "t0002": TicketStatus.NOT_RUN}
    assert forget(loaded, TRACK, database=url) == []
    assert cancel(loaded, TRACK, database=url) == run.run_id
    found = standing(loaded, url)
    assert (found.state, len(found.lines)) == ("cancelled", 1)
    assert found.with_status(TicketStatus.NOT_RUN) == ("t0001", "t0002")


def test_runs_that_are_over_are_forgotten(tmp_path: Path, url: str) -> None:
    """The database keeps nothing of them, their files stay, and the next run has the next number."""
    folder = write_project(tmp_path / "p", 2)
    loaded = open_project(folder / "manual_slop.toml")
    long = Says(lambda _: "long " * 100_000)
    first = conduct(loaded, TRACK, long, options=RunOptions(database=url))
    assert forget(loaded, TRACK, database=url) == [f"p/{TRACK}/001"]
    assert forget(loaded, TRACK, database=url) == []
    assert status(loaded, TRACK, database=url) is None
    engine = open_engine(url)
    for name in ("workflow_status", "workflow_input", "workflow_output", "operation_outputs"):
        assert execute(engine, "SELECT count(*) FROM {}", name) == [0]
    assert segment_rows(engine) == []
    engine.dispose()
    assert first.report.exists()
    second = conduct(loaded, TRACK, Says(), options=RunOptions(database=url))
    assert second.report.parent.name == f"{TRACK}_002"


def test_projects_whose_names_differ_in_case(tmp_path: Path, url: str) -> None:
    """They share a database as any two do: what is forgotten of one is still there of the other."""
    loaded = {}
    for name in ("demo", "Demo"):
        folder = write_project(tmp_path / name.encode().hex() / name, 2, chained=False)
        loaded[name] = open_project(folder / "manual_slop.toml")
        conduct(loaded[name], TRACK, Says(), options=RunOptions(database=url))
    assert forget(loaded["demo"], TRACK, database=url) == [f"demo/{TRACK}/001"]
    left = standing(loaded["Demo"], url)
    assert [line.is_done for line in left.lines] == [True, True]


@on_postgres
def test_a_database_that_cannot_be_written_to(engine: sa.Engine) -> None:
    """While it is so the run waits, and its conductor is told why, once each time."""
    from aggregate.agents.tracks.durable.postgres_leases import LEASES

    said: list[str] = []
    with conducting(engine, "p/t/001", lease=0.3, away=said.append):
        for times in (1, 2):
            with engine.begin() as connection:
                LEASES.drop(connection)
            until(lambda times=times: len(said) == times)  # type: ignore[misc]
            time.sleep(0.2)
            with engine.begin() as connection:
                LEASES.create(connection)
            until(lambda: is_conducted(engine, "p/t/001"))
    assert all(reason.startswith('relation "conductor_processes"') for reason in said)


def test_tickets_that_changed_under_a_run(tmp_path: Path, url: str) -> None:
    """A run goes on with the tickets it began with, and says so."""
    folder = write_project(tmp_path / "p", 3, chained=False)
    dead_run(folder, url)
    tickets = folder / f"conductor/tracks/{TRACK}/tickets.toml"
    tickets.write_text('on_error = "fail"\n' + tickets.read_text())
    told: list[str] = []
    options = RunOptions(database=url, resume=True)
    result = conduct(
        open_project(folder / "manual_slop.toml"), TRACK, Says(), options=options, tell=told.append
    )
    assert len(result.lines) == 3
    assert told == [
        f"continuing p/{TRACK}/001",
        "its tickets have changed since it began: it continues with the old ones; aggregate conduct cancel ends it",
    ]


def cancelling(folder: Path, url: str) -> str:
    cancel(open_project(folder / "manual_slop.toml"), TRACK, database=url)
    return "late"


def test_kill_and_start_again(tmp_path: Path) -> None:
    """After a kill what was answered is not asked for again, and at the end each ticket is there exactly once."""
    folder = write_project(tmp_path / "p", 10, chained=False)
    project, log = open_project(folder / "manual_slop.toml"), folder / LOG
    process = start("conduct", folder, "", 1.0)  # long enough on a busy machine too
    until(lambda: len(answered(project)) >= 5)
    process.kill()
    process.join(60)
    before, known = answered(project), len(log.read_text().splitlines())
    assert conduct(project, TRACK, LoggedWorker(log, 0.05), options=RunOptions(lease=2)).succeeded
    asked = {line.split()[1] for line in log.read_text().splitlines()[known:]}
    assert not before & asked
    left = read_leftovers(folder, 1)
    assert left.exact(10)
    assert left.asked_again <= 8


def answered(project: Project) -> set[str]:
    progress = status(project, TRACK)
    return {line.ticket.id for line in progress.lines if line.is_done} if progress else set()


@pytest.mark.slow
def test_two_conductors_at_once(tmp_path: Path) -> None:
    """Started at the same moment on the same track they share one run, and nobody is asked twice."""
    folder = write_project(tmp_path / "p", 12, chained=False)
    both = [start("conduct", folder, "", 0.05) for _ in range(2)]
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0], (folder / "stderr.log").read_text()
    left = read_leftovers(folder, 1)
    assert left.exact(12)
    assert left.asked_again == 0
    assert [path.name for path in (folder / "md_gen").iterdir()] == [f"{TRACK}_001"]


@pytest.mark.slow
def test_two_workers_and_one_is_killed(tmp_path: Path, server: str) -> None:
    """On one Postgres a coordinator and two workers; one is killed, and nothing is lost or doubled."""
    folder = write_project(tmp_path / "workers", 12)
    doomed, other = (start("work", folder, server, 0.05) for _ in range(2))
    coordinator = start("coordinate", folder, server, 0)
    log = folder / LOG
    until(lambda: log.exists() and log.read_text().count("answered") >= 3, 60)
    doomed.kill()
    coordinator.join(60)
    other.kill()
    for process in (doomed, other):
        process.join()
    assert coordinator.exitcode == 0, (folder / "stderr.log").read_text()
    assert read_leftovers(folder, 1).exact(12)
