"""Projects with beads, made in a temporary folder."""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]


def record(id_: str, title: str = "Title", **fields: object) -> dict[str, Any]:
    return {
        "id": id_,
        "title": title,
        "priority": 2,
        "created_at": "2026-01-01T00:00:00Z",
        **fields,
    }


def needs(target: str, kind: str = "blocks", **fields: object) -> dict[str, Any]:
    return {"depends_on_id": target, "type": kind, **fields}


def write_jsonl(path: Path, records: Iterable[Record], *, age: int = 0) -> Path:
    """Write records as JSONL; ``age`` seconds before a fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in records), encoding="utf-8")
    return _aged(path, age)


def write_database(path: Path, records: Iterable[Record], *, age: int = 0) -> Path:
    """Write records into a SQLite database of Beads, with the columns that this project reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE issues (id TEXT PRIMARY KEY, title TEXT, description TEXT DEFAULT '', status TEXT,"
            " priority INTEGER, issue_type TEXT, created_at DATETIME, closed_at DATETIME, defer_until DATETIME,"
            " pinned INTEGER DEFAULT 0, ephemeral INTEGER DEFAULT 0, is_template INTEGER DEFAULT 0)"
        )
        connection.execute(
            "CREATE TABLE dependencies (issue_id TEXT, depends_on_id TEXT, type TEXT, metadata TEXT)"
        )
        for entry in records:
            columns = ("id", "title", "status", "priority", "created_at", "description")
            row = [
                entry.get(column, "") or ("open" if column == "status" else "")
                for column in columns
            ]
            connection.execute(
                f"INSERT INTO issues ({', '.join(columns)}) VALUES (?, ?, ?, ?, ?, ?)", row
            )
            for need in entry.get("dependencies", []):
                target, kind = need["depends_on_id"], need["type"]
                values = (entry["id"], target, kind, need.get("metadata", "{}"))
                connection.execute("INSERT INTO dependencies VALUES (?, ?, ?, ?)", values)
        connection.commit()
    return _aged(path, age)


def _aged(path: Path, age: int) -> Path:
    time = 1_750_000_000 - age
    os.utime(path, (time, time))
    return path
