"""What became of tickets that no worker is asked for, and which round each ticket is in, as the database has it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from aggregate.agents.tracks.durable.database import retry_while_away
from aggregate.agents.tracks.durable.row_sizes import ROW_BYTES, TOO_LARGE, size_of
from aggregate.agents.tracks.durable.schema import ENDINGS, ROUNDS
from aggregate.agents.tracks.durable.serialization import refuse_row
from aggregate.agents.tracks.endings import Ending, EndingState
from aggregate.agents.tracks.ticket_keys import TicketKeys, ticket_of

_MOST_ROUNDS = 1_000_000
"""Nobody retries so often: a larger number is somebody else's."""


class EndingTable:
    """The endings and rounds of one run.

    Args:
        engine: The database.
        run_id: The run.
    """

    def __init__(self, engine: sa.Engine, run_id: str) -> None:
        self._engine = engine
        self._run_id = run_id
        self._insert = sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert

    def all(self) -> Mapping[str, Ending]:
        """Return the endings, by key.

        Raises:
            StateError: A row is not what was written here, or the database cannot be used.
        """
        rows = self._rows(self._query())
        return {str(key): _ending(key, state, text) for key, state, text in rows}

    def record(self, key: str, ending: Ending) -> Ending:
        """Write an ending where there is none, and return the one that counts.

        Raises:
            StateError: The database cannot be used.
        """
        values = {"run_id": self._run_id, "key": key, "state": ending.state, "text": ending.text}
        self._rows(self._insert(ENDINGS).values(**values).on_conflict_do_nothing())
        for row in self._rows(self._query().where(ENDINGS.c.key == key)):
            return _ending(*row)
        return ending  # the run was forgotten meanwhile

    def decide(self, key: str, ending: Ending) -> bool:
        """Write a person's decision on what waits; tell whether it is this one that counts."""
        waits = self._of_run(ENDINGS) & (ENDINGS.c.key == key)
        waits &= ENDINGS.c.state == EndingState.WAITING
        update = ENDINGS.update().where(waits).values(state=ending.state, text=ending.text)
        return bool(self._rows(update.returning(ENDINGS.c.key)))

    def keys(self) -> TicketKeys:
        """Return the keys of the run's tickets in their latest rounds.

        Raises:
            StateError: A row is not what was written here, or the database cannot be used.
        """
        rows = self._rows(sa.select(ROUNDS.c.ticket, ROUNDS.c.round).where(self._of_run(ROUNDS)))
        rounds: dict[str, int] = {}
        for ticket_id, number in rows:
            if not isinstance(number, int) or not 1 <= number <= _MOST_ROUNDS:
                refuse_row(f"the round of {ticket_id}")
            rounds[str(ticket_id)] = number
        return TicketKeys(self._run_id, rounds)

    def raise_rounds(self, rounds: Mapping[str, int]) -> None:
        """Let tickets run once more, in these rounds; one that is in it, or a later one, stays there."""
        for ticket_id, number in sorted(rounds.items()):
            insert = self._insert(ROUNDS).values(
                run_id=self._run_id, ticket=ticket_id, round=number
            )
            self._rows(
                insert.on_conflict_do_update(
                    index_elements=["run_id", "ticket"],
                    set_={"round": number},
                    where=ROUNDS.c.round < number,
                )
            )

    def forget(self) -> None:
        """Delete what there is of the run."""
        for table in (ENDINGS, ROUNDS):
            self._rows(table.delete().where(self._of_run(table)))

    def _query(self) -> sa.Select[Any]:
        size = size_of(ENDINGS.c.text, self._engine.dialect.name)
        # NULL where it is too large to be read.
        text = sa.case((size <= ROW_BYTES, ENDINGS.c.text))
        return sa.select(ENDINGS.c.key, ENDINGS.c.state, text).where(self._of_run(ENDINGS))

    def _of_run(self, table: sa.Table) -> sa.ColumnElement[bool]:
        return table.c.run_id == self._run_id

    def _rows(self, statement: sa.Executable) -> Sequence[Any]:
        def execute() -> Sequence[Any]:
            with self._engine.begin() as connection:
                result = connection.execute(statement)
                return result.all() if result.returns_rows else ()

        return retry_while_away(self._engine, execute)


def _ending(key: object, state: object, text: object) -> Ending:
    """Return an ending; whoever reaches the database may have written its row."""
    name = f"the ending of {ticket_of(str(key))}"
    if text is None:
        refuse_row(name, TOO_LARGE)
    if not isinstance(text, str) or not isinstance(state, str) or state not in set(EndingState):
        refuse_row(name)
    if state == EndingState.SPREAD and not _is_list(text):
        refuse_row(name)
    return Ending(EndingState(state), text)


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False
