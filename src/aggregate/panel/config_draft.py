"""The draft beside the configuration's file: edited in memory, saved over what the file is by then."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import tomlkit

from aggregate.base.disk import confined, replace_text
from aggregate.base.errors import ConfigError, ToolError
from aggregate.base.values import ContextPreset
from aggregate.panel.draft import Draft, Saved
from aggregate.panel.kept_draft import UnsavedDraft
from aggregate.panel.merging import merge
from aggregate.project.configuration import Project, changing, parse_toml, read_toml_text, validate
from aggregate.project.presets import TABLE
from aggregate.prompt import presets_of, scope_of

_MOST_STEPS = 200
"""Steps that can be undone: more than anybody counts, and a few megabytes of configurations at most."""
_NAMED = 5
"""Keys that a sentence names."""


class ConfigDraft:
    """A draft, and the file that it was made of; for one thread at a time.

    Args:
        path: The configuration's; there need be no file.

    Attributes:
        outside: Whether the file was changed since, while the draft has edits.
        problem: Why the file cannot be used as it is on the disk, ``""`` where it can.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outside = False
        self.problem = ""
        self._base = self._read()
        self.current = Draft(self._base or "")
        # Tuples, so that a copy of this object stays as it is.
        self._before: tuple[Draft, ...] = ()
        self._behind: tuple[Draft, ...] = ()
        self.project: Project = self.current.project(path)

    @property
    def exists(self) -> bool:
        """Whether there was a file when it was read last."""
        return self._base is not None

    @property
    def is_dirty(self) -> bool:
        """Whether the draft differs from the file that it was made of."""
        return self.current.text != (self._base or "")

    @property
    def can_undo(self) -> bool:
        """Whether there is a step back."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step that was undone."""
        return bool(self._behind)

    @property
    def unsaved(self) -> UnsavedDraft | None:
        """The draft with what it was made of, ``None`` where it has no edits."""
        return UnsavedDraft(self._base, self.current) if self.is_dirty else None

    def restore(self, unsaved: UnsavedDraft) -> None:
        """Take a draft that was not saved before; what the file has changed since is merged when it is saved."""
        if self.is_dirty:
            raise ToolError(
                "there are edits here already: save or undo them before you take others"
            )
        if unsaved.base == self._base:
            self._step(unsaved.draft)
        else:
            self._go(unsaved.draft, (), ())
            self._base = unsaved.base
        with suppress(ConfigError):  # the page is told of it as a problem
            self.follow()

    def take(self, draft: Draft) -> bool:
        """Go on to another draft; tell whether it is one."""
        if draft == self.current:
            return False
        self._step(draft)
        return True

    def undo(self) -> bool:
        """Go a step back; tell whether there was one."""
        if not self._before:
            return False
        *before, draft = self._before
        self._go(draft, tuple(before), (*self._behind, self.current))
        return True

    def redo(self) -> bool:
        """Take the step that was undone last; tell whether there was one."""
        if not self._behind:
            return False
        *behind, draft = self._behind
        self._go(draft, (*self._before, self.current), tuple(behind))
        return True

    def _step(self, draft: Draft) -> None:
        self._go(draft, (*self._before, self.current)[-_MOST_STEPS:], ())

    def _go(self, draft: Draft, before: tuple[Draft, ...], behind: tuple[Draft, ...]) -> None:
        self.project = draft.project(self.path)  # first: what is no configuration is not taken
        self.current, self._before, self._behind = draft, before, behind

    def reload(self) -> None:
        """Drop the draft, and take the configuration as it is on the disk."""
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
            return not self.outside and self._read() == self._base
        except ConfigError:
            return False

    def save(self) -> Saved:
        """Write the draft to the configuration; what the disk has changed meanwhile is merged."""
        root = self._checked_root()
        mine = self.current.text
        with changing(self.path):
            merged = merge(self._base or "", mine, self._read() or "", path=self.path)
            replace_text(self.path, merged.text, within=root)
        is_merged = merged.text != mine
        if is_merged:
            self._rebase(merged.text)
        self._base, self.outside, self.problem = merged.text, False, ""
        sentence = f"saved {self.path.name}"
        if is_merged:
            keys = f": {', '.join(merged.keys[:_NAMED])}" if merged.keys else ""
            sentence += f", with what was changed on the disk{keys}"
        return Saved(is_merged, sentence)

    def save_preset(self, name: str, *, description: str = "", scope: str = "project") -> None:
        """Store the files, screenshots and budget of the draft as a preset, in a configuration on the disk.

        The rest of the draft stays unsaved.
        """
        project = self.project
        request = self.current.request(project)
        budget = project.config.budget.tokens
        active = project.config.context_presets.get(project.config.project.active_preset)
        if active is not None and active.budget is not None:
            budget = active.budget
        files = [entry.item for entry in request.entries]
        preset = ContextPreset(name, files, list(request.screenshots), description, budget)
        self._checked_root()
        presets_of(project).save_preset(preset, scope=scope)
        if scope == "project":
            self._take_stored(name)

    def _take_stored(self, name: str) -> None:
        """Take a preset that was stored into the draft, and into what that is compared with when it is saved."""
        text = self._read() or ""
        if not self.is_dirty:
            self._rebase(text)
            return
        draft = replace(self.current, text=_with_preset(self.current.text, name, text))
        # What else the file holds now was not seen, and is merged when the draft is saved.
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
