"""What the page has changed and nobody has saved: a configuration's text, and what belongs to no configuration."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from aggregate.base.values import Place, Redaction, Task
from aggregate.project.configuration import Project, parse_toml, validate
from aggregate.project.history import NO_DISCUSSION
from aggregate.prompt import (
    Request,
    open_project,
    parse_place,
    redact_text,
    redaction_for,
    request_for,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """One state of what is composed.

    Attributes:
        text: The configuration, as it would be saved.
        focus: Places that the user points at, ``PATH[:LINE[-LINE]]``.
        discussion: Which discussion is shown, ``""`` for the default one.
        has_history: Whether it is shown at all.
        turns_out: Numbers of its turns, from ``0``, that are left out.
        images: Screenshots that were switched off since the start, so that they can be switched on again.
    """

    text: str
    focus: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str = ""
    discussion: str = ""
    has_history: bool = True
    turns_out: frozenset[int] = frozenset()
    images: tuple[str, ...] = ()

    def project(self, path: Path) -> Project:
        """Return the project whose configuration at ``path`` is this text."""
        config = validate(parse_toml(self.text, path), path=path, text=self.text)
        return open_project(Project(config, path.parent, path))

    def request(self, project: Project) -> Request:
        """Return what ``aggregate run`` would compose of it."""
        request = request_for(
            project,
            focus_files=self.places(project),
            with_history=self.has_history,
            discussion=self.discussion,
            task=self.task(project),
        )
        if not self.turns_out:
            return request
        turns = enumerate(request.history)
        return replace(
            request,
            history=tuple(turn for number, turn in turns if number not in self.turns_out),
        )

    def places(self, project: Project) -> tuple[Place, ...]:
        """Return what the user points at, as ``request_for`` takes it."""
        base_dir = project.folder / project.config.files.base_dir
        return tuple(parse_place(text, base_dir) for text in self.focus)

    def task(self, project: Project) -> Task | None:
        """Return the task, ``None`` where the configuration alone has it."""
        if not (self.symbols or self.since):
            return None
        text = project.config.task.text
        return Task(text, symbols=self.symbols, since=self.since)

    def shown_text(self, project: Project, text: str) -> str:
        """Return a text as the prompt would show it."""
        return redact_text(text, "", self.redaction(project))[0]

    def redaction(self, project: Project) -> Redaction:
        """Return what is a secret in the prompt, and whether it is replaced there."""
        return redaction_for(project, is_asked=self.asks(project))

    def asks(self, project: Project) -> bool:
        """Tell whether there is a task or a budget, so that no entries stand for all files (rule T-6)."""
        config = project.config
        preset = config.context_presets.get(config.project.active_preset)
        return bool(
            config.task.text.strip()
            or config.budget.tokens is not None
            or (preset is not None and preset.budget is not None)
            or self.symbols
            or self.since
        )

    @property
    def shows_discussion(self) -> bool:
        """Whether turns of a discussion are shown."""
        return self.has_history and self.discussion != NO_DISCUSSION


class Saved(NamedTuple):
    """What came of saving.

    Attributes:
        is_merged: Whether the disk had changes of its own.
    """

    is_merged: bool
    sentence: str
