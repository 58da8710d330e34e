"""Databases that a project brings along end within seconds, with one sentence."""

import os
import resource
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from aggregate import StateError
from aggregate.agents.tools import state_store
from aggregate.base.errors import BeadsError
from aggregate.project.beads.record import read_sqlite
from tests.fakes.beads_project import record, write_database
from tests.hostile.databases import BUILDERS, HARMLESS, Builder
from tests.hostile.running import ends

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measured as on Unix")


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_a_database_of_beads_ends(tmp_path: Path, build: Builder) -> None:
    """Views, tables that are computed, rows without end and texts without measure are refused in one sentence."""
    build(tmp_path / "beads.db")
    begun = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with ends(), pytest.raises(BeadsError, match="export") as error:
        read_sqlite(tmp_path / "beads.db", name="beads.db")
    assert str(error.value).count("\n") == 0
    assert time.process_time() - begun < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000


@pytest.mark.parametrize("build", HARMLESS, ids=lambda build: build.__name__)
def test_what_is_computed_is_not_read(tmp_path: Path, build: Builder) -> None:
    """Of a table with more around it, the stored columns are read and nothing is computed."""
    build(tmp_path / "beads.db")
    with ends():
        board = read_sqlite(tmp_path / "beads.db", name="beads.db")
    assert [(bead.id, bead.title, bead.description) for bead in board.beads] == [("bd-1", "t", "")]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("target", ["/dev/zero", "fifo"])
def test_files_beside_a_database_are_files(tmp_path: Path, suffix: str, target: str) -> None:
    """A FIFO or a device in the place of the database or of its logs is refused, and not waited for."""
    write_database(tmp_path / "beads.db", [record("bd-1")])
    (tmp_path / "beads.db-wal").write_bytes(b"x" * 100)
    (tmp_path / "beads.db-shm").write_bytes(b"x" * 100)
    place = tmp_path / f"beads.db{suffix}"
    place.unlink()
    os.mkfifo(place) if target == "fifo" else place.symlink_to(target)
    with ends(), pytest.raises(BeadsError, match=r"beads\.db cannot be read"):
        read_sqlite(tmp_path / "beads.db", name="beads.db")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW state AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS key, '1' AS value, '' AS updated_at FROM n",
        "CREATE TRIGGER t AFTER INSERT ON state BEGIN INSERT INTO state WITH RECURSIVE n(i) AS"
        " (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, '1', '' FROM n; END",
    ],
    ids=["view", "trigger"],
)
def test_saved_state_does_nothing_of_its_own(tmp_path: Path, statement: str) -> None:
    """A database of saved state with a view or a trigger was made by somebody else and is refused."""
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        if "TRIGGER" in statement:
            connection.execute(
                "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL)"
            )
        connection.execute(statement)
        connection.commit()
    store = state_store(tmp_path)
    with ends(), pytest.raises(StateError, match=r"not made by this program|cannot be used"):
        store.keys()
    with ends(), pytest.raises(StateError, match=r"not made by this program|cannot be used"):
        store.save("a", 1)
