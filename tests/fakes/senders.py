"""A server that sends what it is told to and then hangs up."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Queue
from typing import Any

from tests.fakes.http_server import QuietHandler, serving


def event(data: Any, kind: str = "") -> str:
    return (f"event: {kind}\n" if kind else "") + f"data: {json.dumps(data)}\n\n"


def typed(data: dict[str, Any]) -> str:
    return event(data, str(data["type"]))


_USAGE = {"input_tokens": 3, "output_tokens": 1}
_MESSAGE: dict[str, object] = {"id": "m", "type": "message", "role": "assistant", "model": "c"}
_MESSAGE |= {"content": [], "stop_reason": None, "usage": _USAGE}
BEGINNINGS = {
    "anthropic": typed({"type": "message_start", "message": _MESSAGE})
    + typed(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    )
    + typed(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}
    ),
    "openai": event(
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}
    ),
    "gemini": event({"candidates": [{"content": {"parts": [{"text": "Hel"}], "role": "model"}}]}),
}
"""The beginning of an answer in each protocol: the text Hel."""
FAILURES = {
    "anthropic": typed(
        {"type": "error", "error": {"type": "overloaded_error", "message": "fell over"}}
    ),
    "openai": event({"error": {"message": "fell over", "type": "server_error"}}),
    "gemini": event({"error": {"code": 503, "message": "fell over", "status": "UNAVAILABLE"}}),
}
"""An error in the middle of a stream."""
_REFUSED = {"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}
REFUSAL = event({"id": "x", "model": "m", "choices": [_REFUSED]})
"""How OpenAI refuses an answer of a schema."""


@contextmanager
def sending(text: str, kind: str = "text/event-stream", *, missing: int = 0) -> Iterator[str]:
    """Run a server that sends ``text`` as content of a ``kind``, and yield its address.

    Args:
        text: What is sent.
        kind: What the server says that it is.
        missing: How many bytes more it says that there are.
    """

    class Sends(QuietHandler):
        def take(self) -> None:
            self.body()
            self.send_response(200)
            self.send_header("content-type", kind)
            if missing:
                self.send_header("content-length", str(len(text.encode()) + missing))
            self.end_headers()
            self.wfile.write(text.encode())

    with serving(Sends) as port:
        yield f"http://127.0.0.1:{port}"


Piece = str | Callable[[], None] | None


@dataclass
class Dripping:
    """A server that sends pieces of an answer in OpenAI's form as it is told to.

    Attributes:
        url: Its address.
        bodies: What was asked, in order.
        headers: With which headers.
        pieces: What to send next; ``None`` ends the answer, ``""`` breaks the connection, a function is called.
        refusals: Statuses to refuse with before anything is sent, in order.
    """

    url: str = ""
    bodies: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    pieces: Queue[Piece] = field(default_factory=Queue)
    refusals: list[int] = field(default_factory=list)


@contextmanager
def dripping(*pieces: Piece, usage: dict[str, int] | None = None) -> Iterator[Dripping]:
    """Run such a server and yield it; ``pieces`` are sent at once, further ones when they are put there."""
    server = Dripping()
    for piece in pieces:
        server.pieces.put(piece)

    class Drips(QuietHandler):
        def take(self) -> None:
            server.headers.append(dict(self.headers))
            server.bodies.append(self.body().decode())
            if server.refusals:
                refusal = b'{"error": {"message": "not now"}}'
                self.answer(server.refusals.pop(0), refusal, content_type="application/json")
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with suppress(OSError):
                while piece := server.pieces.get(timeout=30):
                    if callable(piece):
                        piece()
                        continue
                    self.wfile.write(_delta({"content": piece}).encode())
                    self.wfile.flush()
                if piece is None:
                    end = {"id": "x", "model": "m", "choices": [], "usage": usage or {}}
                    self.wfile.write((_delta({}, "stop") + event(end)).encode())

    with serving(Drips) as port:
        server.url = f"http://127.0.0.1:{port}"
        yield server
        server.pieces.put("")  # who still waits may go


def _delta(delta: dict[str, str], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return event({"id": "x", "model": "m", "choices": [choice]})
