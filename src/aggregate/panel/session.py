"""One project that a page edits: its draft, its prompt, and what happens on the disk meanwhile."""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aggregate.base.concurrency import run_in_thread
from aggregate.base.disk import real_path
from aggregate.base.errors import AggregateError, ConfigError, ToolError
from aggregate.panel.composing import ComposedDraft, Composer, listed_files
from aggregate.panel.config_draft import ConfigDraft
from aggregate.panel.config_editor import Surroundings
from aggregate.panel.disk import DiskState, is_own, read_listed, whole_files
from aggregate.panel.draft import Draft, Saved
from aggregate.panel.edits import apply_edits
from aggregate.panel.file_data import file_data
from aggregate.panel.file_table import FileTable
from aggregate.panel.kept_draft import KeptDraft
from aggregate.panel.prompt_data import (
    SessionState,
    View,
    last_logged,
    no_prompt,
    prompt_data,
)
from aggregate.panel.protocol import (
    EditData,
    EventData,
    FileData,
    FilesData,
    FitData,
    PromptData,
)
from aggregate.panel.screenshots import add_image, images_of
from aggregate.project.configuration import Project
from aggregate.project.index import Index, user_index
from aggregate.prompt import ResolvedFile, SavedCounts, display_path, redact_file, scope_of
from aggregate.sending import LoggedRequest

if TYPE_CHECKING:
    from aggregate.panel.model_list import PricedModel

_MOST_PATHS: Final = 100
"""Files that an event names; after more the page asks for the table anyway."""
_LISTING_SECONDS: Final = 20.0
"""Who asks for the table while it is made waits so long at most."""
_NOTHING_COMPOSED: Final = 0
"""The revision of a table of names alone, so that who has it asks for all that the first prompt changes."""


OnEvent = Callable[[EventData], None]


class Session:
    """What one page edits. Methods may be called from any thread; nothing is written but by ``save`` and what it names.

    Args:
        config: The configuration's path; it need not exist.
        index: What is known of files; by default the user's.
        on_event: Told of each change, on whatever thread.
        composer: Composes drafts with that index; by default a new one.

    Attributes:
        version: Random, another one for each start.
        revision: Counts each change of the draft and of the disk, and what is shown anew without one.
        kept: The edits that were not saved when the panel ended last.
        models: What prompts are compared with; empty until they are known.
        is_closed: Whether the work in the background has ended, or is about to.
        problem: What goes wrong beside the prompt, ``""`` for nothing.
    """

    def __init__(
        self,
        config: Path,
        *,
        index: Index | None = None,
        on_event: OnEvent | None = None,
        composer: Composer | None = None,
    ) -> None:
        self.config = config
        self.version = secrets.token_hex(8)
        self.revision = 1
        self.on_event = on_event or (lambda _event: None)
        self.index = index or user_index()
        self.count = SavedCounts(self.index)
        self.draft = ConfigDraft(config)
        self.kept = KeptDraft(config)
        self.view = View()
        self.models: tuple[PricedModel, ...] = ()
        self.problem = ""
        self._composer = composer or Composer(self.index)
        self._table = FileTable()
        self._disk = DiskState()
        self._lock = threading.RLock()
        self._wanted = threading.Event()
        self._listed = threading.Event()
        self.is_closed = False
        self._fits = 0
        self._logged: LoggedRequest | None = None

    # --- the draft

    @property
    def project(self) -> Project:
        """The draft as a project."""
        return self.draft.project

    def now(self) -> SessionState:
        """Return all of it as it is at this moment."""
        with self._lock:
            return SessionState(self.revision, copy(self.draft), self.view, self.kept.sentence)

    def edit(self, edits: list[EditData]) -> None:
        """Take edits as one step."""
        with self._lock:
            draft = apply_edits(self.draft.current, edits, self._surroundings())
            if self.draft.take(draft):
                self._is_taken()

    def undo(self) -> None:
        """Go a step back, if there is one."""
        with self._lock:
            if self.draft.undo():
                self._is_taken()

    def redo(self) -> None:
        """Take the step that was undone last, if there is one."""
        with self._lock:
            if self.draft.redo():
                self._is_taken()

    def reload(self) -> None:
        """Drop the draft, and take the configuration as it is on the disk."""
        with self._lock:
            self.draft.reload()
            self._disk.look_anew()
            self._is_taken("config")

    def save(self) -> Saved:
        """Write the draft to the configuration; the errors are those of ``ConfigDraft.save``."""
        with self._lock:
            saved = self.draft.save()
            self._note_own(self.config)
            self._is_taken("config")
        return saved

    def save_preset(self, name: str, *, description: str = "", scope: str = "project") -> None:
        """Store what is composed as a preset; the errors are those of ``ConfigDraft.save_preset``."""
        with self._lock:
            self.draft.save_preset(name, description=description, scope=scope)
            self._note_own(self.config)
            self._is_taken("config")

    def restore(self) -> None:
        """Take the edits that were not saved when the panel ended last."""
        with self._lock:
            if self.kept.last is None:
                raise ToolError("there are no edits from before")
            self.draft.restore(self.kept.last)
            self.kept.taken()
            self._is_taken()

    def forget(self) -> None:
        """Drop the edits that were not saved when the panel ended last."""
        with self._lock:
            self.kept.forget()
        self._tell("draft")

    def keep_draft(self) -> None:
        """Keep what is not saved for the next start."""
        with self._lock:
            self.kept.keep(self.config, self.draft.unsaved)

    def add_image(self, encoded: str, name: str) -> str:
        """Write a new screenshot into the project and show it; return its path as the page shows it."""
        with self._lock:
            request = self.draft.current.request(self.project)
            path = display_path(add_image(request, encoded, name), request.shown_from)
            if path in {image.path for image in images_of(request)}:  # a glob stands for it
                self._is_taken()
            else:
                self.edit([{"op": "screenshot", "path": path, "on": True}])
        return path

    def _note_own(self, path: Path) -> None:
        """Note that a file was written here, which may stand in the prompt."""
        shown = display_path(real_path(path), self.base_dir)
        self._disk.note([shown], self.view.listed, gone=())

    @property
    def base_dir(self) -> Path:
        """Where the draft's files lie, links resolved."""
        return Path(real_path(self.project.folder / self.project.config.files.base_dir))

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            self.config, self._selected_now, self.view.listed, self.text_of, self._without_secrets
        )

    def _without_secrets(self, text: str) -> str:
        return self.draft.current.shown_text(self.project, text)

    def _is_taken(self, what: str = "draft") -> None:
        """Compose the draft, which is another one now."""
        self.revision += 1
        self._wanted.set()
        self._tell(what)

    # --- the prompt

    def compose_now(self) -> ComposedDraft:
        """Return the prompt of the draft as it is now, composed at this moment."""
        self.compose()
        if self.view.error or self.view.composed is None:
            raise ToolError(self.view.error or "there is no prompt yet: try again")
        return self.view.composed

    def fit(
        self, budget: int | str | None, *, is_released: bool, since: int | None = None
    ) -> FitData:
        """Compose the draft for another budget, while a slider moves; where it is released, that is a step.

        Args:
            budget: The budget.
            is_released: Whether the slider was let go.
            since: The revision of the page's table of files; ``None`` for none.
        """
        started = time.perf_counter()
        edits: list[EditData] = [{"op": "task", "budget": budget}]
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
                    self._show_fitted(composed, is_released=is_released)
                elif is_released:  # an edit came meanwhile: the budget is set beside it
                    self.edit(edits)
                files, prompt = self._table.data(since), self.prompt()
        if is_released:
            self._tell("composed")
        milliseconds = round((time.perf_counter() - started) * 1000, 1)
        return {"prompt": prompt, "files": files, "ms": milliseconds}

    def _show_fitted(self, composed: ComposedDraft, *, is_released: bool) -> None:
        if is_released:
            self.draft.take(composed.draft)
        self.revision += 1
        self._show(composed, self.revision, is_refitted=True)

    def prompt(self) -> PromptData:
        """Return the prompt as the page takes it."""
        view = self.view
        if view.composed is None:
            return no_prompt(view.revision, view.error)
        data = prompt_data(view.composed, view.marks, view.revision)
        return {**data, "error": view.error} if view.error else data

    def files(self, since: int | None = None) -> FilesData:
        """Return the table of files; waits for the first one."""
        self._listed.wait(_LISTING_SECONDS)
        with self._lock:
            return self._table.data(since)

    # --- single files

    def file(self, path: str, mode: str) -> FileData:
        """Return one file beside a view of it."""
        revision, edited, view, _ = self.now()
        draft, project = edited.current, edited.project
        file = self._resolved(path, draft)
        source = read_listed(file, scope_of(project))
        file, source, _ = redact_file(file, source, draft.redaction(project))
        composed = view.composed if view.revision == revision else None
        shown = None
        if composed is not None and composed.tokens.files.get(path):
            shown = next((each for each in composed.composition.files if each.path == path), None)
        return file_data(
            file,
            source,
            revision=revision,
            mode=mode,
            shown=shown,
            choice=view.composed.choices.get(path) if view.composed else None,
            is_entered=path in self._selected_now(draft),
            count=self.count,
        )

    def text_of(self, path: str) -> str:
        """Return the text of a file of the project."""
        draft = self.draft.current
        source = read_listed(self._resolved(path, draft), scope_of(self.project))
        if source.error:
            raise ToolError(f"{path[:200]}: {source.error}")
        return source.text

    def _resolved(self, path: str, draft: Draft) -> ResolvedFile:
        """Return the file that the page names; nothing else than the files of the table can be named."""
        file = self._selected_now(draft).get(path) or self.view.listed.get(path)
        if file is None:
            raise ToolError(f"there is no file {path[:200]!r} in this project")
        return file

    def _selected_now(self, draft: Draft) -> Mapping[str, ResolvedFile]:
        composed = self.view.composed
        if composed is not None and composed.draft == draft:
            return composed.selected
        return self._composer.select(draft, draft.project(self.config), disk=self._disk.number)

    # --- work in the background

    def start(self) -> None:
        """Compose the draft, and again whenever it or the disk changes, until ``close``."""
        self._wanted.set()
        run_in_thread("composing for the panel", self._work)

    def close(self) -> None:
        """End the work."""
        self.keep_draft()
        self.is_closed = True
        self._wanted.set()

    def catch_up(self) -> None:
        """Look at the whole disk anew: nobody has told of what was changed before it was watched."""
        if not self._is_saved([], set()):
            self._follow_config()
        with self._lock:
            self._disk.is_watched = True
            self._disk.look_anew()
        self._wanted.set()

    def unwatched(self) -> None:
        """Note that nobody tells of changes on the disk any more."""
        self._disk.is_watched = False

    def disk_changed(self, paths: Iterable[str], *, is_incomplete: bool = False) -> None:
        """Note that files were changed on the disk."""
        changed = whole_files(paths)
        config = {real_path(self.config), os.path.abspath(self.config)}
        if not is_incomplete and (
            is_own(changed, self.view.composed, self.base_dir) or self._is_saved(changed, config)
        ):
            return
        if is_incomplete or not config.isdisjoint(changed):
            self._follow_config()
        base = self.base_dir
        shown = [display_path(path, base) for path in changed]
        with self._lock:
            if is_incomplete:
                self._disk.look_anew()
            else:
                full = dict(zip(shown, changed, strict=True))
                gone = {path for path in shown if not os.path.lexists(full[path])}
                self._disk.note(shown, self.view.listed, gone=gone)
            self.revision += 1
        self._wanted.set()
        self._tell("disk", shown if len(shown) <= _MOST_PATHS and not is_incomplete else [])

    def _is_saved(self, paths: list[str], config: set[str]) -> bool:
        """Tell whether nothing was changed but the configuration, to what is known of it: by saving."""
        if not config.issuperset(paths):
            return False
        with self._lock:
            return self.draft.is_as_read() and not self.draft.problem

    def _follow_config(self) -> None:
        with self._lock:
            try:
                self.draft.follow()
            except ConfigError:  # the draft stays, and the page is told
                return
        self._tell("config")

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            if self.is_closed:
                return
            self._wanted.clear()
            self.keep_draft()
            self.compose()
            self._follow_up()

    def _follow_up(self) -> None:
        """Find out what the page shows beside the prompt; what goes wrong there is a warning."""
        try:
            self.settle()
            self._price_models()
        except Exception as error:  # noqa: BLE001 - without this thread the page would stand still
            problem = f"beside the prompt: {' '.join(str(error).split()) or repr(error)}"
        else:
            problem = ""
        if problem != self.problem:
            self.problem = problem
            self._tell("composed")

    def settle(self) -> None:
        """Rank once more where files had to be analysed for the prompt, so that a slider finds them ranked."""
        with self._composer.lock:
            with self._lock:
                draft, project, disk = self.draft.current, self.project, self._disk.number
            if not (self._composer.is_settled or self._wanted.is_set()):
                self._composer.settle(draft, project, disk=disk)

    def _price_models(self) -> None:
        if not self.models:
            from aggregate.panel.model_list import priced_models  # half a second, behind the page

            self.models = priced_models(self.project)
            self._tell("composed")

    def compose(self) -> None:
        """Compose the newest draft, list files where that is needed, and show both."""
        with self._composer.lock:
            with self._lock:
                if self.view.revision == self.revision:
                    self.revision += 1  # a page that was shown that one asks for what is newer
                draft, project, revision = self.draft.current, self.project, self.revision
                disk, changed, must_list = self._disk.take()
            try:
                self._list(draft, project, must_list=must_list, changed=changed)
                must_list = False
                composed = self._composer.compose(draft, project, disk=disk, changed=changed)
                self._show(composed, revision)
            except AggregateError as error:
                self._fail(" ".join(str(error).split()), revision, must_list=must_list)
            except Exception as error:  # noqa: BLE001 - the page says so; the next draft may be composed
                sentence = f"this cannot be composed, which is a fault of ours: {error!r}"
                self._fail(sentence, revision, must_list=must_list)
        self._listed.set()
        self._tell("composed")

    def _fail(self, error: str, revision: int, *, must_list: bool) -> None:
        with self._lock:
            self._disk.forget_changes(must_list=must_list)
            self.view = replace(self.view, error=error, revision=revision)

    def _list(
        self, draft: Draft, project: Project, *, must_list: bool, changed: Iterable[str] | None
    ) -> None:
        if must_list or not self.view.listed:
            self._table.list(listed_files(draft.request(project)))
            self.view = replace(self.view, listed=self._table.listed)
        elif changed:
            self._table.measure(changed)
        if not self._listed.is_set():
            with self._lock:
                self._table.show_names(_NOTHING_COMPOSED)
            self._listed.set()
            self._tell("disk")

    def _show(self, composed: ComposedDraft, revision: int, *, is_refitted: bool = False) -> None:
        """Let the page see a prompt; one that is only fitted again is of the files of the one before."""
        if not is_refitted:
            self._logged = last_logged(composed.request)
        # The providers take a while to load: the page has the files meanwhile.
        from aggregate.panel.cache_marks import cache_marks, usual_recipient

        marks = cache_marks(composed, self._logged, usual_recipient(composed.project))
        rows = self._table.rows(composed, marks, self.view.composed)
        with self._lock:
            self._table.show(rows, revision)
            self.view = replace(
                self.view, composed=composed, revision=revision, error="", marks=marks
            )

    def _tell(self, what: str, paths: list[str] | None = None) -> None:
        self.on_event(
            {
                "version": self.version,
                "revision": self.revision,
                "composed": self.view.revision,
                "what": what,  # type: ignore[typeddict-item] # one of its words
                "paths": paths or [],
            }
        )
