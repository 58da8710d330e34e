"""Which user's program is at the other end of a connection on this machine, where the system tells it (Linux)."""

import asyncio
import os
import sys
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

NOBODY: Final = -1
"""In place of a user: the other end was closed, and its user is no longer known."""
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""A line for each end of a connection: number, own address, the other's, state, queues, timer, retries, user."""
_STATE, _USER = 3, 7
"""Places of the two in a line."""
_ESTABLISHED: Final = "01"
"""The only state in which the user is always that of a program: ends that were closed count as the administrator's."""


def connection_owner(
    client: Sequence[object], server: Sequence[object], *, tables: Sequence[Path] = _TABLES
) -> int | None:
    """Return the user id of the program that has opened a connection.

    Args:
        client: Address and port of its end.
        server: Those of ours.
        tables: Where the system lists connections.

    Returns:
        The id, ``NOBODY`` where that end is closed, ``None`` where the system does not tell: elsewhere than on Linux,
        and where no program of this system has opened it.
    """
    try:
        ends = [_written(str(host), int(str(port))) for host, port, *_ in (client, server)]
        lines = [line for table in tables for line in _lines(table)]
    except ValueError:  # no address
        return None
    client_forms, server_forms = ends
    pairs = [*zip(client_forms, server_forms, strict=True)]
    theirs = _line_of(lines, pairs)
    if theirs:
        return int(theirs[_USER]) if theirs[_STATE] == _ESTABLISHED else NOBODY
    ours = _line_of(lines, [(own, other) for other, own in pairs])
    is_listed = any(f" {form} " in line for form in server_forms for line in lines)
    return NOBODY if is_listed and (not ours or ours[_STATE] != _ESTABLISHED) else None


def _lines(table: Path) -> list[str]:
    try:
        return table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []


def _line_of(lines: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[str]:
    wanted = [f" {own} {other} " for own, other in pairs]
    found = next((line for line in lines if any(pair in line for pair in wanted)), "")
    return found.split()


def _written(host: str, port: int) -> tuple[str, str]:
    """Return an end as the tables write it: as it is, and as a program writes it that speaks version 6 alone."""
    address = ip_address(host)
    if isinstance(address, IPv4Address):
        forms = address.packed, IPv6Address(f"::ffff:{address}").packed
    else:
        forms = address.packed, address.packed
    short, long = (_hexadecimal(packed) for packed in forms)
    return f"{short}:{port:04X}", f"{long}:{port:04X}"


def _hexadecimal(packed: bytes) -> str:
    """Return an address word by word, each as a number of this machine."""
    words = (packed[place : place + 4] for place in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


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
