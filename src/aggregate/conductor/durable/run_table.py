"""The runs of a track, as the database has them."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from aggregate.conductor.durable.database import retry_while_away
from aggregate.conductor.durable.schema import RUNS
from aggregate.conductor.durable.serialization import refuse_row
from aggregate.conductor.tickets import Tickets
from aggregate.conductor.tickets_file import check_tickets
from aggregate.errors import StateError

RUNNING, FINISHED, CANCELLED = "running", "finished", "cancelled"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the database has it.

    Attributes:
        run_id: ``<project>/<track>/<NNN>``.
        number: Which run of the track.
        state: ``running``, ``finished`` or ``cancelled``.
        tickets_json: What is run, as ``Tickets`` writes it: a run that cannot be read can still be ended and deleted.
    """

    run_id: str
    number: int
    state: str
    tickets_json: str

    @property
    def tickets(self) -> Tickets:
        """What is run: the tickets of the moment when it began.

        Raises:
            StateError: They are none, or cannot be run.
        """
        try:
            return check_tickets(Tickets.model_validate_json(self.tickets_json))
        except ValueError:  # pydantic's own error is one
            refuse_row(f"the run {self.run_id}")


class RunTable:
    """The runs of one project's track."""

    def __init__(self, engine: sa.Engine, project: str, track: str) -> None:
        self._engine = engine
        self._project = project
        self._track = track
        self._of_track = (RUNS.c.project == project) & (RUNS.c.track == track)

    def latest(self) -> RunRow | None:
        """Return the newest run, ``None`` where there is none."""
        newest_first = sa.select(RUNS).where(self._of_track).order_by(RUNS.c.number.desc())
        rows = self._execute(newest_first.limit(1))
        return _run_row(rows[0]) if rows else None

    def over(self) -> list[RunRow]:
        """Return the runs that are finished or cancelled, the oldest first."""
        query = sa.select(RUNS).where(self._of_track, RUNS.c.state != RUNNING)
        return [_run_row(row) for row in self._execute(query.order_by(RUNS.c.number))]

    def begin(self, tickets: Tickets, number: int) -> RunRow:
        """Enter a new run; of two processes that do so at once under one number, both get the same run."""
        run_id = f"{self._project}/{self._track}/{number:03d}"
        run = RunRow(run_id, number, RUNNING, tickets.model_dump_json())
        statement = RUNS.insert().values(
            run_id=run_id,
            project=self._project,
            track=self._track,
            number=number,
            state=RUNNING,
            tickets=run.tickets_json,
        )
        try:
            self._execute(statement)
        except StateError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return self.latest() or run
        return run

    def set_state(self, run: RunRow, state: str) -> None:
        """Write how a run stands; one that is over stays as it is."""
        running = (RUNS.c.run_id == run.run_id) & (RUNS.c.state == RUNNING)
        self._execute(RUNS.update().where(running).values(state=state))

    def state(self, run: RunRow) -> str:
        """Return how a run stands now; one that was forgotten is cancelled."""
        rows = self._execute(sa.select(RUNS.c.state).where(RUNS.c.run_id == run.run_id))
        return str(rows[0]["state"]) if rows else CANCELLED

    def forget(self, run: RunRow) -> None:
        """Delete a run that is over."""
        self._execute(RUNS.delete().where(RUNS.c.run_id == run.run_id, RUNS.c.state != RUNNING))

    def _execute(self, statement: sa.Executable) -> Sequence[sa.RowMapping]:
        def execute() -> Sequence[sa.RowMapping]:
            with self._engine.begin() as connection:
                result = connection.execute(statement)
                return result.mappings().all() if result.returns_rows else ()

        return retry_while_away(self._engine, execute)


def _run_row(row: sa.RowMapping) -> RunRow:
    run = RunRow(row["run_id"], row["number"], row["state"], row["tickets"])
    # SQLite keeps any type in any column.
    texts = (run.run_id, run.state, run.tickets_json)
    if type(run.number) is not int or any(type(text) is not str for text in texts):
        refuse_row("a run")
    return run
