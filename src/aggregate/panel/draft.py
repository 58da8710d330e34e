"""What the page has changed and nobody has saved: a configuration's text, and what belongs to no configuration."""

from dataclasses import dataclass, replace
from pathlib import Path

from aggregate.base.values import Place, Redaction, Task
from aggregate.project.configuration import Project, parse_toml, validate
from aggregate.prompt import Request, open_project, parse_place, redaction_for, request_for


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
        config = project.config
        preset = config.context_presets.get(config.project.active_preset)
        return bool(
            config.task.text.strip()
            or config.budget.tokens is not None
            or (preset is not None and preset.budget is not None)
            or self.symbols
            or self.since
        )
