"""The runs of a track, as the database has them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from aggregate.agents.tracks.durable.database import retry_while_away
from aggregate.agents.tracks.durable.row_sizes import ROW_BYTES, TOO_LARGE, size_of
from aggregate.agents.tracks.durable.schema import RUNS, SEGMENTS
from aggregate.agents.tracks.durable.serialization import NOT_JSON, refuse_row
from aggregate.agents.tracks.run_files import MOST_NUMBER
from aggregate.agents.tracks.tickets import Tickets
from aggregate.agents.tracks.tickets_file import check_tickets
from aggregate.base.errors import StateError
from aggregate.base.text import shorten

RUNNING, FINISHED, CANCELLED = "running", "finished", "cancelled"
_NAME_CHARACTERS = 200
"""Of a run's name in a message: a column of somebody else's may hold any length."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the database has it.

    Attributes:
        run_id: ``<project>/<track>/<NNN>``.
        number: Which run of the track.
        state: ``running``, ``finished`` or ``cancelled``.
        tickets_json: What is run, as ``Tickets`` writes it.
        fault: Why the row cannot be read, ``""`` where it can: it can be ended and deleted all the same.
    """

    run_id: str
    number: int
    state: str
    tickets_json: str
    fault: str = ""

    @property
    def tickets(self) -> Tickets:
        """What is run: the tickets of the moment when it began.

        Raises:
            StateError: They are none, or cannot be run.
        """
        self.require_readable()
        try:
            return check_tickets(Tickets.model_validate_json(self.tickets_json))
        except ValueError:  # pydantic's own error is one
            refuse_row(f"the run {self.run_id}")

    def require_readable(self) -> None:
        """Refuse a row that somebody else wrote.

        Raises:
            StateError: It has a type that its column does not have, or is too large.
        """
        if self.fault:
            refuse_row(f"the run {shorten(str(self.run_id), _NAME_CHARACTERS)}", self.fault)


class RunTable:
    """The runs of one project's track."""

    def __init__(self, engine: sa.Engine, project: str, track: str) -> None:
        self._engine = engine
        self._project = project
        self._track = track
        of_track = (RUNS.c.project == project) & (RUNS.c.track == track)
        # NULL where they are too large to be read.
        tickets = sa.case(
            (size_of(RUNS.c.tickets, engine.dialect.name) <= ROW_BYTES, RUNS.c.tickets)
        )
        self._rows = sa.select(
            RUNS.c.run_id, RUNS.c.number, RUNS.c.state, tickets.label("tickets")
        ).where(of_track)

    def latest(self) -> RunRow | None:
        """Return the newest run, ``None`` where there is none.

        One whose number is none counts as the newest: it is to be ended and deleted before another is begun.
        """
        newest_first = self._rows.order_by(RUNS.c.number.desc())
        rows = self._execute(newest_first.limit(1))
        return _run_row(rows[0]) if rows else None

    def over(self) -> list[RunRow]:
        """Return the runs that are finished or cancelled, the oldest first."""
        query = self._rows.where(RUNS.c.state != RUNNING).order_by(RUNS.c.number)
        return [_run_row(row) for row in self._execute(query)]

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

    def reopen(self, run: RunRow) -> RunRow:
        """Let a run that is over go on, and return it."""
        self._execute(RUNS.update().where(RUNS.c.run_id == run.run_id).values(state=RUNNING))
        return replace(run, state=RUNNING)

    def state(self, run: RunRow) -> str:
        """Return how a run stands now; one that was forgotten is cancelled."""
        rows = self._execute(sa.select(RUNS.c.state).where(RUNS.c.run_id == run.run_id))
        return str(rows[0]["state"]) if rows else CANCELLED

    def forget(self, run: RunRow) -> None:
        """Delete a run that is over, and what its tickets were shown."""
        self._execute(SEGMENTS.delete().where(SEGMENTS.c.run_id == run.run_id))
        self._execute(RUNS.delete().where(RUNS.c.run_id == run.run_id, RUNS.c.state != RUNNING))

    def _execute(self, statement: sa.Executable) -> Sequence[sa.RowMapping]:
        def execute() -> Sequence[sa.RowMapping]:
            with self._engine.begin() as connection:
                result = connection.execute(statement)
                return result.mappings().all() if result.returns_rows else ()

        return retry_while_away(self._engine, execute)


def _run_row(row: sa.RowMapping) -> RunRow:
    """Return a run; of a row that is not ours what tells it from others, and what is wrong with it."""
    run = RunRow(row["run_id"], row["number"], row["state"], row["tickets"])
    if row["tickets"] is None:
        return replace(run, number=0, tickets_json="", fault=TOO_LARGE)
    # SQLite keeps any type in any column.
    texts = (run.run_id, run.state, run.tickets_json)
    is_number = type(run.number) is int and 0 < run.number <= MOST_NUMBER
    if not is_number or any(type(text) is not str for text in texts):
        return replace(run, number=0, tickets_json="", fault=NOT_JSON)
    return run
