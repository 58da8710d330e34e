"""Run the panel until Ctrl-C: serve on this machine, open the browser, watch the disk."""

import json
import os
import secrets
import socket
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from pydantic import TypeAdapter

from aggregate.base.concurrency import run_in_thread
from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import replace_own, state_folder
from aggregate.base.errors import ConfigError, OutputError
from aggregate.panel.access import Access, App
from aggregate.panel.answers import Broadcast
from aggregate.panel.app import Panel
from aggregate.panel.disk_changes import single_files
from aggregate.panel.page_session import Session
from aggregate.project.watching import TreeWatch

_HOST: Final = "127.0.0.1"
_TOKEN_BYTES: Final = 24
_MOST_STATE: Final = 10_000  # bytes of the file with the key
_STORE_SECONDS: Final = 5.0  # to store partial answers at the end
_CHECK_SECONDS: Final = 0.5  # until the watch notices the end of the session


@dataclass(frozen=True, slots=True)
class Address:
    """The panel's port and secret key, reused so that open pages reconnect."""

    key: str  # of its cookies
    port: int = 0  # 0 for any free port

    @classmethod
    def of(cls, folder: Path) -> "Address":
        try:
            text = read_text(_state_file(folder), limit=_MOST_STATE, is_own=True)
            last = TypeAdapter(cls).validate_json(text)
        except (OSError, ValueError):
            return cls(_new_token())
        is_usable = len(last.key) >= _TOKEN_BYTES and 0 < last.port < 1 << 16
        return last if is_usable else cls(_new_token())

    def keep(self, folder: Path) -> None:
        """Store the address for the next start.

        If this fails, pages must be opened again after a restart.
        """
        with suppress(OutputError):
            replace_own(_state_file(folder), json.dumps(asdict(self)))


def _new_token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


def _state_file(folder: Path) -> Path:
    return state_folder(folder) / "panel.json"


def serve_panel(
    config: Path,
    *,
    port: int | None,
    opens: bool,
    say: Callable[[str], None],
    show: Callable[[str], None],
) -> None:
    """Serve a project's panel until interrupted."""
    broadcast = Broadcast()
    session = Session(config, on_event=broadcast.tell)
    panel = Panel(session, broadcast)
    folder = Path(os.path.abspath(config)).parent
    address = Address.of(folder)
    listener = open_listener(port, address.port)
    bound = int(listener.getsockname()[1])
    Address(address.key, bound).keep(folder)
    access = Access(_new_token(), address.key, bound)
    url = f"http://{_HOST}:{bound}/?token={access.token}"
    show(url)
    session.start()
    run_in_thread("watching for the panel", lambda: watch_disk(session, say))
    if opens:
        run_in_thread("opening a browser", lambda: webbrowser.open(url))
    try:
        server(panel.guarded(access), panel.end).run(sockets=[listener])
    except KeyboardInterrupt:
        return  # Ctrl-C is the usual end
    finally:
        panel.end()
        panel.wait(_STORE_SECONDS)
        session.close()
        session.index.flush()
        if session.draft.is_dirty:
            say("the page's unsaved changes are lost")


def open_listener(port: int | None, last: int) -> socket.socket:
    """Listen at ``port``, else at the last port, else at any free one."""
    ports = [port] if port is not None else [last, 0]
    problem = ""
    for number in ports:
        listener = socket.socket()
        if os.name == "posix":  # on Windows this would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, number))
            listener.listen()
        except OSError as error:
            listener.close()
            problem = error.strerror or str(error)
        else:
            return listener
    raise ConfigError(
        f"cannot listen on {_HOST} at port {ports[0]}: {problem}: choose another one with --port"
    )


def watch_disk(session: Session, say: Callable[[str], None]) -> None:
    """Report changes on the disk until the session is closed."""
    try:
        while not session.is_closed:
            _watch_folder(session, session.base_dir, say)
    except Exception as error:  # the page goes on without
        say(f"changes on the disk are not shown any more, internal error: {error!r}")
        raise
    finally:
        session.unwatched()


def _watch_folder(session: Session, root: Path, say: Callable[[str], None]) -> None:
    """Report changes below ``root`` until the session has another folder."""

    def is_wanted() -> bool:
        return not session.is_closed and session.base_dir == root

    try:
        watch = TreeWatch(root)
        watch.watch_files([session.config])
        session.catch_up()
        composed = None
        while is_wanted():
            last, composed = composed, session.view.composed
            if composed is not None and composed is not last:
                watch.watch_files(single_files(composed))
            if changed := watch.wait(_CHECK_SECONDS):
                session.disk_changed(changed)
    except (OSError, ConfigError) as error:
        say(f"changes on the disk are not shown until you reload: {error}")
        session.unwatched()
        while is_wanted():
            time.sleep(_CHECK_SECONDS)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, end: Callable[[], None]) -> None:
        super().__init__(config)
        self._end = end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._end()
        super().handle_exit(sig, frame)


def server(app: App, end: Callable[[], None]) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        ws="none",
        proxy_headers=False,  # clients could fake their address
        timeout_graceful_shutdown=1,
    )
    return _Server(config, end)
