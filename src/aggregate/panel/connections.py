"""Which user's program is at the other end of a connection on this machine, where the system tells it (Linux)."""

import asyncio
import os
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from struct import unpack
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

NOBODY: Final = -1  # In place of a user: the other end was closed, and its user is no longer known
# A line for each end of a connection: number, own address, the other's, state, queues, timer, retries, user.
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_STATE, _USER = 3, 7  # Places of the two in a line
# The only state in which the user is always that of a program: ends that were closed count as the administrator's.
_ESTABLISHED: Final = "01"


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
        theirs, ours = (_written(str(host), int(str(port))) for host, port, *_ in (client, server))
        texts = [table.read_text("ascii") for table in tables if table.exists()]
    except (ValueError, OSError):  # no address, or no table that may be read
        return None
    ends: dict[tuple[str, str], list[str]] = {}
    own = set[str]()
    for line in (line.split() for text in texts for line in text.splitlines()[1:]):
        ends.setdefault((line[1], line[2]), line)
        own |= {line[1], line[2]}
    pairs = [*zip(theirs, ours, strict=True)]
    their_end = next((ends[pair] for pair in pairs if pair in ends), None)
    if their_end:
        return int(their_end[_USER]) if their_end[_STATE] == _ESTABLISHED else NOBODY
    our_end = next((ends[own, other] for other, own in pairs if (own, other) in ends), None)
    is_listed = not own.isdisjoint(ours)
    return NOBODY if is_listed and (not our_end or our_end[_STATE] != _ESTABLISHED) else None


def _written(host: str, port: int) -> tuple[str, str]:
    """Return an end as the tables write it: as it is, and as a program writes it that speaks version 6 alone."""
    address = ip_address(host)
    forms = [address.packed] * 2
    if isinstance(address, IPv4Address):
        forms[1] = IPv6Address(f"::ffff:{address}").packed
    short, long = (
        # Word by word, each as a number of this machine.
        "".join(f"{word:08X}" for word in unpack(f"={len(form) // 4}I", form))
        for form in forms
    )
    return f"{short}:{port:04X}", f"{long}:{port:04X}"


# Connections at once; a browser opens six to one address, and a system may allow a program 256 files.
_MOST: Final = 100
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
        # Another user of this machine may have read the token among the running programs: the browser is started with
        # the address, and a cookie goes to whatever listens at any port of this machine.
        if self._is_other_users():
            self.connections.discard(self)
            transport.write(_OTHER_USER)
            transport.close()
        elif len(self.connections) > _MOST:
            idle = (one for one in self.connections if isinstance(one, Connection) and one._is_idle)
            # This one, if all others are being answered.
            longest = min(idle, key=lambda one: one._deadline.when())
            self.connections.discard(longest)
            longest.transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._deadline.cancel()
        self._expect_request()

    def _expect_request(self) -> None:
        """End the connection if no request has arrived whole in time: the base waits for a first byte alone."""

        def end() -> None:
            if self._is_idle:
                self.transport.abort()

        self._deadline = self.loop.call_later(self.timeout_keep_alive, end)

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr] # none at first

    def _is_other_users(self) -> bool:
        if not hasattr(os, "getuid"):
            return False
        if not (self.client and self.server):  # closed before it was taken
            return True
        # The administrator reads everything anyway, and forwards connections from elsewhere.
        return connection_owner(self.client, self.server) not in (None, 0, os.getuid())
