"""The server as a program: on standard input and output, or over HTTP."""

from collections.abc import Callable
from pathlib import Path

import anyio
import uvicorn

from aggregate.mcp.http import http_app
from aggregate.mcp.server import AgentServer
from aggregate.mcp.workspace import Workspace


def serve_on_stdio(
    config: Path, *, cap: int, check: Callable[[Path], object] | None = None
) -> None:
    """Answer on standard input and output until the input ends.

    Args:
        config: The project's configuration, whether there is one or not.
        cap: The most tokens of an answer.
        check: Where the host may name another project: raises for the configuration of one that is not to be served.
    """
    anyio.run(AgentServer(Workspace(config, cap=cap), check=check).serve_stdio)


def serve_on_http(config: Path, *, cap: int, token: str, host: str, port: int) -> None:
    """Answer over HTTP until interrupted.

    Args:
        config: The project's configuration, whether there is one or not.
        cap: The most tokens of an answer.
        token: What each request has to show.
        host: The address to listen on.
        port: Its port.
    """
    app = http_app(AgentServer(Workspace(config, cap=cap)), token=token, host=host, port=port)
    uvicorn.run(app, host=host, port=port, log_level="warning")
