"""The panel's server: address, events, end and restart."""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aggregate import ConfigError
from aggregate.cli.mcp_and_panel import panel as command
from aggregate.panel import (
    Access,
    Address,
    Broadcast,
    Panel,
    Session,
    open_listener,
    server,
    watch_disk,
)
from tests.panel.opened import FILES, TOKEN, access
from tests.project.repository import git
from tests.projects import project

_PATIENCE = 20.0
"""Seconds that a loaded machine may take for what takes a moment."""


class _Served:
    """A server in a thread, with a client like a browser."""

    def __init__(self, folder: Path) -> None:
        self.broadcast = Broadcast()
        self.session = Session(folder / "manual_slop.toml", on_event=self.broadcast.tell)
        listener = open_listener(0, 0)
        self.port = int(listener.getsockname()[1])
        panel = Panel(self.session, self.broadcast)
        self.server = server(panel.guarded(access(port=self.port)), panel.end)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self.browser = urllib.request.build_opener(cookies)
        self.base = f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        """Open the page."""
        self.browser.open(f"{self.base}/?token={TOKEN}", timeout=_PATIENCE).read()

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the server's events until it ends."""
        for line in self.browser.open(f"{self.base}/api/events", timeout=_PATIENCE):
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))

    def end(self) -> None:
        """Stop the server like Ctrl-C."""
        self.server.handle_exit(signal.SIGINT, None)
        self.thread.join(_PATIENCE)
        self.session.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[_Served]:
    """A server for the small project."""
    served = _Served(project(tmp_path, FILES))
    yield served
    served.end()


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0,
    reason="Linux tells the user, and the administrator alone makes another one's connection",
)
def test_another_user_s_program_is_refused(served: _Served) -> None:
    """Another user is refused everywhere, even with the token."""
    with socket.socket() as client:
        client.settimeout(_PATIENCE)
        os.fchown(client.fileno(), 65_534, 65_534)
        client.connect(("127.0.0.1", served.port))
        heading = f"Host: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n"
        client.sendall(f"GET /?token={TOKEN} HTTP/1.1\r\n{heading}".encode())
        with client.makefile("rb") as answer:
            assert b"refused another user of this machine" in answer.read()
    served.open()


def test_edits_on_the_disk_arrive_and_the_end_comes_at_once(
    served: _Served, tmp_path: Path
) -> None:
    """A listening page gets change and prompt events, and does not delay the end."""
    served.open()
    served.session.start()
    threading.Thread(target=watch_disk, args=(served.session, print), daemon=True).start()
    events = served.events()
    assert next(events)["what"] == "hello"
    while served.session.view.revision < served.session.revision:
        time.sleep(0.01)
    end = time.monotonic() + _PATIENCE
    names: list[str] = []
    while "src/b.py" not in names and time.monotonic() < end:
        (tmp_path / "src/b.py").write_text(f"changed = {time.monotonic()}\n")
        event = next(events)
        names += event["paths"] if event["what"] == "disk" else []
    assert "src/b.py" in names
    served.server.handle_exit(signal.SIGINT, None)
    for _ in events:  # until the stream ends
        pass
    served.thread.join(_PATIENCE)
    assert not served.thread.is_alive()


def test_a_page_is_let_in_after_a_restart(tmp_path: Path) -> None:
    """Key and port are stored for the user alone, so an open page's cookie still works."""
    folder = tmp_path / "somewhere"
    first = Address.of(folder)
    Address(first.key, 40_123).keep(folder)
    assert Address.of(folder) == Address(first.key, 40_123)
    assert Address.of(tmp_path / "elsewhere").key != first.key
    secret = Access("one", first.key, 40_123).secret
    assert Access("another", Address.of(folder).key, 40_123).secret == secret


def test_a_cookie_opens_one_port() -> None:
    """A program on the old port receives the cookie, but it is valid nowhere else."""
    secrets = {access(port=port).secret for port in (40_123, 40_124)}
    assert len(secrets) == 2


def test_a_port_that_is_taken_is_passed_over_or_named() -> None:
    """A taken port is replaced if it was the last one, an error if requested."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = int(other.getsockname()[1])
        with open_listener(None, taken) as listener:
            assert listener.getsockname()[1] != taken
        with pytest.raises(ConfigError, match="choose another one with --port"):
            open_listener(taken, 0)


def test_a_mistake_in_the_configuration_is_one_sentence(tmp_path: Path) -> None:
    """An invalid configuration is an error before serving."""
    config = tmp_path / "manual_slop.toml"
    config.write_text("[files]\npath = 3\n")
    result = CliRunner().invoke(command, ["--no-open", "-c", str(config)])
    assert isinstance(result.exception, ConfigError)
    assert 'did you mean "paths"' in str(result.exception)


def _watched(config: Path) -> Session:
    """Return a session that receives changes on the disk."""
    session = Session(config)
    threading.Thread(target=watch_disk, args=(session, print), daemon=True).start()
    session.compose()
    return session


def _is_told(session: Session, path: str, file: Path) -> bool:
    """Change a file until its path is reported, then end the session; return the success."""
    events: list[str] = []
    session.on_event = lambda event: events.extend(event["paths"])
    end = time.monotonic() + _PATIENCE
    while path not in events and time.monotonic() < end:
        file.write_text(f"changed = {time.monotonic()}\n")
        time.sleep(0.05)
    session.close()
    return path in events


@pytest.mark.parametrize(
    ("entry", "path"),
    [("build/made.py", "build/made.py"), ("../beside.py", "../beside.py"), ("**/*.py", "made.py")],
)
def test_files_are_watched_wherever_they_lie(tmp_path: Path, entry: str, path: str) -> None:
    """Files of the prompt are watched if ignored and named, outside, or tracked (E-7)."""
    files = {".gitignore": "build/\nmade.py\n", "a.py": "alpha = 1\n", path: "one = 1\n"}
    folder = project(tmp_path / "src", files)
    if "*" in entry:
        git(folder, "init", "-q")
        git(folder, "add", "-f", path)
    config = f'[files]\nbase_dir = "src"\npaths = ["a.py", "{entry}"]\n'
    (tmp_path / "manual_slop.toml").write_text(config)
    session = _watched(tmp_path / "manual_slop.toml")
    assert _is_told(session, path, folder / path)
