"""An MCP server for tests, called by the protocol's own client.

The protocol's library is loaded by who asks: it takes longest of all that the tests load.
"""

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from aggregate.mcp import Progress, Workspace
from aggregate.project.index import open_index
from aggregate.prompt.asking import Request
from aggregate.prompt.corpus import FileCorpus

if TYPE_CHECKING:
    from mcp.client.client import Client

    from aggregate.mcp import AgentServer


class Said(NamedTuple):
    """An answer's text, and whether it is an error."""

    text: str
    is_error: bool


class Asking:
    def __init__(self, client: "Client") -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Said:
        result: Any = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert result.structured_content is None
        return Said(content.text, bool(result.is_error))


class Endless(Workspace):
    """A project read without end until the client is gone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "manual_slop.toml", index=open_index(use=False))
        self.begun, self.ended = threading.Event(), threading.Event()

    def read_files(self, request: Request, progress: Progress) -> FileCorpus:
        try:
            while True:
                self.begun.set()
                progress(1, 2)
                time.sleep(0.001)
        finally:
            self.ended.set()


def server_for(project: Workspace) -> "AgentServer":
    """Return a server for a workspace."""
    from aggregate.mcp import AgentServer

    return AgentServer(project)


def server_of(folder: Path, *, cap: int = 8_000) -> "AgentServer":
    """Return a new server for the project in a folder."""
    return server_for(Workspace(folder / "manual_slop.toml", cap=cap, index=open_index(use=False)))


class Ask:
    """A connection for consecutive calls."""

    def __init__(self, agent: Asking, portal: BlockingPortal) -> None:
        self._agent, self._portal = agent, portal

    def __call__(self, tool: str, **arguments: Any) -> Said:
        return self._portal.call(partial(self._agent, tool, **arguments))

    def do(self, request: str, *arguments: Any) -> Any:
        """Make another request, by its name in the protocol's client."""
        return self._portal.call(getattr(self._agent.client, request), *arguments)


@contextmanager
def connected(server: "AgentServer") -> Iterator[Ask]:
    from mcp.client.client import Client

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server.protocol)) as client,
    ):
        yield Ask(Asking(client), portal)


def asking(folder: Path, *, cap: int = 8_000) -> AbstractContextManager[Ask]:
    """Return a connection to a server for the project in a folder."""
    return connected(server_of(folder, cap=cap))


def over(server: "AgentServer", questions: Callable[[Asking], Awaitable[None]]) -> None:
    """Make calls over one connection to a server."""
    from mcp.client.client import Client

    async def connect() -> None:
        async with Client(server.protocol) as client:
            await questions(Asking(client))

    anyio.run(connect)
