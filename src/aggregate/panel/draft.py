"""What the page has changed and nobody has saved: edited in memory, kept for the next start, merged when saved."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from json import dumps
from pathlib import Path
from typing import Any, Final

import tomlkit
from pydantic import TypeAdapter

from aggregate.base.disk.reading import confined, read_text
from aggregate.base.disk.writing import replace_own, replace_text, state_folder
from aggregate.base.errors import AggregateError, ConfigError, OutputError, ToolError
from aggregate.base.redaction import Redaction
from aggregate.base.request import Place, Task
from aggregate.base.text import printable
from aggregate.project.configuration import (
    MOST_BYTES,
    Project,
    changing,
    parse_toml,
    read_toml_text,
    validate,
)
from aggregate.project.presets import TABLE, ContextPreset, budget_in_force
from aggregate.prompt import (
    Request,
    open_project,
    parse_place,
    presets_of,
    redaction_for,
    request_for,
    scope_of,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """One state of what is composed; ``text`` is the configuration as it would be saved."""

    text: str
    focus: tuple[str, ...] = ()  # places that the user points at, PATH[:LINE[-LINE]]
    symbols: tuple[str, ...] = ()
    since: str = ""
    discussion: str = ""  # the default one
    has_history: bool = True
    turns_out: frozenset[int] = frozenset()  # numbers of turns, from 0, that are left out
    images: tuple[str, ...] = ()  # screenshots to be switched on again

    def project(self, path: Path) -> Project:
        config = validate(parse_toml(self.text, path), path=path, text=self.text)
        return open_project(Project(config, path.parent, path))

    def request(self, project: Project) -> Request:
        """Return what ``aggregate run`` would compose of it."""
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
        shown = tuple(turn for number, turn in turns if number not in self.turns_out)
        return replace(request, history=shown)

    def places(self, project: Project) -> tuple[Place, ...]:
        base_dir = project.folder / project.config.files.base_dir
        return tuple(parse_place(text, base_dir) for text in self.focus)

    def redaction(self, project: Project) -> Redaction:
        return redaction_for(project, is_asked=self.asks(project))

    def asks(self, project: Project) -> bool:
        """Tell whether there is a task or a budget, so that no entries stand for all files (rule T-6)."""
        has_budget = budget_in_force(project.config) is not None
        return bool(project.config.task.text.strip() or has_budget or self.symbols or self.since)


# Steps that can be undone: more than anybody counts, and a few megabytes of configurations at most.
_MOST_STEPS: Final = 200
_NAMED: Final = 5  # Keys that a sentence names
_MOST_KEY: Final = 60  # Characters of each of them: a configuration may hold any
# Characters of a kept draft: two configurations, of which JSON may make six of one, and what belongs to none.
_MOST_KEPT: Final = 12 * MOST_BYTES

Key = tuple[str, ...]


class ConflictError(AggregateError):
    """The same key was changed in the draft and on the disk."""


@dataclass(frozen=True, slots=True)
class UnsavedDraft:
    """A draft that was not saved, and the text of the file it was made of, ``None`` where there was none."""

    config: str
    base: str | None
    draft: Draft


class ConfigDraft:
    """A draft, and the file that it was made of; for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outside = False
        self.problem = ""
        self._base = self._read()
        self.current = Draft(self._base or "")
        # Tuples, so that a copy of this object stays as it is.
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

    @property
    def unsaved(self) -> UnsavedDraft | None:
        """The draft with what it was made of, ``None`` where it has no edits."""
        return UnsavedDraft(self.path.name, self._base, self.current) if self.is_dirty else None

    def restore(self, unsaved: UnsavedDraft) -> None:
        """Take a draft that was not saved before; what the file has changed since is merged when it is saved."""
        if self.is_dirty:
            raise ToolError(
                "there are edits here already: save or undo them before you take others"
            )
        if unsaved.base == self._base:
            self.take(unsaved.draft)
        else:
            self._go(unsaved.draft, (), ())
            self._base = unsaved.base
        with suppress(ConfigError):  # the page is told of it as a problem
            self.follow()

    def take(self, draft: Draft, *, step: str = "") -> bool:
        """Go on with a draft, to be undone in one with what was taken just before by the same name of a step."""
        if draft == self.current:
            return False
        before = self.undoable
        if not step or step != self._step:
            before = (*before, self.current)[-_MOST_STEPS:]
        self._go(draft, before, ())
        self._step = step
        return True

    def undo(self) -> bool:
        if not self.undoable:
            return False
        *before, draft = self.undoable
        self._go(draft, tuple(before), (*self.redoable, self.current))
        return True

    def redo(self) -> bool:
        if not self.redoable:
            return False
        *behind, draft = self.redoable
        self._go(draft, (*self.undoable, self.current), tuple(behind))
        return True

    def _go(self, draft: Draft, before: tuple[Draft, ...], behind: tuple[Draft, ...]) -> None:
        self.project = draft.project(self.path)  # first: what is no configuration is not taken
        self.current, self.undoable, self.redoable = draft, before, behind
        self._step = ""

    def reload(self) -> None:
        self._rebase(self._read())

    def follow(self) -> None:
        """Take the configuration as it is on the disk, or note that it differs, where the draft has edits."""
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
        """Tell whether the file is as it was when it was read or saved last, and was not known to be another one."""
        try:
            return not (self.outside or self.problem) and self._read() == self._base
        except ConfigError:
            return False

    def save(self) -> str:
        """Write the draft to the configuration, with what the disk has changed meanwhile; return what is told of it."""
        root = self._checked_root()
        mine = self.current.text
        with changing(self.path):
            text, keys = merge(self._base or "", mine, self._read() or "", path=self.path)
            replace_text(self.path, text, within=root)
        sentence = f"saved {self.path.name}"
        if text == mine:
            self._base, self.outside, self.problem = text, False, ""
            return sentence
        self._rebase(text)
        named = f": {', '.join(keys[:_NAMED])}" if keys else ""
        return f"{sentence}, with what was changed on the disk{named}"

    def save_preset(self, name: str, *, description: str = "", scope: str = "project") -> None:
        """Store the files, screenshots and budget of the draft as a preset; the rest of the draft stays unsaved."""
        project = self.project
        request = self.current.request(project)
        budget = budget_in_force(project.config)
        files = [entry.item for entry in request.entries]
        preset = ContextPreset(name, files, list(request.screenshots), description, budget)
        self._checked_root()
        presets_of(project).save_preset(preset, scope=scope)
        if scope != "project":
            return
        text = self._read() or ""
        if not self.is_dirty:
            self._rebase(text)
            return
        # What else the file holds now was not seen, and is merged when the draft is saved.
        draft = replace(self.current, text=_with_preset(self.current.text, name, text))
        self._base = _with_preset(self._base or "", name, text)
        self._go(draft, (), ())

    def _rebase(self, text: str | None) -> None:
        """Go on from a text of the file, to which no step leads back."""
        self._go(replace(self.current, text=text or ""), (), ())
        self._base, self.outside, self.problem = text, False, ""

    def _checked_root(self) -> Path | None:
        """Return the folder that the configuration has to lie in, ``None`` for any."""
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


def _with_preset(text: str, name: str, source: str) -> str:
    document = tomlkit.parse(text)
    presets = document.setdefault(TABLE, tomlkit.table(is_super_table=True))
    presets[name] = tomlkit.parse(source)[TABLE][name]
    return tomlkit.dumps(document)


class KeptDraft:
    """The draft that was not saved when a project's panel ended last, and where the one of now is kept."""

    def __init__(self, config: Path) -> None:
        self._file = state_folder(config.parent) / "panel_draft.json"
        self._written: UnsavedDraft | None = None
        self.last: UnsavedDraft | None = None
        self.sentence = ""
        try:
            text = read_text(self._file, limit=_MOST_KEPT, is_own=True)
            last = TypeAdapter(UnsavedDraft).validate_json(text, strict=True)
            if last.config != config.name:
                return
            texts = last.base or "", last.draft.text
            keys = _changes(*(_leaves(parse_toml(text, config)) for text in texts))
            last.draft.project(config)
        except (OSError, ValueError, AggregateError):  # none, damaged, or no configuration any more
            return
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        named = [printable(".".join(key)[:_MOST_KEY]) for key in keys[:_NAMED]]
        names = ", ".join(named) or "its comments"
        self.last = last
        self.sentence = f"edits that were not saved when the panel ended: {names}{more}"

    def keep(self, unsaved: UnsavedDraft | None) -> None:
        """Keep the draft of now for the next start, ``None`` where it has no edits, in place of what was kept before.

        Where there are no edits and none were kept since the start, those of the last time are offered again. Where it
        cannot be written, edits are lost with the server.
        """
        if unsaved == self._written and (unsaved is None or self._file.exists()):
            return  # another panel of this project keeps its own in the same place
        self._written = unsaved
        with suppress(OSError, OutputError):
            if unsaved is None:
                self._file.unlink(missing_ok=True)
            else:
                replace_own(self._file, dumps(asdict(unsaved), default=sorted))

    def taken(self) -> None:
        self._written, self.last, self.sentence = self.last, None, ""

    def forget(self) -> None:
        self.last, self.sentence = None, ""
        if self._written is None:
            with suppress(OSError):  # it is offered again at the next start
                self._file.unlink(missing_ok=True)


def merge(base: str, mine: str, theirs: str, *, path: Path) -> tuple[str, tuple[str, ...]]:
    """Return ``theirs`` with what ``mine`` has changed of ``base``, and the keys that ``theirs`` has changed, dotted.

    Comments and order are theirs.
    """
    if theirs == base:
        return mine, ()
    if theirs == mine:
        return theirs, ()
    before, wanted, now = (_leaves(parse_toml(text, path)) for text in (base, mine, theirs))
    changed_here, changed_there = _changes(before, wanted), _changes(before, now)
    missing = object()
    for key in changed_here:
        if key in changed_there:
            clashes = wanted.get(key, missing) != now.get(key, missing)
        else:  # somebody else may have changed what stands above it or below it
            clashes = any(
                other[: len(key)] == key or key[: len(other)] == other for other in changed_there
            )
        if clashes:
            raise ConflictError(
                f"{path.name}: {'.'.join(key)} was changed here and on the disk: undo it here, or reload the file, "
                "which drops the changes of this page"
            )
    document, source = tomlkit.parse(theirs), tomlkit.parse(mine)
    for *tables, name in changed_here:
        reached: Any = source
        for table in tables:
            reached = reached.get(table, {})
        target: Any = document
        for table in tables:
            if table not in target and name in reached:
                target[table] = tomlkit.table()
            target = target.get(table, {})
        if name in reached:
            target[name] = reached[name]
        else:
            target.pop(name, None)
    text = tomlkit.dumps(document)
    validate(parse_toml(text, path), path=path, text=text)
    return text, tuple(map(".".join, changed_there))


def _leaves(table: Mapping[str, Any], above: Key = ()) -> dict[Key, object]:
    leaves: dict[Key, object] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            leaves |= _leaves(value, (*above, key))
        else:
            leaves[*above, key] = value
    return leaves


def _changes(before: Mapping[Key, object], now: Mapping[Key, object]) -> list[Key]:
    missing = object()
    changed = [key for key, value in now.items() if before.get(key, missing) != value]
    return [*changed, *(key for key in before if key not in now)]
