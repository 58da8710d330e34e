"""The server over streamable HTTP: on this machine, for who knows the token."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from aggregate.mcp.server import AgentServer
from aggregate.mcp.workspace import Workspace
from aggregate.sending.clients import LOOPBACK, host_in_url

PATH: Final = "/mcp"
_TOKEN_BYTES: Final = 24

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def http_app(server: AgentServer, *, token: str, host: str, port: int) -> App:
    """Return the application; requests without the token, or for another host, are refused.

    A page in a browser could otherwise ask it under a name of its own that leads here.
    """
    names = [host_in_url(name) for name in (*LOOPBACK, host)]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, host=host
    )
    return _WithToken(app, token)


class _WithToken:
    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] == "http" and not self._is_allowed(scope):
            response = PlainTextResponse("the token is missing or wrong\n", status_code=401)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, scope: Message) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return secrets.compare_digest(given, self._expected)


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
