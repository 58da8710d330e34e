"""Connections to the panel: of its user alone, few at once, and none that keeps its request back."""

import asyncio
import os
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from aggregate.panel.connection_owner import connection_owner

_MOST: Final = 100
"""Connections at once; a browser opens six to one address, and a system may allow a program 256 files."""
_SENTENCE: Final = b"another user of this machine has asked: start aggregate panel as the user whose browser opens it\n"
_OTHER_USER: Final = (
    b"HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
    % (len(_SENTENCE), _SENTENCE)
)


class Connection(H11Protocol):
    """A connection that is refused or ended before it can take much: made by the server for each that it accepts."""

    _deadline: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse another user's program; with one connection too many let the longest idle go."""
        super().connection_made(transport)
        self._expect_request()
        if self._is_other_users():
            self.connections.discard(self)
            transport.write(_OTHER_USER)
            transport.close()
        elif len(self.connections) > _MOST:
            idle = (one for one in self.connections if isinstance(one, Connection) and one._is_idle)
            longest = min(
                idle, key=lambda one: one._deadline.when()
            )  # this one, if all others are answered
            self.connections.discard(longest)
            longest.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._deadline.cancel()
        self._expect_request()

    def _expect_request(self) -> None:
        """End the connection if no request has arrived whole in time: the base waits for a first byte alone."""
        self._deadline = self.loop.call_later(self.timeout_keep_alive, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._is_idle:
            self.transport.abort()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr] # none at first

    def _is_other_users(self) -> bool:
        """Tell whether another user of this machine asks, who may have read the token among the running programs.

        The browser is started with the address, and a cookie goes to whatever listens at any port of this machine.
        """
        if not hasattr(os, "getuid"):
            return False
        if not (self.client and self.server):  # closed before it was taken
            return True
        # The administrator reads everything anyway, and forwards connections from elsewhere.
        return connection_owner(self.client, self.server) not in (None, 0, os.getuid())
