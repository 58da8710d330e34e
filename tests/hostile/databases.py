"""SQLite files that look like a database of beads and are made to hang, fill the memory or do something else."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Builder = Callable[[Path], None]
_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
_TABLE = "CREATE TABLE issues (id TEXT PRIMARY KEY, title TEXT, description TEXT)"


def recursive_view(path: Path) -> None:
    """A view in the place of the table that has rows without end."""
    _make(path, f"CREATE VIEW issues AS {_ENDLESS} SELECT i AS id, 't' AS title FROM n")


def view_of_needs(path: Path) -> None:
    """A view without end in the place of the table of dependencies."""
    view = f"CREATE VIEW dependencies AS {_ENDLESS} SELECT i AS issue_id, i AS depends_on_id FROM n"
    _make(path, _TABLE, "INSERT INTO issues VALUES ('bd-1', 't', '')", view)


def zeroblob_view(path: Path) -> None:
    """A view whose single row is a gigabyte."""
    _make(path, "CREATE VIEW issues AS SELECT zeroblob(999999999) AS id")


def generated_column(path: Path) -> None:
    """A table with columns that are computed when they are read, to gigabytes."""
    columns = "id TEXT, title TEXT, description TEXT AS (hex(zeroblob(30000000))), priority AS (zeroblob(90000000))"
    _make(
        path,
        f"CREATE TABLE issues ({columns})",
        "INSERT INTO issues (id, title) VALUES ('bd-1', 't')",
    )


def virtual_table(path: Path) -> None:
    """A table that a module computes."""
    _make(path, "CREATE VIRTUAL TABLE issues USING fts5(id, title)")


def pattern_index(path: Path) -> None:
    """An index and a column whose expressions match a text against a pattern in exponential time."""
    check = "CHECK (title NOT GLOB replace(hex(zeroblob(40)), '00', '*a') || 'b')"
    _make(
        path,
        f"CREATE TABLE issues (id TEXT, title TEXT {check})",
        "INSERT INTO issues VALUES ('bd-1', 't')",
    )


def damaged_tree(path: Path) -> None:
    """A table whose pages lead back to each other, so that its rows never end."""
    rows = ((f"bd-{i}", "t", "x" * 3000) for i in range(3000))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(_TABLE.replace(" PRIMARY KEY", ""))
        connection.executemany("INSERT INTO issues VALUES (?, ?, ?)", rows)
        connection.commit()
        root, size = connection.execute("SELECT rootpage FROM sqlite_master").fetchone()[0], 4096
    data = bytearray(path.read_bytes())
    page = (root - 1) * size
    cells = int.from_bytes(data[page + 3 : page + 5], "big")
    first = int.from_bytes(data[page + 12 : page + 14], "big")
    child = data[page + first : page + first + 4]
    for number in range(cells):  # every entry leads to the same page, and that one back to all
        at = page + int.from_bytes(data[page + 12 + 2 * number : page + 14 + 2 * number], "big")
        data[at : at + 4] = child
    lower = (int.from_bytes(child, "big") - 1) * size
    data[lower : lower + size] = data[page : page + size]
    path.write_bytes(bytes(data))


def many_large_rows(path: Path) -> None:
    """A table with more text than a prompt can hold."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(_TABLE)
        connection.executemany(
            "INSERT INTO issues VALUES (?, 't', ?)", ((i, "x" * 9_000_000) for i in range(8))
        )
        connection.commit()


def large_text(path: Path) -> None:
    """A table with one text that is larger than any bead."""
    _make(path, _TABLE, "INSERT INTO issues VALUES ('bd-1', 't', CAST(zeroblob(25000000) AS TEXT))")


BUILDERS: tuple[Builder, ...] = (
    recursive_view, zeroblob_view, virtual_table, damaged_tree, many_large_rows, large_text,
)  # fmt: skip
HARMLESS: tuple[Builder, ...] = (view_of_needs, generated_column, pattern_index)
"""Those that are read, without what is computed."""


def _make(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
