"""The page's unsaved changes of the configuration, held in memory."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import tomlkit

from aggregate.base.disk.writing import confined, replace_text
from aggregate.base.errors import AggregateError, ConfigError
from aggregate.base.redaction import Redaction
from aggregate.base.task_budget import Place, Task
from aggregate.project.configuration import (
    Project,
    changing,
    edited,
    parse_toml,
    read_toml_text,
    validate,
)
from aggregate.project.presets import TABLE, ContextPreset, budget_in_force, set_preset
from aggregate.prompt import parse_place, request_for
from aggregate.prompt.asking import Request, open_project, presets_of, redaction_for, scope_of


@dataclass(frozen=True, slots=True)
class Draft:
    """One version of the draft; ``text`` is the configuration to be saved."""

    text: str
    focus: tuple[str, ...] = ()  # PATH[:LINE[-LINE]]
    symbols: tuple[str, ...] = ()
    since: str = ""
    discussion: str = ""  # the default one
    has_history: bool = True
    turns_out: frozenset[int] = frozenset()  # omitted turns, 0-based
    images: tuple[str, ...] = ()  # switched-off screenshots

    def project(self, path: Path) -> Project:
        config = validate(parse_toml(self.text, path), path=path, text=self.text)
        return open_project(Project(config, path.parent, path))

    def request(self, project: Project) -> Request:
        """Return the request of ``aggregate run`` for this draft."""
        task = None
        if self.symbols or self.since:
            task = Task(project.config.task.text, symbols=self.symbols, since=self.since)
        request = request_for(
            project,
            focus_files=self.places(project),
            with_history=self.has_history,
            discussion=self.discussion,
            task=task,
        )
        if not self.turns_out:
            return request
        turns = enumerate(request.history)
        history = tuple(turn for number, turn in turns if number not in self.turns_out)
        return replace(request, history=history)

    def places(self, project: Project) -> tuple[Place, ...]:
        base_dir = project.folder / project.config.files.base_dir
        return tuple(parse_place(text, base_dir) for text in self.focus)

    def redaction(self, project: Project) -> Redaction:
        return redaction_for(project, is_asked=self.asks(project))

    def asks(self, project: Project) -> bool:
        """Return whether the draft has a task or a budget.

        Without entries, all files are then candidates (T-6).
        """
        has_budget = budget_in_force(project.config) is not None
        return bool(project.config.task.text.strip() or has_budget or self.symbols or self.since)


_MOST_STEPS: Final = 200  # of undo, with a few megabytes of configurations at most


class ConflictError(AggregateError):
    """The configuration file was changed after the draft was loaded."""


class ConfigDraft:
    """The draft of a configuration file, with undo; not thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outside = False
        self.problem = ""
        self._base = self._read()
        self.current = Draft(self._base or "")
        # Tuples, so that copies of this object do not change.
        self.undoable: tuple[Draft, ...] = ()
        self.redoable: tuple[Draft, ...] = ()
        self._step = ""
        self.project: Project = self.current.project(path)

    @property
    def exists(self) -> bool:
        return self._base is not None

    @property
    def is_dirty(self) -> bool:
        return self.current.text != (self._base or "")

    def take(self, draft: Draft, *, step: str = "") -> bool:
        """Accept a new draft; consecutive ones with the same ``step`` are undone together."""
        if draft == self.current:
            return False
        undoable = self.undoable
        if not step or step != self._step:
            undoable = (*undoable, self.current)[-_MOST_STEPS:]
        self._go(draft, undoable, ())
        self._step = step
        return True

    def undo(self) -> bool:
        if not self.undoable:
            return False
        *undoable, draft = self.undoable
        self._go(draft, tuple(undoable), (*self.redoable, self.current))
        return True

    def redo(self) -> bool:
        if not self.redoable:
            return False
        *redoable, draft = self.redoable
        self._go(draft, (*self.undoable, self.current), tuple(redoable))
        return True

    def _go(self, draft: Draft, undoable: tuple[Draft, ...], redoable: tuple[Draft, ...]) -> None:
        self.project = draft.project(self.path)  # first, since it rejects invalid configurations
        self.current, self.undoable, self.redoable = draft, undoable, redoable
        self._step = ""

    def reload(self) -> None:
        self._rebase(self._read())

    def follow(self) -> None:
        """Load the configuration file again, unless the draft has edits."""
        try:
            text = self._read()
        except ConfigError as error:
            self.problem = " ".join(str(error).split())
            raise
        self.problem = ""
        if text == self._base:
            self.outside = False
        elif self.is_dirty and self.current.text != (text or ""):
            self.outside = True
        else:
            self._rebase(text)

    def is_as_read(self) -> bool:
        """Return whether the file is as last read or saved."""
        try:
            return not (self.outside or self.problem) and self._read() == self._base
        except ConfigError:
            return False

    def save(self) -> str:
        """Write the draft to the configuration file; return a message."""
        root, text = self._checked_root(), self.current.text
        with changing(self.path):
            if self._read() not in (self._base, text):
                raise ConflictError(
                    f"{self.path.name} was changed on the disk: reload it, which discards this page's changes"
                )
            replace_text(self.path, text, within=root)
        self._base, self.outside, self.problem = text, False, ""
        return f"saved {self.path.name}"

    def save_preset(self, name: str, *, description: str = "", scope: str = "project") -> None:
        """Store the draft's files, screenshots and budget as a preset ``name``."""
        project = self.project
        request = self.current.request(project)
        budget = budget_in_force(project.config)
        files = [entry.item for entry in request.entries]
        preset = ContextPreset(name, files, list(request.screenshots), description, budget)
        self._checked_root()
        is_as_read = self.is_as_read()
        presets_of(project).save_preset(preset, scope=scope)
        if scope != "project":
            return
        text = self._read() or ""
        if not self.is_dirty:
            self._rebase(text)
            return
        table = tomlkit.parse(text)[TABLE][name]
        merged = edited(self.current.text, lambda document: set_preset(document, name, table))
        draft = replace(self.current, text=merged)
        if is_as_read:  # otherwise the draft is not based on the file's other changes
            self._base = text
        self._go(draft, (), ())

    def _rebase(self, text: str | None) -> None:
        """Replace the draft by the file's text; undo is not possible."""
        self._go(replace(self.current, text=text or ""), (), ())
        self._base, self.outside, self.problem = text, False, ""

    def _checked_root(self) -> Path | None:
        """Return the folder that must contain the configuration file, None if any folder may."""
        scope = scope_of(self.project)
        root = None if scope.allow_outside else Path(scope.root)
        confined(self.path, root)
        return root

    def _read(self) -> str | None:
        if not self.path.exists():
            return None
        text = read_toml_text(self.path)
        validate(parse_toml(text, self.path), path=self.path, text=text)
        return text
