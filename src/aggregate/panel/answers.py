"""Routes that take and give JSON: questions by GET, actions by POST, mistakes as one sentence."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import AggregateError, ToolError
from aggregate.panel.merging import ConflictError
from aggregate.panel.protocol import EventData, Failure

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender


_MOST_BODY: Final = 4_000_000
"""Bytes of a request: one that names ten thousand files has less."""
_BODY_SECONDS: Final = 60.0
"""How long a request may take to arrive: one from this machine takes a moment."""
_REFUSED, _CONFLICT = 400, 409


def question_route(path: str, answer: Callable[[Mapping[str, str]], object]) -> Route:
    """Return the route at ``path`` that answers a question, beside the server's loop."""

    async def respond(request: Request) -> Response:
        try:
            return await run_in_threadpool(lambda: json_answer(answer(query_of(request))))
        except AggregateError as error:
            return failure_answer(error)

    return Route(path, respond)


def action_route(
    path: str, act: Callable[[Mapping[str, Any]], object], *, most_bytes: int = _MOST_BODY
) -> Route:
    """Return the route at ``path`` that does something, beside the server's loop."""

    async def respond(request: Request) -> Response:
        try:
            body = await body_of(request, most_bytes=most_bytes)
            return await run_in_threadpool(lambda: json_answer(act(body)))
        except AggregateError as error:
            return failure_answer(error)

    return Route(path, respond, methods=["POST"])


def query_of(request: Request) -> Mapping[str, str]:
    """Return the parameters of a question; in a file's name that is no Unicode each byte stands for itself."""
    text = request.scope["query_string"].decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True, errors=sys.getfilesystemencodeerrors()))


async def body_of(
    request: Request, *, most_bytes: int = _MOST_BODY, seconds: float = _BODY_SECONDS
) -> Mapping[str, Any]:
    """Return what a request says."""
    data = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                data += part
                if len(data) > most_bytes:
                    raise ToolError("the request is too long")
    except TimeoutError:
        raise ToolError(f"the request has not arrived within {seconds:.0f} s") from None
    except ClientDisconnect:
        raise ToolError("the request was given up") from None
    try:
        body = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        raise ToolError("the request is no JSON") from None
    if not isinstance(body, dict):
        raise ToolError("the request is no JSON object")
    return body


def number_in(text: str, name: str) -> int:
    """Return a number of a question."""
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ToolError(f"{name} is no number: {text[:40]!r}")
    return int(text)


def json_answer(data: object, status: int = 200) -> Response:
    """Return an answer that holds some data."""
    # Names of files need not be Unicode; as escapes they pass, and come back as they went.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    headers = {"cache-control": "no-store"}
    return Response(text, status, headers, media_type="application/json")


async def unforeseen(_request: Request, error: Exception) -> Response:
    """Answer in a sentence; the traceback stands in the terminal."""
    failure: Failure = {"error": f"a fault of ours, which the terminal tells of: {error!r}"}
    return json_answer(failure, 500)


def failure_answer(error: AggregateError, status: int = _REFUSED) -> Response:
    """Return the answer that a request was refused."""
    failure: Failure = {"error": sentence_of(error)}
    if isinstance(error, ConflictError):
        failure["conflict"] = True
        status = _CONFLICT
    return json_answer(failure, status)


def sentence_of(error: AggregateError) -> str:
    """Return an error as one line, with its notes: where to find what came of an answer."""
    return " ".join("; ".join((str(error), *getattr(error, "__notes__", ()))).split())


_SILENCE_SECONDS = 15.0
"""After so long a comment is sent, so that both sides notice that the other one has gone."""
_MOST_WAITING = 100
"""Events that a page has not taken; who has missed more asks for everything anyway."""


def event_text(name: str, data: Mapping[str, object]) -> bytes:
    """Return one event as it is sent."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


class Broadcast:
    """Tells every listener of each event; made and listened to on the server's loop, told on any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queues: set[asyncio.Queue[EventData | None]] = set()
        self._is_closed = False

    def tell(self, event: EventData) -> None:
        """Tell of an event, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, event)

    def end(self) -> None:
        """End all streams, from any thread or a signal's handler."""
        self._is_closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, None)

    def _put(self, event: EventData | None) -> None:
        for queue in self._queues:
            if queue.qsize() < _MOST_WAITING or event is None:
                queue.put_nowait(event)

    async def listen(self, hello: EventData) -> AsyncIterator[bytes]:
        """Yield ``hello`` and then each event, until the listener goes or the server ends."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[EventData | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield b"retry: 500\n\n" + event_text("change", hello)
            while not self._is_closed:
                try:
                    event = await asyncio.wait_for(queue.get(), _SILENCE_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                yield event_text("change", event)
        finally:
            self._queues.discard(queue)


async def answer_events(sender: "Sender", plan: str) -> AsyncIterator[bytes]:
    """Yield the answer as it comes; it is received and kept until it ends or is stopped, also without a page.

    Each event's data is JSON: ``text`` ``{"text": …}``, ``notice`` ``{"sentence": …}`` before a wait for the provider,
    ``done`` ``{"sentence": …}``, ``failed`` ``{"error": …}``.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(event: bytes | None) -> None:
        with suppress(RuntimeError):  # the server has ended meanwhile, and its loop is closed
            loop.call_soon_threadsafe(events.put_nowait, event)

    def tell(name: str, data: Mapping[str, object]) -> None:
        put(event_text(name, data))

    def work() -> None:
        try:
            sentence = sender.send(
                plan,
                lambda text: tell("text", {"text": text}),
                lambda notice: tell("notice", {"sentence": notice}),
            )
            tell("done", {"sentence": sentence})
        except AggregateError as error:
            tell("failed", {"error": sentence_of(error)})
        except Exception as error:
            tell("failed", {"error": f"a fault of ours: {error!r}"})
            raise
        finally:
            put(None)

    run_in_thread("sending from the panel", work)
    while (event := await events.get()) is not None:
        yield event


STATIC: Final = Path(__file__).with_name("static")
"""The page's own files."""


class PageFiles(StaticFiles):
    """The page's files, which a browser asks for again each time: the program may be another version now."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:  # noqa: ANN401 - Starlette's
        """Return a file, with its type as browsers want it."""
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file; JavaScript is called by its name whatever the machine's tables say."""
        response = await super().get_response(path, scope)
        if path.endswith((".js", ".mjs")):
            response.headers["content-type"] = "text/javascript; charset=utf-8"
        return response
