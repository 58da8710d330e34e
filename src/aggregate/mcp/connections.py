"""Who asks: what is known of the program at the other end, by standard input or over HTTP."""

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.lowlevel.server import Server

from aggregate.mcp.workspace import Connection

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
