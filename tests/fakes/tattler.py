"""A server that refuses every request and repeats the key in the error: the worst that a provider could do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.fakes.http_server import serving


class Tattler(BaseHTTPRequestHandler):
    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        keys = ("authorization", "x-api-key", "x-goog-api-key")
        said = " ".join(self.headers[name] for name in keys if name in self.headers)
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        body = json.dumps(
            {"error": {"type": "authentication_error", "message": f"who are you, {said}?"}}
        )
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Server:
    """A running server: its address, and the headers of each request, in lower case."""

    url: str
    headers: list[dict[str, str]] = field(default_factory=list, repr=False)


@contextmanager
def tattling() -> Iterator[Server]:
    seen: list[dict[str, str]] = []
    with serving(type("Here", (Tattler,), {"seen": seen})) as port:
        yield Server(f"http://127.0.0.1:{port}", seen)
