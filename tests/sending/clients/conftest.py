"""A server that others wrote: aimock speaks all three protocols, and fails on request."""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
AIMOCK = ROOT / ".aimock" / "node_modules" / ".bin" / "llmock"
INSTALL = "npm install --prefix .aimock --no-save --no-package-lock @copilotkit/aimock@1.43.0"
ANSWER = "The *first* line.\nThe second line, with ümlauts and 🙂.\n"
GOAL_OF_TICKET = "Do with the tools what this task needs"
PLAN_OF_TICKET = "1. List directory"
"""What the questions of a ticket with tools hold, and how they are answered."""


@dataclass(frozen=True)
class Aimock:
    url: str

    def call(self, method: str, path: str, data: Any = None) -> Any:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(  # noqa: S310 - an address of this machine
            self.url + path, data=body, method=method, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def journal(self) -> list[dict[str, Any]]:
        data = self.call("GET", "/__aimock/journal")
        return list(data["entries"] if isinstance(data, dict) else data)


@contextmanager
def serving(folder: Path, fixtures: list[dict[str, Any]]) -> Iterator[Aimock]:
    if not AIMOCK.exists() or shutil.which("node") is None:
        pytest.skip(f"aimock is not installed: {INSTALL}")
    (folder / "all.json").write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    command = [str(AIMOCK), "-p", "0", "-f", str(folder), "-l", "2", "--log-level", "info"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    assert process.stdout
    try:
        said = next((line for line in process.stdout if "listening on" in line), "")
        yield Aimock(said.split("listening on")[1].strip())
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.fixture(scope="session")
def aimock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    plan = {"match": {"userMessage": GOAL_OF_TICKET}, "response": {"content": PLAN_OF_TICKET}}
    answer = {"match": {}, "response": {"content": ANSWER}}
    with serving(tmp_path_factory.mktemp("aimock"), [plan, answer]) as running:
        yield running


@pytest.fixture
def aimock(aimock_server: Aimock) -> Iterator[Aimock]:
    """Return the server with an empty journal and no chaos."""
    aimock_server.call("DELETE", "/__aimock/chaos")
    aimock_server.call("POST", "/__aimock/reset/journal")
    yield aimock_server
    aimock_server.call("DELETE", "/__aimock/chaos")
