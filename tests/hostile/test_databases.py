"""Databases that a project brings along end within seconds, with one sentence."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aggregate import StateError
from aggregate.agents.tools import state_store
from tests.hostile.running import ends

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measured as on Unix")


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
