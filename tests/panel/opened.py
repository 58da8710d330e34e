"""A panel of a small project, without a socket."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from starlette.types import ASGIApp

from aggregate.panel import Access, Broadcast, Event, Panel, Session
from tests.projects import project

TOKEN, KEY = "t" * 32, "k" * 32
ORIGIN = "http://127.0.0.1:8123"
HEADERS = {"origin": ORIGIN, "x-aggregate": "1"}

CONFIG = """\
# what we show
[project]
name = "small"

[files]
paths = [
  "src/*.py", # the sources
  { path = "README.md", view_mode = "outline" },
]
"""
FILES = {
    "README.md": "# Small\n\nSome text.\n\n## Use\n\nMore.\n",
    "src/a.py": "import os\n\n\ndef alpha(x):\n    return os.path.join(x)\n\n\nclass Beta:\n    def gamma(self):\n        return 1\n",
    "src/b.py": "def delta():\n    return 2\n",
    "notes.txt": "nothing\n",
    "manual_slop.toml": CONFIG,
}


def access(*, port: int = 8123) -> Access:
    """Return the access control of a panel at an address."""
    return Access(TOKEN, KEY, port)


@dataclass
class Opened:
    """A panel opened by a browser."""

    session: Session
    client: TestClient
    folder: Path
    events: list[Event]

    def get(self, route: str, /, **query: object) -> Any:
        """Return the answer to a GET request."""
        return self.client.get(f"/api/{route}", params={k: str(v) for k, v in query.items()}).json()

    def post(self, route: str, /, **body: object) -> Any:
        """Return the answer to an action."""
        return self.client.post(f"/api/{route}", json=body, headers=HEADERS).json()

    def edit(self, **edit: object) -> Any:
        """Apply one edit, and compose the draft."""
        answer = self.post("edit", revision=self.session.revision, edits=[edit])
        self.session.compose()
        return answer

    def change(self, path: str, text: str) -> None:
        """Write a file like another program, report it, and compose."""
        file = self.folder / path
        file.write_text(text)
        self.told(file)
        self.session.compose()

    def told(self, *paths: Path) -> bool:
        """Report changes on the disk; return whether they matter."""
        before = self.session.revision
        self.session.disk_changed([str(path.resolve()) for path in paths])
        return self.session.revision != before

    @property
    def config(self) -> str:
        """The configuration on the disk."""
        return (self.folder / "manual_slop.toml").read_text()

    @property
    def draft(self) -> str:
        """The configuration as it would be saved."""
        return self.session.draft.current.text

    @property
    def markdown(self) -> str:
        """The prompt."""
        return self.client.get("/api/prompt/text").text

    def row(self, path: str) -> dict[str, Any]:
        """Return a file's row of the table."""
        data = self.get("files")
        place = data["path"].index(path)
        return {key: column[place] for key, column in data.items() if _is_column(key, column)}


def _is_column(key: str, value: object) -> bool:
    return isinstance(value, list) and key != "removed"


def app_of(session: Session) -> ASGIApp:
    """Return the panel of a session, not opened yet."""
    return Panel(session, Broadcast()).guarded(access())


def opened(folder: Path, files: Mapping[str, str] = FILES) -> Opened:
    """Return the panel of a project with these files, composed."""
    project(folder, {**files})
    events: list[Event] = []
    session = Session(folder / "manual_slop.toml", on_event=events.append)
    client = TestClient(app_of(session), base_url=ORIGIN)
    client.get(f"/?token={TOKEN}", follow_redirects=False)
    session.compose()
    return Opened(session, client, folder, events)
