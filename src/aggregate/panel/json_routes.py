"""Routes that take and give JSON: questions by GET, actions by POST, mistakes as one sentence."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from aggregate.base.errors import AggregateError, ToolError
from aggregate.panel.merging import ConflictError
from aggregate.panel.protocol import Failure

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
