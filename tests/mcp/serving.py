"""A server for tests, asked through the protocol's own client."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp.client.client import Client

from aggregate.mcp.server import AgentServer
from aggregate.mcp.workspace import Workspace
from aggregate.project.index import open_index


class Said(NamedTuple):
    """An answer: its text, and whether it is an error."""

    text: str
    is_error: bool


class Asking:
    """One connection to a server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Said:
        """Call a tool."""
        result: Any = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert result.structured_content is None
        return Said(content.text, bool(result.is_error))


def workspace(folder: Path, *, cap: int = 8_000) -> Workspace:
    """Return the project in a folder, known from nothing that was there before."""
    return Workspace(folder / "manual_slop.toml", cap=cap, index=open_index(use=False))


def asked(
    folder: Path, questions: Callable[[Asking], Awaitable[None]], *, cap: int = 8_000
) -> None:
    """Run questions over one connection to a server for the project in a folder."""
    over(AgentServer(workspace(folder, cap=cap)), questions)


def over(server: AgentServer, questions: Callable[[Asking], Awaitable[None]]) -> None:
    """Run questions over one connection to a server."""

    async def connect() -> None:
        async with Client(server.protocol) as client:
            await questions(Asking(client))

    anyio.run(connect)
