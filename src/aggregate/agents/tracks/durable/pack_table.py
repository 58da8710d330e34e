"""What the database has of a run's changes: the packs of its commits, and where its line of merged changes stands."""

import sqlalchemy as sa

from aggregate.agents.tracks.durable.database import PACKS, REFS
from aggregate.agents.tracks.durable.run_table import execute, insert_into
from aggregate.agents.tracks.trees import Pack


class PackTable:
    def __init__(self, engine: sa.Engine, run_id: str) -> None:
        self._engine = engine
        self._run_id = run_id

    def get(self, commit: str) -> Pack | None:
        query = sa.select(PACKS.c.parents, PACKS.c.data).where(
            (PACKS.c.run_id == self._run_id) & (PACKS.c["commit"] == commit)
        )
        for parents, data in execute(self._engine, query):
            return Pack(commit, tuple(parents.split()), bytes(data))
        return None

    def put(self, pack: Pack) -> None:
        insert = insert_into(self._engine, PACKS).values(
            run_id=self._run_id, commit=pack.commit, parents=" ".join(pack.parents), data=pack.data
        )
        execute(self._engine, insert.on_conflict_do_nothing())

    def ref(self, name: str) -> str:
        query = sa.select(REFS.c["commit"]).where(self._named(name))
        return next((str(row[0]) for row in execute(self._engine, query)), "")

    def move(self, name: str, before: str, after: str) -> bool:
        """Let a name stand for another commit, if it stands where it did; of two processes one moves it."""
        if before:
            stands = self._named(name) & (REFS.c["commit"] == before)
            change = REFS.update().where(stands).values(commit=after)
        else:
            values = {"run_id": self._run_id, "name": name, "commit": after}
            change = insert_into(self._engine, REFS).values(**values).on_conflict_do_nothing()
        return bool(execute(self._engine, change.returning(REFS.c.name)))

    def forget(self) -> None:
        for table in (PACKS, REFS):
            execute(self._engine, table.delete().where(table.c.run_id == self._run_id))

    def _named(self, name: str) -> sa.ColumnElement[bool]:
        return (REFS.c.run_id == self._run_id) & (REFS.c.name == name)
