"""Who asks: what is known of the program at the other end, by standard input or over HTTP."""

import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aggregate.base.disk import is_inside, real_path
from aggregate.mcp.workspace import Connection, Progress
from aggregate.project.configuration import nearest_config

_MOST_CONNECTIONS: Final = 64
"""Over HTTP, of which what they were shown is remembered; the one that was silent longest is told everything again."""


@asynccontextmanager
async def new_connection(_server: Server[Connection]) -> AsyncIterator[Connection]:
    """Know nothing of a new connection."""
    yield Connection()


class Connections:
    """What is known of each connection."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Connection] = OrderedDict()

    def of(self, context: Any) -> Connection:  # noqa: ANN401 - the SDK's
        """Return what is known of who asks; nothing where requests do not belong together."""
        request = context.request
        if request is None:  # no HTTP: one program at the other end, from start to end
            own: Connection = context.lifespan_context
            return own
        key = request.headers.get("mcp-session-id", "")
        if not key:
            return Connection()
        connection = self._sessions.setdefault(key, Connection())
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MOST_CONNECTIONS:
            self._sessions.popitem(last=False)
        return connection


_PROGRESS_SECONDS: Final = 0.1
"""Between two messages about the same work: a host shows a bar, and each message costs as much as a file."""


class _GoneError(Exception):
    """Whoever asked has gone."""


async def run_beside(session: Any, work: Callable[[Progress], str]) -> str:  # noqa: ANN401 - the SDK's
    """Return what ``work`` does in a thread; what was cancelled stops at its next step.

    Args:
        session: The connection, which is told of the progress.
        work: Called with what takes how many steps of how many are done.
    """
    gone = threading.Event()
    told = -math.inf

    def progress(done: int, total: int) -> None:
        nonlocal told
        if gone.is_set():
            raise _GoneError
        now = time.monotonic()
        if 0 < done < total and now < told + _PROGRESS_SECONDS:
            return
        told = now
        anyio.from_thread.run(session.report_progress, done, total)

    try:
        return await anyio.to_thread.run_sync(
            partial(_unless_gone, work, progress), abandon_on_cancel=True
        )
    except BaseException:
        gone.set()
        raise


def _unless_gone(work: Callable[[Progress], str], progress: Progress) -> str:
    try:
        return work(progress)
    except _GoneError:
        return ""


_SECONDS: Final = 5
"""For a host that says it knows the folders: an answer is made in no time, or the host is busy with something else."""


async def config_of_host(session: Any, started_in: Path) -> Path | None:  # noqa: ANN401 - the SDK's
    """Return the configuration of the first folder that a host names, which need not exist.

    ``None`` where the host names no folder, or the server was started in one of them: then that is meant. Newer
    versions of the protocol know no such folders (SEP-2577); their hosts start the server in the project.

    Args:
        session: The connection to the host.
        started_in: The folder that the server was started in.
    """
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    folders: list[Path] = []
    with anyio.move_on_after(_SECONDS):
        try:
            told = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, ValidationError):  # it does not take requests, or answers nonsense
            return None
        folders = [folder for root in told.roots if (folder := _folder(str(root.uri))) is not None]
    here = real_path(started_in)
    if not folders or any(is_inside(here, real_path(folder)) for folder in folders):
        return None
    return folders[0] / nearest_config(folders[0])


def _folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    folder = Path(url2pathname(parts.path))
    return folder if folder.is_absolute() and os.path.isdir(folder) else None  # noqa: PTH112 - raises for no name
