"""A server of the three protocols: it refuses what their providers refuse, and keeps what it was asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.http_server import QuietHandler, serving
from tests.fakes.wire_rules import refusal_of

ANSWER = "It goes on."
_ANTHROPIC = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-5",
    "content": [{"type": "text", "text": ANSWER}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 5,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 1_100,
        "output_tokens": 3,
    },
}
_OPENAI = {
    "id": "c",
    "object": "chat.completion",
    "created": 0,
    "model": "gpt-5.6",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": ANSWER},
            "logprobs": None,
        }
    ],
    "usage": {
        "prompt_tokens": 1_112,
        "completion_tokens": 3,
        "total_tokens": 1_115,
        "prompt_tokens_details": {"cached_tokens": 1_100, "cache_write_tokens": 7},
    },
}
_GEMINI = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP"}
    ],
    "modelVersion": "gemini-3.5-flash",
    "usageMetadata": {
        "promptTokenCount": 1_112,
        "cachedContentTokenCount": 1_100,
        "candidatesTokenCount": 3,
    },
}


@dataclass
class ChatServer:
    """A running server.

    Attributes:
        url: Where it is.
        requests: The path and the JSON of each request, in order.
        headers: Those of each request.
    """

    url: str = ""
    requests: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        return [body for _, body in self.requests]


def reply_to(path: str) -> dict[str, Any]:
    if path.endswith("/messages") or "rawPredict" in path or "/invoke" in path:
        return _ANTHROPIC
    return _OPENAI if "/chat/completions" in path else _GEMINI


@contextmanager
def chat_server(
    answer: str = ANSWER, *, reply: Callable[[str, Any], dict[str, Any]] | None = None
) -> Iterator[ChatServer]:
    """Serve; ``reply`` gives the JSON for the path and the JSON of a request, with ``http_status`` for an error."""
    server = ChatServer()

    class Handler(QuietHandler):
        def take(self) -> None:
            asked = json.loads(self.body() or b"{}")
            server.requests.append((self.path, asked))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            path = self.path.split("?")[0]
            if refusal := refusal_of(path, asked):
                self.answer(400, json.dumps(refusal).encode(), content_type="application/json")
                return
            said = dict(reply(path, asked) if reply else reply_to(path))
            status = said.pop("http_status", 200)
            data = json.dumps(said).replace(json.dumps(ANSWER), json.dumps(answer)).encode()
            self.answer(status, data, content_type="application/json")

    with serving(Handler) as port:
        server.url = f"http://127.0.0.1:{port}"
        yield server
