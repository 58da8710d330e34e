"""What a user has on disk: a configuration of the user's own, and discussions."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from aggregate.project.configuration import global_config_path


def by_user(text: str) -> Path:
    """Write the user's own configuration and return its path."""
    path = global_config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path


def turns_in(path: Path) -> list[Any]:
    """Return the turns of a discussion as its file has them."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    turns: list[Any] = (data.get("discussion") or data)["history"]
    return turns


def add_turns(path: Path, turns: Iterable[Mapping[str, str]]) -> None:
    """Write turns behind those of a discussion."""
    with path.open("a", encoding="utf-8") as file:
        for turn in turns:
            lines = "".join(f"{key} = {json.dumps(text)}\n" for key, text in turn.items())
            file.write(f"\n[[history]]\n{lines}")
