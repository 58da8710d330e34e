"""A database of durable runs that somebody else wrote into: no row of it runs code."""

import base64
import json
import os
import pickle
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos import WorkflowStatus

from aggregate import Project, Prompt, RunOptions, StateError, conduct, open_project
from aggregate.agents.tracks import Assignment, TicketOutcome
from aggregate.agents.tracks.durable import Run, database_url, open_engine
from aggregate.agents.tracks.durable.dbos_queue import (
    DbosQueue,
    _outcome as outcome_of_workflow,
    prepare_database,
)
from aggregate.agents.tracks.durable.run_database import DATABASE, ENDINGS
from aggregate.agents.tracks.run_control import cancel, forget, status
from aggregate.base.disk import state_folder
from tests.agents.tracks.test_durable import engine, execute, server, url, worked
from tests.fakes.conducting import TRACK, Says, track_project
from tests.hostile.running import aggregate

__all__ = ["engine", "server", "url"]  # fixtures that are used here too

RUN = f"demo/{TRACK}/001"
TICKETS = '[[tickets]]\nid = "a"\nprompt = "Look."\nretries = 0\n'


class Planted:
    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.open, (str(self.witness), os.O_CREAT | os.O_WRONLY)


def pickled(witness: Path) -> str:
    """Return the text of a pickle that makes ``witness`` when it is read, as DBOS keeps pickles."""
    return base64.b64encode(pickle.dumps(Planted(witness))).decode()


def table(engine: sa.Engine, name: str, *columns: str) -> sa.TableClause:
    schema = "dbos" if engine.dialect.name == "postgresql" else None
    return sa.table(name, *(sa.column(column) for column in columns), schema=schema)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(track_project(tmp_path / "p", TICKETS) / "manual_slop.toml")


def url_of(engine: sa.Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def end_and_delete(project: Project, engine: sa.Engine) -> None:
    assert cancel(project, TRACK, database=url_of(engine)) == RUN
    assert forget(project, TRACK, database=url_of(engine)) == [RUN]
    assert status(project, TRACK, database=url_of(engine)) is None


def plant(engine: sa.Engine, key: str, *, inputs: str = "", **values: object) -> None:
    """Write into the row of a workflow, and into that of its inputs, as somebody could who reaches the database."""
    statuses = table(engine, "workflow_status", "workflow_uuid", *values)
    statements = [statuses.update().where(statuses.c.workflow_uuid == key).values(**values)]
    if inputs:
        given = table(engine, "workflow_input", "workflow_uuid", "inputs")
        statements.append(given.update().where(given.c.workflow_uuid == key).values(inputs=inputs))
    with engine.begin() as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount == 1


def test_a_pickled_outcome_is_not_read(engine: sa.Engine, tmp_path: Path) -> None:
    """An outcome that is a pickle, by its row's own word, is refused with one sentence, an error that is one fails its ticket."""
    queue, witness = DbosQueue(engine), tmp_path / "ran"
    for ticket in "ab":
        queue.put(Assignment(f"r/{ticket}", ticket, Prompt(()), "x"))
    plant(engine, "r/a", status="SUCCESS", output=pickled(witness), serialization="py_pickle")
    plant(engine, "r/b", status="ERROR", error=pickled(witness), serialization="py_pickle")
    said = r"the outcome of a in the database is not JSON of this program and is not read.*conduct forget"
    with pytest.raises(StateError, match=said):
        queue.outcomes(["r/a"])
    assert queue.outcomes(["r/b"])["r/b"].failure == "its worker failed: the reason is not JSON"
    assert not witness.exists()
    queue.forget(["r/a"])
    assert queue.known(["r/a"]) == set()


def test_a_pickled_assignment_is_not_read(engine: sa.Engine, tmp_path: Path) -> None:
    """What waits in the queue as a pickle fails; its code does not run, and the worker goes on with the next one.

    No row that we write names another format than JSON, so refusing pickles refuses nothing of ours.
    """
    queue, witness, worker = DbosQueue(engine), tmp_path / "ran", Says()
    for ticket in ("a", "b"):
        queue.put(Assignment(f"r/{ticket}", ticket, Prompt(()), "x"))
    ours = "SELECT DISTINCT serialization FROM {}"
    assert execute(engine, ours) == ["portable_json"]
    plant(engine, "r/a", inputs=pickled(witness), serialization="py_pickle")
    outcomes = worked(engine, worker, "a", "b")
    assert not witness.exists()
    assert worker.order == ["b"]
    assert outcomes["a"].failure is not None
    assert execute(engine, f"{ours} WHERE workflow_uuid = 'r/b'") == ["portable_json"]
    assert execute(engine, f"{ours} WHERE workflow_uuid = 'r/b'", "operation_outputs") == [
        "portable_json"
    ]


NO_ATTEMPT = {"status": "done", "text": "x", "tokens": 1, "cost": -9.0}


@pytest.mark.parametrize("is_pickled", [True, False])
def test_a_pickled_step_is_not_read(engine: sa.Engine, tmp_path: Path, is_pickled: bool) -> None:
    """An attempt that was recorded as a pickle, or that no worker has made, fails its ticket when that goes on."""
    witness, worker = tmp_path / "ran", Says()
    DbosQueue(engine).put(Assignment("r/a", "a", Prompt(()), "x"))
    row = {
        "workflow_uuid": "r/a",
        "function_name": "attempt",
        "output": pickled(witness) if is_pickled else json.dumps(NO_ATTEMPT),
        "serialization": "py_pickle" if is_pickled else "portable_json",
    }
    steps = table(engine, "operation_outputs", "function_id", *row)
    with engine.begin() as connection:
        connection.execute(steps.insert(), [{**row, "function_id": number} for number in (1, 2)])
    failure = worked(engine, worker, "a")["a"].failure
    assert (witness.exists(), worker.order) == (False, [])
    assert "in the database is not JSON of this program" in str(failure)


def test_a_database_in_the_project_is_not_opened(tmp_path: Path) -> None:
    """A committed ``state/conductor.sqlite`` with a pickle in it is left alone by every command that is not told of it."""
    folder = track_project(tmp_path / "p", TICKETS)
    witness, committed = tmp_path / "ran", folder / "state" / "conductor.sqlite"
    engine = open_engine(database_url(str(committed)))
    prepare_database(engine)
    DbosQueue(engine).put(Assignment(f"{RUN}/a", "a", Prompt(()), "x"))
    plant(engine, f"{RUN}/a", status="SUCCESS", output=pickled(witness), serialization="py_pickle")
    engine.dispose()
    before = committed.read_bytes()
    config = ["-c", str(folder / "manual_slop.toml")]
    for command in ("status", "forget", "run"):
        assert aggregate("conduct", command, TRACK, *config).code == 0
    assert not witness.exists()
    assert committed.read_bytes() == before
    ended = aggregate("conduct", "status", TRACK, *config, "--database", str(committed))
    assert ended.code == 0
    assert not witness.exists()


def test_the_state_is_the_users_alone(tmp_path: Path) -> None:
    """The database and its folder can be read by nobody else, whatever the umask; two clones have two."""
    folder, clone = (track_project(tmp_path / name / "p", TICKETS) for name in ("a", "b"))
    before = os.umask(0)
    try:
        assert conduct(
            open_project(folder / "manual_slop.toml"), TRACK, Says(), options=RunOptions()
        ).succeeded
    finally:
        os.umask(before)
    state = state_folder(folder)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()} == {0o600}
    assert (state / DATABASE).is_file()
    assert not (folder / "state").exists()
    assert state_folder(clone) != state
    assert status(open_project(clone / "manual_slop.toml"), TRACK) is None
    (tmp_path / "link").symlink_to(folder)
    assert state_folder(tmp_path / "link") == state


def write_run(engine: sa.Engine, *, tickets: str) -> None:
    """Enter a run that is under way, as somebody could who reaches the database."""
    columns = {"run": RUN, "track": TRACK, "tickets": tickets}
    text = "INSERT INTO conductor_runs VALUES (:run, 'demo', :track, 1, 'running', :tickets)"
    execute(engine, text, **columns)


def recorded(tickets: object) -> str:
    """Return the row of a run with these tickets."""
    return json.dumps({"record": 5, "run": {"tickets": tickets}})


def test_a_run_of_an_earlier_version(engine: sa.Engine, project: Project) -> None:
    """Its record is refused in a sentence instead of being misread, and can be ended and deleted."""
    write_run(engine, tickets='{"tickets": [{"id": "a", "prompt": "Look."}]}')
    said = f"the run {RUN} in the database was begun by another version and is not read"
    with pytest.raises(StateError, match=said):
        status(project, TRACK, database=url_of(engine))
    end_and_delete(project, engine)


@pytest.mark.parametrize(
    ("tickets", "what"),
    [
        (recorded(7), f"the run {RUN}"),
        (recorded([{"id": "a", "prompt": "Look."}]), "the outcome of a"),
    ],
)
def test_a_run_that_is_not_ours(
    engine: sa.Engine, project: Project, tickets: str, what: str
) -> None:
    """A run whose tickets are garbled, or whose outcomes are pickles, as they were once, can be ended and deleted."""
    write_run(engine, tickets=tickets)
    DbosQueue(engine).put(Assignment(f"{RUN}/a", "a", Prompt(()), "x"))
    plant(engine, f"{RUN}/a", status="SUCCESS", output="gASVBQ==", serialization="py_pickle")
    said = f"{what} in the database is not JSON.*end the run with `aggregate conduct cancel`"
    with pytest.raises(StateError, match=said):
        status(project, TRACK, database=url_of(engine))
    end_and_delete(project, engine)
    assert DbosQueue(engine).known([f"{RUN}/a"]) == set()


def test_tickets_that_wait_for_each_other(tmp_path: Path) -> None:
    """Tickets of a row that no file could hold, such as a circle, are refused instead of being waited for."""
    circle = [
        {"id": one, "prompt": "Look.", "depends_on": [other]}
        for one, other in (("a", "b"), ("b", "a"))
    ]
    row = Run(sa.create_engine("sqlite://"), "r", 1, "running", recorded(circle))
    with pytest.raises(StateError, match="the run r in the database"):
        _ = row.tickets


@pytest.mark.parametrize(
    "changed",
    [
        {"text": {"a": 1}},
        {"tokens": "many"},
        {"tokens": -1},
        {"status": "well"},
        {"cost": float("nan")},
    ],
)
def test_an_outcome_of_other_types(changed: dict[str, object]) -> None:
    """An outcome whose fields are not what they should be, or that is another ticket's, is refused before it is used."""
    reply = {"text": "t", "tokens": 1, "status": "done"}
    planted = {"ticket": "a", "replies": [reply | changed]}
    outcomes = (planted, {"ticket": "../b", "replies": [reply]}, {"ticket": "a", "replies": []})
    for outcome in outcomes:
        workflow = WorkflowStatus()
        workflow.workflow_id, workflow.status = "r/a", "SUCCESS"
        workflow.output = json.dumps(outcome)
        with pytest.raises(StateError, match="the outcome of a in the database is not JSON"):
            outcome_of_workflow(workflow)


def test_half_a_surrogate_pair_in_an_outcome() -> None:
    """An outcome with half a surrogate pair, which no file can hold, is refused."""
    with pytest.raises(ValueError, match="JSON"):
        TicketOutcome.from_json('{"ticket": "a", "replies": [{"text": "\\ud800"}]}')


@pytest.mark.parametrize(("state", "text"), [("well", "x"), ("spread", "5"), ("spread", "[")])
def test_an_ending_of_somebody_else(
    engine: sa.Engine, project: Project, state: str, text: str
) -> None:
    """What became of a ticket, where a stranger wrote it, is named and not read; its run can be ended and deleted."""
    write_run(engine, tickets=recorded([{"id": "a", "prompt": "Look.", "for_each": "[1]"}]))
    row = {"run_id": RUN, "key": f"{RUN}/a", "state": state, "text": text}
    with engine.begin() as connection:
        connection.execute(ENDINGS.insert().values(**row))
    with pytest.raises(
        StateError, match="the ending of a in the database is not JSON of this program"
    ):
        status(project, TRACK, database=url_of(engine))
    end_and_delete(project, engine)
