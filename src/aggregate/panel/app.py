"""The panel's routes: from requests to the session and back."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from aggregate.chat.prompt_meter import PromptMeter
from aggregate.chat.request_log import log_written_prompt
from aggregate.compose.numbered_output import write_numbered
from aggregate.concurrency.threads import run_in_thread
from aggregate.errors import AggregateError, ToolError
from aggregate.panel.access import Access, App, Guarded
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.event_stream import Broadcast, event_text
from aggregate.panel.merging import ConflictError
from aggregate.panel.protocol import (
    AddedImageData,
    EventData,
    Failure,
    RunData,
    SavedData,
    StateData,
)
from aggregate.panel.screenshots import MOST_BYTES, image_data
from aggregate.panel.session import Session
from aggregate.panel.state_data import state_data

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender

STATIC: Final = Path(__file__).with_name("static")
"""The page's own files."""
_MOST_BODY: Final = 4_000_000
"""Bytes of a request: one that names ten thousand files has less."""
_MOST_IMAGE_BODY: Final = MOST_BYTES * 4 // 3 + 10_000
"""Bytes of a request with a screenshot, of which base64 makes four of three."""
_REFUSED, _CONFLICT = 400, 409
_SENT_TYPE: Final = "text/event-stream"

Answer = Callable[[Request], Awaitable[Response]]


class Panel:
    """Answers the page of one session.

    Args:
        session: What the page edits.
        broadcast: Tells pages of events.
    """

    def __init__(self, session: Session, broadcast: Broadcast) -> None:
        self._session = session
        self._broadcast = broadcast

    @cached_property
    def _sender(self) -> "Sender":
        from aggregate.panel.sending import (
            Sender,  # a fifth of the start, and most prompts are not sent
        )

        return Sender(self._session)

    def guarded(self, access: Access) -> App:
        """Return the application, which answers only who may ask."""
        return Guarded(self.routes(), access)

    def routes(self) -> Starlette:
        """Return the application without its guard."""
        routes = [
            Route("/", self._page),
            Route("/favicon.ico", self._icon),
            Mount("/static", _PageFiles(directory=STATIC, check_dir=False)),
            Route("/api/state", _get(self._state)),
            Route("/api/files", _get(self._files)),
            Route("/api/file", _get(self._file)),
            Route("/api/prompt", _get(lambda _: self._session.prompt())),
            Route("/api/prompt/lines", _get(self._lines)),
            Route("/api/prompt/text", self._text),
            Route("/api/prompt/where", _get(self._where)),
            Route("/api/image", self._image),
            Route("/api/events", self._events),
            Route("/api/edit", _post(self._edit), methods=["POST"]),
            Route("/api/undo", _post(self._undo), methods=["POST"]),
            Route("/api/redo", _post(self._redo), methods=["POST"]),
            Route("/api/fit", _post(self._fit), methods=["POST"]),
            Route("/api/save", _post(self._save), methods=["POST"]),
            Route("/api/reload", _post(self._reload), methods=["POST"]),
            Route("/api/run", _post(self._run), methods=["POST"]),
            Route(
                "/api/screenshot",
                _post(self._add_image, most_bytes=_MOST_IMAGE_BODY),
                methods=["POST"],
            ),
            Route("/api/draft/restore", _post(self._restore), methods=["POST"]),
            Route("/api/draft/forget", _post(self._forget), methods=["POST"]),
            Route("/api/preset/save", _post(self._save_preset), methods=["POST"]),
            Route("/api/preset/apply", _post(self._apply_preset), methods=["POST"]),
            Route("/api/send/plan", _post(self._plan), methods=["POST"]),
            Route("/api/send", self._send, methods=["POST"]),
            Route("/api/send/stop", _post(self._stop), methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={Exception: _unforeseen})

    # --- the page

    async def _page(self, _request: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    async def _icon(self, _request: Request) -> Response:
        return Response(status_code=204)

    # --- questions

    def _state(self, _query: Mapping[str, str]) -> StateData:
        return state_data(self._session)

    def _files(self, query: Mapping[str, str]) -> object:
        since = query.get("since")
        return self._session.files(None if since is None else _number(since, "since"))

    def _file(self, query: Mapping[str, str]) -> object:
        return self._session.file(query.get("path", ""), query.get("mode", ""))

    def _lines(self, query: Mapping[str, str]) -> object:
        view = self._session.view
        if view.composed is None:
            raise ToolError(view.error or "there is no prompt yet: wait a moment")
        first, last = (_number(query.get(key, "1"), key) for key in ("first", "last"))
        return view.composed.lines.data(view.revision, first, last)

    def _where(self, query: Mapping[str, str]) -> object:
        composed = self._session.view.composed
        path, line = query.get("path", ""), _number(query.get("line", "1"), "line")
        return {"line": composed.lines.where(path, line) if composed else 0}

    async def _text(self, _request: Request) -> Response:
        composed = self._session.view.composed
        if composed is None:
            return _failure(ToolError("there is no prompt yet: wait a moment"))
        return Response(
            await run_in_threadpool(lambda: b"".join(composed.composition.prompt.pieces())),
            media_type="text/plain; charset=utf-8",
            headers={"cache-control": "no-store"},
        )

    async def _image(self, request: Request) -> Response:
        path = _query(request).get("path", "")
        try:
            data, kind = await run_in_threadpool(self._image_data, path)
        except AggregateError as error:
            return _failure(error, 404)
        return Response(data, media_type=kind, headers={"cache-control": "no-store"})

    def _image_data(self, path: str) -> tuple[bytes, str]:
        session = self._session
        draft = session.draft.current
        return image_data(draft.request(session.project), draft, path)

    async def _events(self, _request: Request) -> Response:
        session = self._session
        hello: EventData = {
            "version": session.version,
            "revision": session.revision,
            "composed": session.view.revision,
            "what": "hello",
            "paths": [],
        }
        return StreamingResponse(
            self._broadcast.listen(hello),
            media_type=_SENT_TYPE,
            headers={"cache-control": "no-store"},
        )

    # --- actions

    def _edit(self, body: Mapping[str, Any]) -> StateData:
        edits = body.get("edits")
        if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
            raise ToolError('the request needs a list of edits as "edits"')
        self._session.edit(edits)
        return state_data(self._session)

    def _undo(self, _body: Mapping[str, Any]) -> StateData:
        self._session.undo()
        return state_data(self._session)

    def _redo(self, _body: Mapping[str, Any]) -> StateData:
        self._session.redo()
        return state_data(self._session)

    def _reload(self, _body: Mapping[str, Any]) -> StateData:
        self._session.reload()
        return state_data(self._session)

    def _fit(self, body: Mapping[str, Any]) -> object:
        budget = body.get("budget")
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int | str)):
            raise ToolError('the request needs a number or a text as "budget"')
        since = body.get("since")
        return self._session.fit(
            budget,
            is_released=bool(body.get("released")),
            since=since if isinstance(since, int) else None,
        )

    def _save(self, _body: Mapping[str, Any]) -> SavedData:
        saved = self._session.save()
        return {
            "state": state_data(self._session),
            "merged": saved.is_merged,
            "sentence": saved.sentence,
        }

    def _run(self, _body: Mapping[str, Any]) -> RunData:
        """Write the prompt of the draft as ``aggregate run`` does, with its account and its record."""
        composed = self._session.compose_now()
        path = _written(composed)
        tokens = composed.tokens.document
        return {
            "path": str(path),
            "tokens": tokens,
            "sentence": f"wrote {path}: {tokens:,} tokens",
        }

    def _add_image(self, body: Mapping[str, Any]) -> AddedImageData:
        encoded, name = body.get("data"), body.get("name") or ""
        if not isinstance(encoded, str) or not isinstance(name, str):
            raise ToolError('the request needs the image in base64 as "data", and a text as "name"')
        path = self._session.add_image(encoded, name)
        return {"state": state_data(self._session), "path": path}

    def _restore(self, _body: Mapping[str, Any]) -> StateData:
        self._session.restore()
        return state_data(self._session)

    def _forget(self, _body: Mapping[str, Any]) -> StateData:
        self._session.forget()
        return state_data(self._session)

    def _save_preset(self, body: Mapping[str, Any]) -> StateData:
        """Store what is composed as a preset, in the configuration on the disk."""
        session = self._session
        name = str(body.get("name") or "").strip()
        scope = str(body.get("scope") or "project")
        session.save_preset(name, description=str(body.get("description") or ""), scope=scope)
        return state_data(session)

    def _apply_preset(self, body: Mapping[str, Any]) -> StateData:
        self._session.edit([{"op": "preset", "name": str(body.get("name") or "")}])
        return state_data(self._session)

    def _plan(self, body: Mapping[str, Any]) -> object:
        texts = {key: str(body.get(key) or "") for key in ("message", "model", "persona")}
        return self._sender.plan(texts["message"], model=texts["model"], persona=texts["persona"])

    def _stop(self, body: Mapping[str, Any]) -> object:
        self._sender.stop(str(body.get("plan") or ""))
        return {}

    async def _send(self, request: Request) -> Response:
        try:
            plan = str((await _body(request)).get("plan") or "")
        except AggregateError as error:
            return _failure(error)
        return StreamingResponse(
            self._sent(plan), media_type=_SENT_TYPE, headers={"cache-control": "no-store"}
        )

    async def _sent(self, plan: str) -> AsyncIterator[bytes]:
        """Yield the answer as it comes; it is received and kept to its end, whether or not the page stays."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[bytes | None] = asyncio.Queue()

        def tell(name: str, data: Mapping[str, object]) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event_text(name, data))

        def work() -> None:
            try:
                sentence = self._sender.send(
                    plan,
                    lambda text: tell("text", {"text": text}),
                    lambda notice: tell("notice", {"sentence": notice}),
                )
                tell("done", {"sentence": sentence})
            except AggregateError as error:
                tell("failed", {"error": _sentence(error)})
            except Exception as error:
                tell("failed", {"error": f"a fault of ours: {error!r}"})
                raise
            finally:
                loop.call_soon_threadsafe(events.put_nowait, None)

        run_in_thread("sending from the panel", work)
        while (event := await events.get()) is not None:
            yield event


def _written(composed: ComposedDraft) -> Path:
    """Write a prompt to the next numbered file, with its account and the record of its hashes."""
    request, prompt = composed.request, composed.composition.prompt
    recorder = None
    if request.is_audited:
        from aggregate.chat.audit_recorder import (
            AuditRecorder,  # prompts for neither have no account
        )

        recorder = AuditRecorder(request)
    meter = PromptMeter()
    segments = recorder.watch(composed.composition) if recorder else prompt.segments
    path = write_numbered(
        request.output_dir, request.namespace, meter.pieces(segments), project=request.written_in
    )
    if recorder:
        recorder.write(path, composed.composition, composed.tokens)
    log_written_prompt(path, meter.fingerprint(composed.tokens.segments), request)
    return path


class _PageFiles(StaticFiles):
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


def _get(answer: Callable[[Mapping[str, str]], object]) -> Answer:
    """Return a route that answers a question, beside the server's loop."""

    async def respond(request: Request) -> Response:
        try:
            return await run_in_threadpool(lambda: _json(answer(_query(request))))
        except AggregateError as error:
            return _failure(error)

    return respond


def _post(act: Callable[[Mapping[str, Any]], object], *, most_bytes: int = _MOST_BODY) -> Answer:
    """Return a route that does something, beside the server's loop."""

    async def respond(request: Request) -> Response:
        try:
            body = await _body(request, most_bytes=most_bytes)
            return await run_in_threadpool(lambda: _json(act(body)))
        except AggregateError as error:
            return _failure(error)

    return respond


def _query(request: Request) -> Mapping[str, str]:
    """Return the parameters of a question; in a file's name that is no Unicode each byte stands for itself."""
    text = request.scope["query_string"].decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True, errors=sys.getfilesystemencodeerrors()))


async def _body(request: Request, *, most_bytes: int = _MOST_BODY) -> Mapping[str, Any]:
    """Return what a request says.

    Raises:
        ToolError: It is too long, or no JSON object.
    """
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > most_bytes:
            raise ToolError("the request is too long")
    try:
        body = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        raise ToolError("the request is no JSON") from None
    if not isinstance(body, dict):
        raise ToolError("the request is no JSON object")
    return body


def _number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ToolError(f"{name} is no number: {text[:40]!r}")
    return int(text)


def _json(data: object, status: int = 200) -> Response:
    # Names of files need not be Unicode; as escapes they pass, and come back as they went.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    headers = {"cache-control": "no-store"}
    return Response(text, status, headers, media_type="application/json")


async def _unforeseen(_request: Request, error: Exception) -> Response:
    """Answer in a sentence; the traceback stands in the terminal."""
    failure: Failure = {"error": f"a fault of ours, which the terminal tells of: {error!r}"}
    return _json(failure, 500)


def _failure(error: AggregateError, status: int = _REFUSED) -> Response:
    failure: Failure = {"error": _sentence(error)}
    if isinstance(error, ConflictError):
        failure["conflict"] = True
        status = _CONFLICT
    return _json(failure, status)


def _sentence(error: AggregateError) -> str:
    """Return an error as one line, with its notes: where to find what came of an answer."""
    return " ".join("; ".join((str(error), *getattr(error, "__notes__", ()))).split())
