"""A server that sends what it is told to and then hangs up."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def event(data: Any, kind: str = "") -> str:
    """Return one server-sent event."""
    return (f"event: {kind}\n" if kind else "") + f"data: {json.dumps(data)}\n\n"


def typed(data: dict[str, Any]) -> str:
    """Return an event of Anthropic's form."""
    return event(data, str(data["type"]))


_USAGE = {"input_tokens": 3, "output_tokens": 1}
_MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": [],
    "stop_reason": None,
    "usage": _USAGE,
}
BEGINNINGS = {
    "anthropic": typed({"type": "message_start", "message": _MESSAGE})
    + typed({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    + typed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
    "openai": event({"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}),
    "gemini": event({"candidates": [{"content": {"parts": [{"text": "Hel"}], "role": "model"}}]}),
}
"""The beginning of an answer in each protocol: the text Hel."""
FAILURES = {
    "anthropic": typed({"type": "error", "error": {"type": "overloaded_error", "message": "fell over"}}),
    "openai": event({"error": {"message": "fell over", "type": "server_error"}}),
    "gemini": event({"error": {"code": 503, "message": "fell over", "status": "UNAVAILABLE"}}),
}
"""An error in the middle of a stream."""
REFUSAL = event(
    {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]}
)
"""How OpenAI refuses an answer of a schema."""


@contextmanager
def sending(text: str, kind: str = "text/event-stream") -> Iterator[str]:
    """Run a server that sends ``text`` as content of a ``kind``, and yield its address."""

    class Sends(BaseHTTPRequestHandler):
        """Sends it."""

        def do_POST(self) -> None:
            """Send it and hang up."""
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Sends) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
