"""The panel's routes, and the state loaded by the page.

Lines are 1-based and inclusive, ``0`` for none. Paths are those of the prompt: relative to the base directory with
``/``.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route

from aggregate.base.errors import AggregateError, ToolError
from aggregate.panel import answers
from aggregate.panel.access import Access, App, Guarded
from aggregate.panel.composer import ComposedDraft
from aggregate.panel.draft import ConfigDraft, Draft
from aggregate.panel.file_data import MOST_BYTES, image_data, images_of, known_images
from aggregate.panel.page_session import Session
from aggregate.panel.prompt_data import beside_prompt
from aggregate.project.configuration import Project, user_config
from aggregate.project.history import NO_DISCUSSION, named_discussions
from aggregate.project.presets import budget_in_force
from aggregate.project.tables import BEADS_MODE, ViewModeName
from aggregate.prompt import redact_text
from aggregate.prompt.asking import Strategy, discussion_turns, for_reader, shared_personas
from aggregate.prompt.audit import record_audit
from aggregate.prompt.document import Section
from aggregate.prompt.output.numbered_output import write_numbered
from aggregate.sending import log_written_prompt
from aggregate.sending.cache import HashedPrompt

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender

_BEGINNING: Final = 200  # shown characters of a turn
_SEARCHED: Final = 20_000  # characters of a turn searched for secrets; no key is longer


def state_data(session: Session) -> dict[str, Any]:
    now = session.now()
    edited, view = now.edited, now.view
    draft, project = edited.current, edited.project
    config = project.config
    composed = view.composed
    warnings = [session.problem] if session.problem else []
    warnings += for_reader(composed.composition.warnings) if composed else ()
    size = composed.size if composed and not view.error else None
    budget = composed.request.budget if composed else None
    sections = composed.tokens.sections if composed else {}
    return {
        "version": session.version,
        "revision": now.revision,  # of the draft and the disk
        "composed": view.revision,  # of the prompt; lower while composing
        "project": config.project.name or project.folder.resolve().name,
        "root": str(project.folder.resolve()),
        "config": str(session.config),
        "exists": edited.exists,
        "dirty": edited.is_dirty,
        "can_undo": bool(edited.undoable),
        "can_redo": bool(edited.redoable),
        "outside": edited.outside,
        "config_problem": edited.problem,
        "views": list(get_args(ViewModeName)),
        "strategy": Strategy.parse(config.project.aggregation_strategy).value,
        "strategies": [strategy.value for strategy in Strategy],
        "preset": config.project.active_preset,
        "presets": _presets(project, warnings),
        "discussion": _discussion(draft, project, composed, warnings),
        "beads": _beads(project, composed),
        "screenshots": _screenshots(draft, project, warnings),
        "task": {
            "text": config.task.text,
            "focus": list(draft.focus),
            "symbols": list(draft.symbols),
            "since": draft.since,
        },
        "budget": budget_in_force(config),
        "budget_tokens": budget.tokens if budget else None,  # the prompt's budget as a number
        "models": [beside_prompt(model, size) for model in session.models],
        "personas": sorted({**shared_personas(), **config.personas}),
        "prompt": size,
        "prompt_error": view.error,
        "sections": {section.value: count for section, count in sections.items()},
        "warnings": warnings,
        "cut": [  # other parts than files, shortened or omitted for the budget
            f"{part.section}: {part.what}: {part.reason}"
            for part in (composed.composition.cut if composed else ())
        ],
    }


def _presets(project: Project, warnings: list[str]) -> list[dict[str, Any]]:
    local = project.config.context_presets
    try:
        shared = user_config().context_presets
    except AggregateError as error:
        warnings.append(str(error))
        shared = {}
    return [
        {"name": name, "description": preset.description, "files": len(preset.files)}
        for name, preset in {**local, **shared, **local}.items()
    ]


def _discussion(
    draft: Draft, project: Project, composed: ComposedDraft | None, warnings: list[str]
) -> dict[str, Any]:
    try:
        turns = discussion_turns(project, draft.discussion).all
    except AggregateError as error:
        warnings.append(str(error))
        turns = ()
    counts: list[int] = []
    if composed is not None:
        pairs = zip(composed.composition.prompt.segments, composed.tokens.segments, strict=True)
        counts = [count for segment, count in pairs if segment.section is Section.HISTORY]
    tokens = iter(counts[1:])  # without the heading
    redaction = draft.redaction(project) if turns else None
    shows_turns = draft.has_history and draft.discussion != NO_DISCUSSION
    rows: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        is_on = shows_turns and number not in draft.turns_out
        role, text = ("", turn) if isinstance(turn, str) else (turn["role"], turn["content"])
        beginning = str(text)[:_SEARCHED]
        if redaction is not None:
            beginning = redact_text(beginning, "", redaction)[0]
        rows.append(
            {
                "id": number,
                "role": str(role),
                "beginning": beginning[:_BEGINNING],
                "tokens": next(tokens, 0) if is_on else 0,
                "on": is_on,
            }
        )
    names = named_discussions(project.path, project.prompts) if project.path else []
    return {"name": draft.discussion, "names": names, "turns": rows}


def _beads(project: Project, composed: ComposedDraft | None) -> dict[str, Any] | None:
    is_on = project.config.project.execution_mode == BEADS_MODE
    folder = project.folder
    if not is_on and not any((folder / name).is_dir() for name in (".beads", ".beads_mock")):
        return None
    segments = composed.composition.prompt.segments if composed else ()
    text = "".join(segment.text for segment in segments if segment.section is Section.BEADS)
    tokens = composed.tokens.sections.get(Section.BEADS, 0) if composed else 0
    return {"on": is_on, "text": text, "tokens": tokens}


def _screenshots(draft: Draft, project: Project, warnings: list[str]) -> list[dict[str, Any]]:
    try:
        request = draft.request(project)
    except AggregateError as error:
        warnings.append(str(error))
        return []
    active_paths = {image.path for image in images_of(request)}
    encoding = sys.getfilesystemencodeerrors()
    return [
        {
            "path": image.path,
            "url": "" if image.problem else f"/api/image?path={quote(image.path, errors=encoding)}",
            "problem": image.problem,
            "on": image.path in active_paths,
        }
        for image in known_images(request, draft)
    ]


# Bytes of a request with a screenshot in base64, which has four bytes for three.
_MOST_IMAGE_BODY: Final = MOST_BYTES * 4 // 3 + 10_000

Body = Mapping[str, Any]


class Panel:
    def __init__(self, session: Session, broadcast: answers.Broadcast) -> None:
        self._session = session
        self._broadcast = broadcast
        self._made_sender: Sender | None = None
        self._making_sender = threading.Lock()

    def end(self) -> None:
        """End all event streams; may be called from any thread or signal handler."""
        self._broadcast.end()
        if self._made_sender is not None:
            self._made_sender.end()

    def wait(self, seconds: float) -> None:
        """Wait until partial answers of ended requests are stored."""
        if self._made_sender is not None:
            self._made_sender.wait(seconds)

    @property
    def _sender(self) -> "Sender":
        """The only sender, which has all plans; created on first use."""
        from aggregate.panel.sending import Sender  # takes a fifth of the start, rarely needed

        with self._making_sender:
            if self._made_sender is None:
                self._made_sender = Sender(self._session)
            return self._made_sender

    def guarded(self, access: Access) -> App:
        session = self._session
        no_cache = {"cache-control": "no-cache"}
        routes = [
            Route("/", lambda _: FileResponse(answers.STATIC / "index.html", headers=no_cache)),
            Route("/favicon.ico", lambda _: Response(status_code=204)),
            Mount("/static", answers.PageFiles(directory=answers.STATIC, check_dir=False)),
            answers.question("/api/state", lambda _: state_data(session)),
            answers.question("/api/files", self._files),
            answers.question("/api/file", lambda body: session.file(*_texts(body, "path", "mode"))),
            answers.question("/api/prompt", lambda _: session.prompt()),
            answers.question("/api/prompt/lines", self._lines),
            answers.question("/api/prompt/where", self._where),
            answers.question("/api/prompt/text", self._text),
            answers.question("/api/image", self._image),
            Route("/api/events", self._events),
            self._change("edit", self._edit),
            self._change("undo", lambda _: session.step(ConfigDraft.undo)),
            self._change("redo", lambda _: session.step(ConfigDraft.redo)),
            self._change("reload", lambda _: session.reload()),
            self._change("preset/save", self._save_preset),
            self._change(
                "preset/apply",
                lambda body: session.edit([{"op": "preset", "name": str(body.get("name") or "")}]),
            ),
            answers.action("/api/fit", self._fit),
            answers.action("/api/save", self._save),
            answers.action("/api/screenshot", self._add_image, most_bytes=_MOST_IMAGE_BODY),
            answers.action("/api/run", self._run),
            answers.action("/api/send/plan", self._plan),
            answers.action("/api/send/stop", lambda body: self._sender.stop(*_texts(body, "plan"))),
            answers.action("/api/send", self._send),
        ]
        return Guarded(Starlette(routes=routes, exception_handlers=answers.ERROR_HANDLERS), access)

    def _change(self, name: str, act: Callable[[Body], object]) -> Route:
        """Return the POST route of an action; it responds with the new state."""

        def respond(body: Body) -> object:
            act(body)
            return state_data(self._session)

        return answers.action(f"/api/{name}", respond)

    # --- questions

    def _files(self, body: Body) -> object:
        """Return the table of files, or its changes since the revision ``since``."""
        since = body.get("since")
        return self._session.files(None if since is None else answers.number_in(since, "since"))

    def _lines(self, body: Body) -> object:
        view = self._session.view
        if view.composed is None:
            raise ToolError(view.error or "the prompt is not ready: wait a moment")
        first, last = (answers.number_in(body.get(key, "1"), key) for key in ("first", "last"))
        return view.composed.lines.data(view.revision, first, last)

    def _where(self, body: Body) -> object:
        composed = self._session.view.composed
        path, line = body.get("path", ""), answers.number_in(body.get("line", "1"), "line")
        return {"line": composed.lines.where(path, line) if composed else 0}

    def _text(self, _query: Body) -> Response:
        """Return the prompt of the current draft, even if the page shows an older one."""
        composed = self._session.compose_now(only_if_due=True)
        text = b"".join(composed.composition.prompt.pieces())
        return Response(text, headers=answers.NO_STORE, media_type="text/plain; charset=utf-8")

    def _image(self, query: Body) -> Response:
        edited = self._session.now().edited
        draft, project = edited.current, edited.project
        data, kind = image_data(draft.request(project), draft, query.get("path", ""))
        return Response(data, headers=answers.NO_STORE, media_type=kind)

    async def _events(self, _request: Request) -> Response:
        return answers.stream_answer(self._broadcast.listen(self._session.event("hello")))

    # --- actions

    def _edit(self, body: Body) -> None:
        edits = body.get("edits")
        if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
            raise ToolError('the request needs a list of edits as "edits"')
        self._session.edit(edits, step=str(body.get("step") or ""))

    def _save_preset(self, body: Body) -> None:
        name, description, scope = _texts(body, "name", "description", "scope")
        self._session.save_preset(name.strip(), description=description, scope=scope or "project")

    def _fit(self, body: Body) -> object:
        budget, since = body.get("budget"), body.get("since")
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int | str)):
            raise ToolError('the request needs a number or a text as "budget"')
        return self._session.fit(
            budget,
            is_released=bool(body.get("released")),
            since=since if isinstance(since, int) else None,
        )

    def _save(self, _said: Body) -> object:
        sentence = self._session.save()
        return {"state": state_data(self._session), "sentence": sentence}

    def _add_image(self, body: Body) -> object:
        encoded, name = body.get("data"), body.get("name") or ""
        if not isinstance(encoded, str) or not isinstance(name, str):
            raise ToolError('the request needs the image in base64 as "data", and a text as "name"')
        path = self._session.add_image(encoded, name)
        return {"state": state_data(self._session), "path": path}

    def _run(self, _said: Body) -> object:
        composed = self._session.compose_now()
        path = write_prompt(composed)
        return {"path": str(path), "sentence": f"wrote {path}: {composed.tokens.document:,} tokens"}

    def _plan(self, body: Body) -> object:
        message, model, persona = _texts(body, "message", "model", "persona")
        return self._sender.plan(message, model=model, persona=persona)

    def _send(self, body: Body) -> Response:
        return answers.stream_answer(answers.answer_events(self._sender, *_texts(body, "plan")))


def _texts(body: Body, *keys: str) -> list[str]:
    return [str(body.get(key) or "") for key in keys]


def write_prompt(composed: ComposedDraft) -> Path:
    """Write a composed prompt to the next numbered file; return the path."""
    request, prompt = composed.request, composed.composition.prompt
    folder, name = request.output_dir, request.namespace
    path = write_numbered(folder, name, prompt.pieces(), project=request.written_in)
    if request.is_audited:
        record_audit(path, request, composed.composition, prompt)
    log_written_prompt(path, HashedPrompt.of(prompt, composed.tokens.segments), request)
    return path
