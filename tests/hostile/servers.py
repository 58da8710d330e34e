"""Servers of an attacker, or of nobody: what answers where an API should."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.fakes.http_server import serving


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

    class Catches(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            caught.requests.append((self.command, self.path, str(self.headers).encode() + body))
            self.send_response(404)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

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

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

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
