"""Open a project: its scope, discussion, personas, presets and redaction."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aggregate.base.disk.programs import guard_project
from aggregate.base.disk.reading import is_inside, project_root, real_path
from aggregate.base.errors import ConfigError, ScopeError
from aggregate.base.messages import short_list
from aggregate.base.nearest_names import did_you_mean
from aggregate.base.redaction import Redaction
from aggregate.project.configuration import (
    Project,
    global_config_path,
    is_trusted,
    load_config,
    user_config,
    validate,
)
from aggregate.project.files import OUTSIDE
from aggregate.project.history import (
    DEFAULT,
    NO_DISCUSSION,
    find_history_file,
    named_discussions,
    read_discussion,
)
from aggregate.project.paths import Scope
from aggregate.project.tables import Config, PersonaTable, RedactionTable, as_data

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset, ContextPresetManager


def open_project(
    config: Mapping[str, Any] | Project | str | Path,
    *,
    allow_outside: bool | None = None,
    allow_secrets: bool | None = None,
) -> Project:
    """Return a validated project from a loaded one, the path of its configuration, or a mapping."""
    if isinstance(config, Project):
        project = config
    else:
        project = (
            load_config(Path(config))
            if isinstance(config, str | Path)
            else Project(validate(config), Path())
        )
    for folder in ("", project.config.files.base_dir):
        guard_project(project.folder / folder)
    has_trust = project.config.trust is not Config.trust
    if has_trust and not is_users_own(project.path):
        problem = "[trust] belongs in your own configuration: see aggregate trust"
        path = str(project.path) if project.path else None
        raise ConfigError(problem, path=path, key="trust")
    if allow_outside is not None:
        project = replace(project, allow_outside=allow_outside)
    return project if allow_secrets is None else replace(project, allow_secrets=allow_secrets)


def scope_of(project: Project) -> Scope:
    """Return which files a project may read."""
    root = project_root(project.folder)
    outside, secrets = project.allow_outside, project.allow_secrets
    is_mapping = project.path is None
    return Scope(
        root,
        allow_outside=is_mapping or is_trusted(root) if outside is None else outside,
        allow_secrets=is_mapping if secrets is None else secrets,
    )


class DiscussionTurns(NamedTuple):
    configured: tuple[str | dict[str, Any], ...] = ()
    written: tuple[str | dict[str, Any], ...] = ()
    continues: str | None = None
    path: Path | None = None

    @property
    def all(self) -> tuple[str | dict[str, Any], ...]:
        """All turns of the discussion, oldest first."""
        return (*self.configured, *self.written)


def discussion_turns(
    project: Project, name: str | None, *, is_new: bool = False
) -> DiscussionTurns:
    """Return the turns of a discussion (rule S-4)."""
    if name == NO_DISCUSSION:
        return DiscussionTurns()
    configured: tuple[str | dict[str, Any], ...] = ()
    if not name:
        all_turns = (*project.config.history, *project.config.discussion.history)
        configured = tuple(turn if isinstance(turn, str) else as_data(turn) for turn in all_turns)
    file = find_history_file(project.path, name or "", project.prompts) if project.path else None
    if file is None:
        if name and not is_new:
            names = [DEFAULT]
            names += named_discussions(project.path, project.prompts) if project.path else ()
            raise ConfigError(
                f'no such discussion: "{name}": {did_you_mean(name, names)}',
                path=str(project.path) if project.path else None,
            )
        return DiscussionTurns(configured)
    check_within(file, scope_of(project))
    discussion = read_discussion(file)
    if name is None and discussion.is_begun_by_send and not configured:
        return DiscussionTurns()
    return DiscussionTurns(configured, tuple(discussion.turns), discussion.continues, file)


def check_within(file: Path | None, scope: Scope) -> None:
    """Raise ``ScopeError`` if a file of the user is a link out of the scope."""
    if file and not scope.allow_outside and not is_inside(real_path(file), scope.root):
        raise ScopeError(f"{OUTSIDE}: {file}")


def find_persona(project: Project, name: str) -> PersonaTable:
    """Return a persona, first of the project, then of the user; without a name an empty one."""
    if not name:
        return PersonaTable()
    personas = {**shared_personas(), **project.config.personas}
    if name not in personas:
        names = short_list(sorted(personas))
        remedy = f"known are {names}" if personas else f"write a table [personas.{name}]"
        path = str(project.path) if project.path else None
        raise ConfigError(f'no such persona: "{name}": {remedy}', path=path, key="personas")
    return personas[name]


def shared_personas() -> Mapping[str, PersonaTable]:
    return user_config().personas


def is_users_own(path: Path | None) -> bool:
    """Return whether the configuration at a path is the user's own, not that of a project."""
    return path is not None and real_path(path) == real_path(global_config_path())


def redaction_for(
    project: Project | None = None,
    *,
    sending: bool = False,
    is_asked: bool = False,
    wanted: bool | None = None,
) -> Redaction:
    """Return whether secrets are replaced, and which values are allowed.

    By default they are replaced if the prompt is sent, or has a task or a budget. A project can turn redaction on for
    every ``run``, and allow values by their hash, which requires to know them. Only the user can turn it off for
    sending.
    """
    user = user_config().redaction
    config = project.config.redaction if project else RedactionTable()
    if wanted is None:
        wanted = user.send if sending else is_asked or user.run or config.run
    return Redaction(frozenset(user.allow) | frozenset(config.allow), replaces=wanted)


def find_preset(project: Project, name: str) -> "ContextPreset":
    """Return the preset of a name from the project's configuration, or else from its presets file."""
    table = project.config.context_presets.get(name)
    if table is None:
        return presets_of(project).get(name)
    from aggregate.project.presets import preset_of_table  # its library takes 10 ms

    return preset_of_table(name, table)


def presets_of(project: Project) -> "ContextPresetManager":
    # Its library takes 10 ms, and few projects have presets.
    from aggregate.project.presets import ContextPresetManager

    path = project.path or project.folder / "manual_slop.toml"
    return ContextPresetManager(path, global_config_path())
