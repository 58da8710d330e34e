"""Projects with beads, made in a temporary folder."""

import json
import os
from collections.abc import Iterable, Mapping
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


def write_jsonl(path: Path, records: Iterable[Record]) -> Path:
    """Write records as JSONL, changed at a fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in records), encoding="utf-8")
    os.utime(path, (1_750_000_000, 1_750_000_000))
    return path
