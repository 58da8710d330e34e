"""Servers that nobody here wrote: aimock speaks all three protocols, xllamacpp is a real model with a real prefix cache."""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
AIMOCK = ROOT / ".aimock" / "node_modules" / ".bin" / "llmock"
INSTALL = "npm install --prefix .aimock --no-save --no-package-lock @copilotkit/aimock@1.43.0"
ANSWER = "The *first* line.\nThe second line, with ümlauts and 🙂.\n"


@dataclass(frozen=True)
class Aimock:
    """A running server."""

    url: str

    def call(self, method: str, path: str, data: Any = None) -> Any:
        """Call its control interface."""
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(  # noqa: S310 - an address of this machine
            self.url + path, data=body, method=method, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def journal(self) -> list[dict[str, Any]]:
        """Return the requests that arrived, in order."""
        data = self.call("GET", "/__aimock/journal")
        return list(data["entries"] if isinstance(data, dict) else data)


@pytest.fixture(scope="session")
def aimock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    """Start aimock for the session."""
    if not AIMOCK.exists() or shutil.which("node") is None:
        pytest.skip(f"aimock is not installed: {INSTALL}")
    folder = tmp_path_factory.mktemp("aimock")
    fixtures = {"fixtures": [{"match": {}, "response": {"content": ANSWER}}]}
    (folder / "all.json").write_text(json.dumps(fixtures), encoding="utf-8")
    port = 20_000 + os.getpid() % 20_000
    process = subprocess.Popen(
        [str(AIMOCK), "-p", str(port), "-f", str(folder), "-l", "5", "--log-level", "silent"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Aimock(f"http://127.0.0.1:{port}")
    try:
        for _ in range(200):
            try:
                server.call("GET", "/__aimock/journal")
                break
            except OSError:
                time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def aimock(aimock_server: Aimock) -> Iterator[Aimock]:
    """Return the server with an empty journal and no chaos."""
    aimock_server.call("DELETE", "/__aimock/chaos")
    aimock_server.call("DELETE", "/__aimock/journal")
    yield aimock_server
    aimock_server.call("DELETE", "/__aimock/chaos")
