"""Servers of an attacker, or of nobody: what answers where an API should."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.http_server import QuietHandler, serving


@dataclass
class Trap:
    """A server that waits for what was meant for another one.

    Attributes:
        port: Its port on this machine.
        requests: What arrived: method, path and body.
    """

    port: int = 0
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)


@contextmanager
def trap() -> Iterator[Trap]:
    caught = Trap()

    class Catches(QuietHandler):
        def take(self) -> None:
            request = str(self.headers).encode() + self.body()
            caught.requests.append((self.command, self.path, request))
            self.answer(404, b"")

    with serving(Catches) as caught.port:
        yield caught


@contextmanager
def redirecting(status: int, location: str) -> Iterator[str]:
    """Run a server that sends everybody on to ``location``, as one that was taken over does, and yield its address."""
    with answering(status, "", location=location) as url:
        yield url


@contextmanager
def answering(status: int, body: str, **headers: str) -> Iterator[str]:
    """Run a server that answers everything in the same way, and yield its address."""

    class Answers(QuietHandler):
        def take(self) -> None:
            self.body()
            self.answer(status, body.encode(), **headers)

    with serving(Answers) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def black_hole() -> Iterator[str]:
    """Yield an address that accepts no connection and refuses none, as a firewall does that drops packets."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):  # one or two fill the queue; who comes then gets no answer
            waiting.append(one := socket.socket())
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()
