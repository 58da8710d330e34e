"""JSON files in the user's state folder, changed by one process at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import exclusive_access, private_folder, replace_own
from aggregate.base.errors import OutputError


def read_state(path: Path) -> Any:  # noqa: ANN401 - JSON, checked by the caller
    """Return the data of a state file, ``None`` if it is unreadable."""
    try:
        return json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None


def change_state(path: Path, change: Callable[[Any], Any]) -> str:
    """Replace the data of a state file by ``change(data)``; return an error message, or ``""``."""
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            text = json.dumps(change(read_state(path)), default=str, indent=0)
            replace_own(path, text + "\n")
    except OSError as error:
        return f"cannot write {path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""
