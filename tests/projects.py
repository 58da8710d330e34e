"""Building small projects for tests: one line each."""

import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any


def project(folder: Path, files: dict[str, str]) -> Path:
    """Write ``files`` (relative path to text, dedented) below ``folder`` and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dedent(text).encode())
    return folder


def turns_in(path: Path) -> list[Any]:
    """Return the turns that the file of a discussion holds."""
    turns: list[Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("history", [])
    return turns
