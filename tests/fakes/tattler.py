"""A server that refuses every request and repeats the key in the error: the worst that a provider could do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.http_server import QuietHandler, serving


class Tattler(QuietHandler):
    """Repeats the key."""

    seen: list[dict[str, str]]

    def take(self) -> None:
        self.body()
        keys = ("authorization", "x-api-key", "x-goog-api-key")
        said = " ".join(self.headers[name] for name in keys if name in self.headers)
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        error = {"type": "authentication_error", "message": f"who are you, {said}?"}
        self.answer(401, json.dumps({"error": error}).encode(), content_type="application/json")


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
