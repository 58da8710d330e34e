"""docs/architecture.md: every path on it exists, and no room of the package is missing."""

import re
from pathlib import Path

PACKAGE = Path("src/aggregate")
PATH = re.compile(r"(?<![\w/.])[a-z_]+/(?:[a-z_0-9]+(?:\.py|/)?)*")
"""``views/``, ``chat/turn``, ``models/view.py``, ``tests/syntax/``."""
OWN = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}


def exists(path: str) -> bool:
    """Tell whether a path of the page is a folder, a file, or a module without its suffix."""
    roots = (PACKAGE, PACKAGE / "conductor", Path())
    return any((root / path).exists() or (root / f"{path}.py").is_file() for root in roots)


def test_every_path_exists() -> None:
    """Rooms, modules and folders of tests that the page names are there."""
    page = Path("docs/architecture.md").read_text(encoding="utf-8")
    paths = PATH.findall(page)
    assert {"chat/turn", "cli/", "models/view.py", "tests/syntax/"} <= set(paths)
    assert [path for path in paths if not exists(path)] == []


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
