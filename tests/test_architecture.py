"""docs/architecture.md: every path on it exists, and no room of the package is missing."""

import re
import tomllib
from pathlib import Path

from aggregate import load_config

PACKAGE = Path("src/aggregate")
PATH = re.compile(r"(?<![\w/.])[a-z_]+/(?:[a-z_0-9]+(?:\.py|/)?)*")
"""``cli/``, ``sending/turn``, ``base/files.py``, ``tests/code/syntax/``."""
OWN = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}


def exists(path: str) -> bool:
    """Tell whether a path of the page is a folder, a file, or a module without its suffix."""
    roots = (
        PACKAGE,
        *(PACKAGE / room for room in ("agents", "base", "code", "project", "prompt", "sending")),
        Path(),
    )
    return any((root / path).exists() or (root / f"{path}.py").is_file() for root in roots)


def test_every_path_exists() -> None:
    """Rooms, modules and folders of tests that the page names are there."""
    page = Path("docs/architecture.md").read_text(encoding="utf-8")
    paths = PATH.findall(page)
    assert {"sending/turn", "cli/", "base/files.py", "tests/code/syntax/"} <= set(paths)
    assert [path for path in paths if not exists(path)] == []


def test_what_this_project_asks_for_exists() -> None:
    """Files that its own configuration and tickets name are there: a prompt of it has no file missing."""
    files = load_config(Path("manual_slop.toml")).config.files.paths
    named = [entry.path for entry in files]
    for tickets in Path("conductor/tracks").glob("*/tickets.toml"):
        planned = tomllib.loads(tickets.read_text(encoding="utf-8"))["tickets"]
        named += [path for ticket in planned for path in ticket.get("focus_files", ())]
    assert "src/aggregate/prompt/api.py" in named
    assert [path for path in named if "*" not in path and not Path(path).is_file()] == []


def test_every_room_is_named() -> None:
    """Each package and each module at the top of the package stands on the page."""
    page = Path("docs/architecture.md").read_text(encoding="utf-8")
    rooms = [path for path in PACKAGE.iterdir() if path.name not in OWN]
    missing = [
        path.stem
        for path in rooms
        if (f"`{path.name}/`" if path.is_dir() else f"`{path.stem}`") not in page
    ]
    assert missing == []
