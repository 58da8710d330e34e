"""HTTP responses to the page: JSON, errors in one sentence, and event streams."""

import asyncio
import json
import mimetypes
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import AggregateError, ToolError, with_notes
from aggregate.panel.draft import ConflictError
from aggregate.panel.file_data import NoImageError

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender

MOST_BODY: Final = 4_000_000  # bytes of a request; one with ten thousand files has fewer
_SILENCE_SECONDS: Final = 15.0  # until a comment is sent, which reveals a lost connection
_MOST_WAITING: Final = 100  # pending events of a page; after more it reloads everything anyway
NO_STORE: Final = {"cache-control": "no-store"}
STATIC: Final = Path(__file__).with_name("static")  # the page's own files
for _suffix in (".js", ".mjs"):  # independent of the system's tables
    mimetypes.add_type("text/javascript", _suffix)


def question(path: str, answer: Callable[[Mapping[str, str]], object]) -> Route:
    """Return a GET route; ``answer`` gets the URL's query, in a thread."""

    async def respond(request: Request) -> Response:
        return await run_in_threadpool(lambda: _as_response(answer(query_of(request))))

    return Route(path, respond)


def action(
    path: str, act: Callable[[Mapping[str, Any]], object], *, most_bytes: int = MOST_BODY
) -> Route:
    """Return a POST route; ``act`` gets the request's JSON, in a thread."""

    async def respond(request: Request) -> Response:
        body = await body_of(request, most_bytes=most_bytes)
        return await run_in_threadpool(lambda: _as_response(act(body)))

    return Route(path, respond, methods=["POST"])


def _as_response(answer: object) -> Response:
    return answer if isinstance(answer, Response) else json_answer(answer)


def query_of(request: Request) -> Mapping[str, str]:
    """Return the parameters of a URL's query; bytes outside UTF-8 become surrogates."""
    text = request.scope["query_string"].decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True, errors=sys.getfilesystemencodeerrors()))


async def body_of(request: Request, *, most_bytes: int = MOST_BODY) -> Mapping[str, Any]:
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > most_bytes:
                raise ToolError("the request is too long")
    except ClientDisconnect:
        raise ToolError("the client disconnected during the request") from None
    try:
        body = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        raise ToolError("the request is not JSON") from None
    if not isinstance(body, dict):
        raise ToolError("the request is not a JSON object")
    return body


def number_in(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ToolError(f"{name} is not a number: {text[:40]!r}")
    return int(text)


def json_answer(data: object, status: int = 200) -> Response:
    # ASCII only: names of files may have surrogates, which survive as escapes.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Response(text, status, NO_STORE, media_type="application/json")


def stream_answer(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers=NO_STORE)


async def _failed(_request: Request, error: Exception) -> Response:
    """Answer an error in one sentence; ``conflict`` marks a file changed meanwhile."""
    if isinstance(error, ConflictError):
        return json_answer({"error": _sentence_of(error), "conflict": True}, 409)
    return json_answer(
        {"error": _sentence_of(error)}, 404 if isinstance(error, NoImageError) else 400
    )


async def _unforeseen(_request: Request, error: Exception) -> Response:
    """Answer an unexpected error in one sentence; print its traceback in the terminal."""
    return json_answer({"error": f"internal error, see the terminal: {error!r}"}, 500)


ERROR_HANDLERS: Final = {AggregateError: _failed, Exception: _unforeseen}


def _sentence_of(error: Exception) -> str:
    return " ".join(with_notes(error).split())


def _event_text(name: str, data: Mapping[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


class Broadcast:
    """Sends events to all open pages, from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queues: set[asyncio.Queue[Mapping[str, Any] | None]] = set()
        self._is_closed = False

    def tell(self, event: Mapping[str, Any] | None) -> None:
        """Send an event to all pages; None ends their streams."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, event)

    def end(self) -> None:
        self._is_closed = True
        self.tell(None)

    def _put(self, event: Mapping[str, Any] | None) -> None:
        for queue in self._queues:
            if queue.qsize() < _MOST_WAITING or event is None:
                queue.put_nowait(event)

    async def listen(self, hello: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield ``hello`` and then each event until the stream ends."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield b"retry: 500\n\n" + _event_text("change", hello)
            while not self._is_closed:
                try:
                    event = await asyncio.wait_for(queue.get(), _SILENCE_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                yield _event_text("change", event)
        finally:
            self._queues.discard(queue)


async def answer_events(sender: "Sender", plan: str) -> AsyncIterator[bytes]:
    """Stream a model's answer as events.

    The answer is received and stored even if the page disconnects. Each event's data is JSON: ``text`` ``{"text": …}``,
    ``notice`` ``{"sentence": …}`` before a wait for the provider, ``done`` ``{"sentence": …}``, ``failed`` ``{"error":
    …}``.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(event: bytes | None) -> None:
        with suppress(RuntimeError):  # the server has ended and closed its loop
            loop.call_soon_threadsafe(events.put_nowait, event)

    def work() -> None:
        try:
            sentence = sender.send(
                plan,
                lambda text: put(_event_text("text", {"text": text})),
                lambda notice: put(_event_text("notice", {"sentence": notice})),
            )
            put(_event_text("done", {"sentence": sentence}))
        except AggregateError as error:
            put(_event_text("failed", {"error": _sentence_of(error)}))
        except Exception as error:
            put(_event_text("failed", {"error": f"internal error: {error!r}"}))
            raise
        finally:
            put(None)

    run_in_thread("sending from the panel", work)
    while (event := await events.get()) is not None:
        yield event


class PageFiles(StaticFiles):
    """The page's static files, which browsers revalidate on each use."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:  # noqa: ANN401 - Starlette's
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response
