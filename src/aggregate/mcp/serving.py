"""The server on standard input and output, or over streamable HTTP: on this machine, for who knows the token."""

import secrets
from pathlib import Path

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from aggregate.base.addresses import LOOPBACK, host_in_url
from aggregate.mcp.server import AgentServer
from aggregate.mcp.workspace import Workspace


def http_app(server: AgentServer, *, token: str, host: str, port: int) -> ASGIApp:
    """A page in a browser could else ask under a name of its own that leads here: names and a token keep it out."""
    names = [host_in_url(name) for name in (*LOOPBACK, host)]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    app = server.protocol.streamable_http_app(
        streamable_http_path="/mcp", transport_security=security, host=host
    )
    expected = f"Bearer {token}".encode()

    async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, expected):
                response = PlainTextResponse("the token is missing or wrong\n", status_code=401)
                await response(scope, receive, send)
                return
        await app(scope, receive, send)

    return with_token


def serve_on_stdio(config: Path, *, cap: int) -> None:
    anyio.run(AgentServer(Workspace(config, cap=cap)).serve_stdio)


def serve_on_http(config: Path, *, cap: int, token: str, host: str, port: int) -> None:
    app = http_app(AgentServer(Workspace(config, cap=cap)), token=token, host=host, port=port)
    uvicorn.run(app, host=host, port=port, log_level="warning")
