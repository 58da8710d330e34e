"""The state of an open page: its draft, its prompt, and changes on the disk."""

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.concurrency import run_in_thread
from aggregate.base.disk.reading import real_path
from aggregate.base.errors import AggregateError, ConfigError, ToolError
from aggregate.base.redaction import redact
from aggregate.panel.composer import ComposedDraft, Composer
from aggregate.panel.disk_changes import HALF_WRITTEN, DiskState, is_own, read_listed
from aggregate.panel.draft import ConfigDraft, Draft
from aggregate.panel.edits import Edit, Surroundings, apply_edits
from aggregate.panel.file_data import add_image, file_data, images_of
from aggregate.panel.prompt_data import CacheMarks, FileRows, cache_marks, prompt_data
from aggregate.project.configuration import Project
from aggregate.project.files import display_path
from aggregate.project.index import Index, user_index
from aggregate.prompt import File, SavedCounts
from aggregate.prompt.asking import scope_of
from aggregate.prompt.files import FileReader
from aggregate.sending import LoggedRequest, recent_requests

_MOST_PATHS: Final = 100  # of an event; for more the page reloads the table anyway
_LISTING_SECONDS: Final = 20.0  # longest wait for the first table
# Revision of the table of names before the first prompt, which changes all rows.
_NOTHING_COMPOSED: Final = 0

# ``version``, ``revision``, ``composed``, kind of change (``what``) and changed ``paths``.
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    composed: ComposedDraft | None = None  # the last valid prompt
    revision: int = 0
    error: str = ""  # of the newest draft
    marks: CacheMarks = field(default_factory=CacheMarks)
    listed: Mapping[str, File] = field(default_factory=dict)


class SessionState(NamedTuple):
    revision: int
    edited: ConfigDraft
    view: View


class Session:
    """The state of a page.

    It is thread-safe. Only the methods for saving write files.

    Args:
        config: The configuration's path; the file may be missing.
        index: The index of files, by default the user's.
        on_event: Called for each change, on any thread.

    Attributes:
        version: A random text, different for each start.
        revision: Counts changes of the draft and the disk, and recompositions.
        models: The result of ``priced_models``, empty until it is loaded.
        is_closed: Whether the background work has ended or should end.
        problem: A message about models, ``""`` for none.
    """

    def __init__(
        self,
        config: Path,
        *,
        index: Index | None = None,
        on_event: Callable[[Event], None] = lambda _event: None,
    ) -> None:
        self.config = config
        self.version = secrets.token_hex(8)
        self.revision = 1
        self.on_event = on_event
        self.index = index or user_index()
        self.draft = ConfigDraft(config)
        self.view = View()
        self.models: list[dict[str, Any]] = []
        self.problem = ""
        self.is_closed = False
        self._count = SavedCounts(self.index)
        self._composer = Composer(self.index)
        self._table = FileRows()
        self._disk = DiskState()
        self._lock = threading.RLock()
        self._wanted = threading.Event()
        self._listed = threading.Event()
        self._fits = 0
        self._logged: LoggedRequest | None = None

    # --- the draft

    @property
    def project(self) -> Project:
        return self.draft.project

    @property
    def base_dir(self) -> Path:
        return Path(real_path(self.project.folder / self.project.config.files.base_dir))

    def now(self) -> SessionState:
        with self._lock:
            return SessionState(self.revision, copy(self.draft), self.view)

    def edit(self, edits: list[Edit], *, step: str = "") -> None:
        """Change the draft; edits with the same ``step``, such as typing, are undone together."""
        with self._lock:
            draft = apply_edits(self.draft.current, edits, self._surroundings())
            if self.draft.take(draft, step=step):
                self._draft_changed()

    def step(self, to: Callable[[ConfigDraft], bool]) -> None:
        """Take a step of the draft, such as ``ConfigDraft.undo``."""
        with self._lock:
            if to(self.draft):
                self._draft_changed()

    def reload(self) -> None:
        with self._lock:
            self.draft.reload()
            self._disk.check_all()
            self._draft_changed("config")

    def save(self) -> str:
        with self._lock:
            sentence = self.draft.save()
            self._config_written()
        return sentence

    def save_preset(self, name: str, *, description: str = "", scope: str = "project") -> None:
        with self._lock:
            self.draft.save_preset(name, description=description, scope=scope)
            self._config_written()

    def add_image(self, encoded: str, name: str) -> str:
        """Write a screenshot and include it in the prompt; return its path."""
        with self._lock:
            request = self.draft.current.request(self.project)
            path = display_path(add_image(request, encoded, name), request.shown_from)
            if path in {image.path for image in images_of(request)}:  # matched by a glob
                self._draft_changed()
            else:
                self.edit([{"op": "screenshot", "path": path, "on": True}])
        return path

    def _surroundings(self) -> Surroundings:
        return Surroundings(self.config, self._selected_now, self.view.listed, self._text_of)

    def _config_written(self) -> None:
        """Compose again after saving: the prompt may contain the configuration."""
        path = display_path(real_path(self.config), self.base_dir)
        self._disk.note([path], self.view.listed, self.base_dir)
        self._draft_changed("config")

    def _draft_changed(self, kind: str = "draft") -> None:
        self.revision += 1
        self._wanted.set()
        self._send_event(kind)

    # --- the prompt

    def compose_now(self, *, only_if_due: bool = False) -> ComposedDraft:
        if not only_if_due:
            with self._lock:
                self._disk.check_all()  # a change since the watch's last look is not noted yet
        if not only_if_due or self.view.revision < self.revision:
            self.compose()
        if self.view.error or self.view.composed is None:
            raise ToolError(self.view.error or "the prompt is not ready: try again")
        return self.view.composed

    def fit(
        self, budget: int | str | None, *, is_released: bool, since: int | None = None
    ) -> dict[str, Any]:
        """Compose for another budget while a slider moves; the draft keeps it if ``is_released``."""
        edits: list[Edit] = [{"op": "task", "budget": budget}]
        with self._lock:
            self._fits += 1
            number = self._fits
            base = self.draft.current
            draft = apply_edits(base, edits, self._surroundings())
            project = draft.project(self.config)
        with self._composer.lock:
            if number != self._fits:
                raise ToolError("a newer budget is being fitted")
            composed = self._composer.compose(draft, project, disk=self._disk.number)
            with self._lock:
                if self.draft.current == base:
                    if is_released:
                        self.draft.take(draft)
                    self.revision += 1
                    self._show(composed, self.revision)
                elif is_released:  # after a concurrent edit: set the budget only
                    self.edit(edits)
                fitted = {"prompt": self.prompt(), "files": self._table.data(since)}
        if is_released:
            self._send_event("composed")
        return fitted

    def prompt(self) -> dict[str, Any]:
        view = self.view
        return prompt_data(view.composed, view.marks, view.revision, view.error)

    def files(self, since: int | None = None) -> dict[str, Any]:
        self._listed.wait(_LISTING_SECONDS)
        with self._lock:
            return self._table.data(since)

    # --- single files

    def file(self, path: str, mode: str) -> dict[str, Any]:
        revision, edited, view = self.now()
        draft, project, composed = edited.current, edited.project, view.composed
        file = self._resolved(path, draft)
        source = read_listed(file, scope_of(project))
        redaction = draft.redaction(project)
        file = FileReader(redaction).take(file, source, redact(source.text, redaction))
        rendered = None
        if composed is not None and view.revision == revision and composed.tokens.files.get(path):
            files = composed.composition.files
            rendered = next((file for file in files if file.path == path), None)
        data = file_data(
            file,
            mode=mode,
            shown=rendered,
            choice=composed.choices.get(path) if composed else None,
            count=self._count,
        )
        entry = file.item.path if path in self._selected_now(draft) else ""
        return {**data, "revision": revision, "entry": entry}

    def _text_of(self, path: str) -> str:
        source = read_listed(self._resolved(path, self.draft.current), scope_of(self.project))
        if source.error:
            raise ToolError(f"{path[:200]}: {source.error}")
        return source.text

    def _resolved(self, path: str, draft: Draft) -> File:
        """Return a file of the table or the draft; raise ``ToolError`` for others."""
        file = self._selected_now(draft).get(path) or self.view.listed.get(path)
        if file is None:
            raise ToolError(f"no such file in this project: {path[:200]!r}")
        return file

    def _selected_now(self, draft: Draft) -> Mapping[str, File]:
        composed = self.view.composed
        if composed is not None and composed.draft == draft:
            return composed.selected
        return self._composer.select(
            draft.request(draft.project(self.config)), disk=self._disk.number
        )

    # --- work in the background

    def start(self) -> None:
        self._wanted.set()
        run_in_thread("composing for the panel", self._work)

    def close(self) -> None:
        self.is_closed = True
        self._wanted.set()

    def catch_up(self) -> None:
        """Check all files of the project, since changes until now were not watched."""
        with self._lock:
            is_saved = self.draft.is_as_read()
        if not is_saved:
            self._follow_config()
        with self._lock:
            self._disk.is_watched = True
            self._disk.check_all()
        self._wanted.set()

    def unwatched(self) -> None:
        self._disk.is_watched = False

    def disk_changed(self, paths: Iterable[str]) -> None:
        changed = [path for path in paths if not HALF_WRITTEN.search(path)]
        config = {real_path(self.config), os.path.abspath(self.config)}
        base = self.base_dir
        with self._lock:
            is_saved = config.issuperset(changed) and self.draft.is_as_read()
        if is_saved or is_own(changed, self.view.composed, base):
            return
        if not config.isdisjoint(changed):
            self._follow_config()
        display_paths = [display_path(path, base) for path in changed]
        with self._lock:
            self._disk.note(display_paths, self.view.listed, base)
            self.revision += 1
        self._wanted.set()
        self._send_event("disk", display_paths if len(display_paths) <= _MOST_PATHS else [])

    def _follow_config(self) -> None:
        with self._lock:
            try:
                self.draft.follow()
            except ConfigError:  # the draft stays, and the page shows the problem
                return
        self._send_event("config")

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            if self.is_closed:
                return
            self._wanted.clear()
            self.compose()
            self._price_models()

    def _price_models(self) -> None:
        """Load the list of models with prices; a failure only sets ``problem``."""
        if self.models:
            return
        problem = ""
        try:
            from aggregate.sending.clients import priced_models  # takes half a second

            self.models = [model._asdict() for model in priced_models(self.project)]
        except Exception as error:  # noqa: BLE001 - this thread must not end
            problem = f"the models cannot be listed: {' '.join(str(error).split()) or repr(error)}"
        if self.models or problem != self.problem:
            self.problem = problem
            self._send_event("composed")

    def compose(self) -> None:
        """Compose the newest draft and update the table of files."""
        with self._composer.lock:
            with self._lock:
                if self.view.revision == self.revision:
                    self.revision += 1  # so that pages load the new result
                draft, project, revision = self.draft.current, self.project, self.revision
                changed, must_list = self._disk.take()
                disk = self._disk.number
            error = ""
            try:
                self._list(draft, project, must_list=must_list, changed=changed)
                must_list = False
                composed = self._composer.compose(draft, project, disk=disk)
                self._logged = next(
                    recent_requests(composed.request.output_dir, composed.request.namespace), None
                )
                self._show(composed, revision)
            except AggregateError as mistake:
                error = " ".join(str(mistake).split())
            except Exception as fault:  # noqa: BLE001 - shown on the page; the next draft may work
                error = f"composing failed, internal error: {fault!r}"
            if error:
                with self._lock:
                    self._disk.check_all(must_list=must_list)
                    self.view = replace(self.view, error=error, revision=revision)
        self._listed.set()
        self._send_event("composed")

    def _list(
        self, draft: Draft, project: Project, *, must_list: bool, changed: Iterable[str] | None
    ) -> None:
        if must_list or not self.view.listed:
            self._table.list(self._composer.listed(draft.request(project)))
            self.view = replace(self.view, listed=self._table.listed)
        elif changed:
            self._table.measure(changed)
        if not self._listed.is_set():
            with self._lock:
                self._table.show_names(_NOTHING_COMPOSED)
            self._listed.set()
            self._send_event("disk")

    def _show(self, composed: ComposedDraft, revision: int) -> None:
        """Make a prompt the current one, and compare it with the last one sent or written."""
        marks = cache_marks(composed, self._logged)
        rows = self._table.rows(composed, marks)
        with self._lock:
            self._table.show(rows, revision)
            self.view = replace(
                self.view, composed=composed, revision=revision, error="", marks=marks
            )

    def event(self, what: str, paths: Iterable[str] = ()) -> Event:
        return {
            "version": self.version,
            "revision": self.revision,
            "composed": self.view.revision,
            "what": what,
            "paths": [*paths],
        }

    def _send_event(self, what: str, paths: Iterable[str] = ()) -> None:
        self.on_event(self.event(what, paths))
