"""The panel's routes: from requests to the session and back."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from aggregate.base.errors import AggregateError, ToolError
from aggregate.panel.access import Access, App, Guarded
from aggregate.panel.answers import (
    STATIC,
    Broadcast,
    PageFiles,
    action_route,
    answer_events,
    body_of,
    failure_answer,
    number_in,
    query_of,
    question_route,
    unforeseen,
)
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.protocol import (
    AddedImageData,
    EventData,
    RunData,
    SavedData,
    StateData,
)
from aggregate.panel.screenshots import MOST_BYTES, image_data
from aggregate.panel.session import Session
from aggregate.panel.state_data import state_data
from aggregate.prompt import write_numbered
from aggregate.sending import PromptMeter, log_written_prompt

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender


_MOST_IMAGE_BODY: Final = MOST_BYTES * 4 // 3 + 10_000
"""Bytes of a request with a screenshot, of which base64 makes four of three."""
_SENT_TYPE: Final = "text/event-stream"


class Panel:
    """Answers the page of one session."""

    def __init__(self, session: Session, broadcast: Broadcast) -> None:
        self._session = session
        self._broadcast = broadcast
        self._made_sender: Sender | None = None
        self._making_sender = threading.Lock()

    def end(self) -> None:
        """End all streams, also that of an answer that is on its way; from any thread or a signal's handler."""
        self._broadcast.end()
        if self._made_sender is not None:
            self._made_sender.end()

    def wait(self, seconds: float) -> None:
        """Wait until what has come of answers that were ended is kept."""
        if self._made_sender is not None:
            self._made_sender.wait(seconds)

    @property
    def _sender(self) -> "Sender":
        """Made for the first request that is planned, once: of two, one would not know the other's plans."""
        from aggregate.panel.sending import (
            Sender,  # a fifth of the start, and most prompts are not sent
        )

        with self._making_sender:
            if self._made_sender is None:
                self._made_sender = Sender(self._session)
            return self._made_sender

    def guarded(self, access: Access) -> App:
        """Return the application, which answers only who may ask."""
        return Guarded(self.routes(), access)

    def routes(self) -> Starlette:
        """Return the application without its guard."""
        routes = [
            Route("/", self._page),
            Route("/favicon.ico", self._icon),
            Mount("/static", PageFiles(directory=STATIC, check_dir=False)),
            question_route("/api/state", lambda _: state_data(self._session)),
            question_route("/api/files", self._files),
            question_route("/api/file", self._file),
            question_route("/api/prompt", lambda _: self._session.prompt()),
            question_route("/api/prompt/lines", self._lines),
            Route("/api/prompt/text", self._text),
            question_route("/api/prompt/where", self._where),
            Route("/api/image", self._image),
            Route("/api/events", self._events),
            action_route("/api/edit", self._edit),
            action_route("/api/undo", self._state_after(self._session.undo)),
            action_route("/api/redo", self._state_after(self._session.redo)),
            action_route("/api/fit", self._fit),
            action_route("/api/save", self._save),
            action_route("/api/reload", self._state_after(self._session.reload)),
            action_route("/api/run", self._run),
            action_route("/api/screenshot", self._add_image, most_bytes=_MOST_IMAGE_BODY),
            action_route("/api/draft/restore", self._state_after(self._session.restore)),
            action_route("/api/draft/forget", self._state_after(self._session.forget)),
            action_route("/api/preset/save", self._save_preset),
            action_route("/api/preset/apply", self._apply_preset),
            action_route("/api/send/plan", self._plan),
            Route("/api/send", self._send, methods=["POST"]),
            action_route("/api/send/stop", self._stop),
        ]
        return Starlette(routes=routes, exception_handlers={Exception: unforeseen})

    # --- the page

    async def _page(self, _request: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    async def _icon(self, _request: Request) -> Response:
        return Response(status_code=204)

    # --- questions

    def _files(self, query: Mapping[str, str]) -> object:
        since = query.get("since")
        return self._session.files(None if since is None else number_in(since, "since"))

    def _file(self, query: Mapping[str, str]) -> object:
        return self._session.file(query.get("path", ""), query.get("mode", ""))

    def _lines(self, query: Mapping[str, str]) -> object:
        view = self._session.view
        if view.composed is None:
            raise ToolError(view.error or "there is no prompt yet: wait a moment")
        first, last = (number_in(query.get(key, "1"), key) for key in ("first", "last"))
        return view.composed.lines.data(view.revision, first, last)

    def _where(self, query: Mapping[str, str]) -> object:
        composed = self._session.view.composed
        path, line = query.get("path", ""), number_in(query.get("line", "1"), "line")
        return {"line": composed.lines.where(path, line) if composed else 0}

    async def _text(self, _request: Request) -> Response:
        composed = self._session.view.composed
        if composed is None:
            return failure_answer(ToolError("there is no prompt yet: wait a moment"))
        return Response(
            await run_in_threadpool(lambda: b"".join(composed.composition.prompt.pieces())),
            media_type="text/plain; charset=utf-8",
            headers={"cache-control": "no-store"},
        )

    async def _image(self, request: Request) -> Response:
        path = query_of(request).get("path", "")
        try:
            data, kind = await run_in_threadpool(self._image_data, path)
        except AggregateError as error:
            return failure_answer(error, 404)
        return Response(data, media_type=kind, headers={"cache-control": "no-store"})

    def _image_data(self, path: str) -> tuple[bytes, str]:
        edited = self._session.now().edited
        return image_data(edited.current.request(edited.project), edited.current, path)

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

    def _state_after(self, act: Callable[[], None]) -> Callable[[Mapping[str, Any]], StateData]:

        def respond(_body: Mapping[str, Any]) -> StateData:
            act()
            return state_data(self._session)

        return respond

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
        composed = self._session.compose_now()
        path = write_prompt(composed)
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

    def _save_preset(self, body: Mapping[str, Any]) -> StateData:
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
            plan = str((await body_of(request)).get("plan") or "")
        except AggregateError as error:
            return failure_answer(error)
        return StreamingResponse(
            answer_events(self._sender, plan),
            media_type=_SENT_TYPE,
            headers={"cache-control": "no-store"},
        )


def write_prompt(composed: ComposedDraft) -> Path:
    """Write a prompt to the next numbered file, with its account and the record of its hashes; return its path."""
    request, prompt = composed.request, composed.composition.prompt
    recorder = None
    if request.is_audited:
        from aggregate.sending import AuditRecorder  # prompts for neither have no account

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
