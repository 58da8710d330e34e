"""What is kept in the user's own state folder: small JSON files, each changed by one process at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import exclusive_access, private_folder, replace_own
from aggregate.base.errors import OutputError


def read_kept(path: Path) -> Any:  # noqa: ANN401 - JSON, which whoever reads it checks
    """Return what a file holds, ``None`` where nothing can be read."""
    try:
        return json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None


def change_kept(path: Path, change: Callable[[Any], Any]) -> str:
    """Write what ``change`` makes of what a file holds; return why that is not kept, ``""`` if it is."""
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            text = json.dumps(change(read_kept(path)), default=str, indent=0)
            replace_own(path, text + "\n")
    except OSError as error:
        return f"cannot write {path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""
