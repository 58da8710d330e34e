"""Create requests from a project's configuration, presets and discussions."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.programs import guard_project
from aggregate.base.disk.reading import is_inside, project_root, real_path
from aggregate.base.errors import ConfigError, ScopeError
from aggregate.base.files import Entry, FileItem, GeneratedView
from aggregate.base.messages import did_you_mean, short_list
from aggregate.base.redaction import Redaction
from aggregate.base.task import Finish, Place
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
    discussion_name,
    find_history_file,
    named_discussions,
    read_discussion,
)
from aggregate.project.paths import Scope
from aggregate.project.table import as_data
from aggregate.project.tables import BEADS_MODE, Config, PersonaTable, RedactionTable
from aggregate.prompt.asking.finish import finished
from aggregate.prompt.asking.request import (
    EVERY,
    AskedBudget,
    AskedTask,
    Request,
    Strategy,
    asked_for,
)

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset, ContextPresetManager

_LONGEST_NAMESPACE: Final = 100  # of a file name's 255 bytes, with number and suffixes
_CANNOT_SWITCH_OFF: Final = (
    "redaction.send: a project cannot switch it off, secrets are replaced in what is sent: set it in your own "
    "configuration, or use --no-redact"
)
_CANNOT_HAVE_ASKED: Final = (
    "task.pick: only your own configuration can have a model asked; or use --pick"
)


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


def request_for(
    project: Project,
    *,
    strategy: str | None = None,
    preset: str | None = None,
    focus_files: Sequence[str | Path | Place] = (),
    tier: int | None = None,
    with_history: bool = True,
    generated: str | None = None,
    task: AskedTask | None = None,
    budget: AskedBudget | None = None,
    window: int | None = None,
    answer: int = 0,
    discussion: str | None = None,
    is_new: bool = False,
    sending: bool = False,
    redact: bool | None = None,
    finish: Finish | None = None,
) -> Request:
    """Return the request for a prompt of a project.

    With a task or a budget and no configured files, all files not ignored by git are used (rule T-6).

    Args:
        project: The project.
        strategy: How files are rendered; by default as configured.
        preset: The name of a context preset, which replaces the configured files; by default the active one.
        focus_files: With a task or a budget, lines or files to show always, where the ranking starts; else, and
            for tier 3, files to show in full in a Tier 3 prompt (rule T-2).
        tier: ``3`` for a Tier 3 prompt.
        with_history: Include the discussion.
        generated: The view of generated files; by default ``[files] generated``.
        task: The task; by default ``[task] text``.
        budget: Token limit: ``32000``, ``"32k"``, ``"auto"``; by default the preset's, then ``[budget]``.
        window: Tokens of the model's context window, for ``"auto"``; ``None`` without a model.
        answer: Tokens of the model's answer, which ``"auto"`` leaves free.
        discussion: The name of the discussion, ``""`` for the unnamed one; by default the unnamed one if it is
            configured, and ``"none"`` for no turns.
        is_new: The discussion may be new.
        sending: The prompt will be sent to a model.
        redact: Replace secrets; by default as in ``redaction_for``.
        finish: The user's texts; by default as configured, and none if ``sending``.

    Raises:
        ConfigError: The history's file cannot be used, the discussion does not exist, or the budget is invalid.
        PresetError: The preset does not exist.
        ScopeError: The configuration or the history's file is a link out of the project.
    """
    scope = scope_of(project)
    _check_within(project.path, scope)
    config = project.config
    preset = preset or config.project.active_preset
    applied = find_preset(project, preset) if preset else None
    request = _configured(project, scope, applied, strategy)
    request = asked_for(
        request, config, applied, task, budget, focus_files, tier=tier, window=window, answer=answer
    )
    is_asked = request.is_audited
    name, turns = discussion_name(discussion or ""), DiscussionTurns()
    if with_history:
        wanted_name = None if discussion is None else name
        turns = discussion_turns(project, wanted_name, scope=scope, is_new=is_new)
    redaction = redaction_for(project, sending=sending, is_asked=is_asked, wanted=redact)
    finish = finish or (None if sending else Finish())
    if finish:
        request = finished(request, finish, project, redaction)
    return replace(
        request,
        history=turns.all,
        discussion=name,
        continues=turns.continues,
        generated=GeneratedView(generated or config.files.generated),
        redaction=redaction,
        is_overview=project.is_bare and request.task is None and request.budget is not None,
    )


def _configured(
    project: Project, scope: Scope, applied: "ContextPreset | None", strategy: str | None
) -> Request:
    config, folder = project.config, project.folder
    strategy = strategy or config.project.aggregation_strategy
    entries, screenshots = _listed(project, applied)
    # The project's name as the first part of file names.
    name = config.project.name or folder.resolve().name
    own_name = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:_LONGEST_NAMESPACE].strip("._")
    return Request(
        base_dir=folder / config.files.base_dir,
        entries=entries,
        exclude=tuple(config.files.exclude),
        screenshot_dir=folder / config.screenshots.base_dir,
        screenshots=screenshots,
        shown_from=folder,
        history=(),
        strategy=Strategy.parse(strategy),
        summary_only=config.project.summary_only,
        beads=config.project.execution_mode == BEADS_MODE,
        output_dir=project.prompts,
        namespace=config.output.namespace or own_name or "context",
        scope=scope,
        doubts=_doubts(config, strategy),
        title=name,
    )


def _listed(
    project: Project, applied: "ContextPreset | None"
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Return the files and screenshots of a preset.

    Without a preset they are the configured ones; for a folder without a configuration, all files.
    """
    if applied is not None:
        return tuple(map(Entry, applied.files)), tuple(applied.screenshots)
    if project.is_bare:
        return (EVERY,), ()
    config = project.config
    entries = (
        Entry(FileItem.from_dict(as_data(table)), table.tier) for table in config.files.paths
    )
    return tuple(entries), tuple(config.screenshots.paths)


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
    project: Project, name: str | None, *, scope: Scope, is_new: bool = False
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
    _check_within(file, scope)
    discussion = read_discussion(file)
    if name is None and discussion.is_begun_by_send and not configured:
        return DiscussionTurns()
    return DiscussionTurns(configured, tuple(discussion.turns), discussion.continues, file)


def _check_within(file: Path | None, scope: Scope) -> None:
    """Raise ``ScopeError`` for a link out of the scope.

    ``file`` is a file of the user.
    """
    if file and not scope.allow_outside and not is_inside(real_path(file), scope.root):
        raise ScopeError(f"{OUTSIDE}: {file}")


def files_of_sections(config: Path, request: Request) -> list[str]:
    """Return the absolute paths of files with the discussion and the beads, existing or not."""
    history = find_history_file(config, request.discussion, request.output_dir)
    paths = [history] if history else []
    if request.beads:
        from aggregate.project.beads import possible_beads_files  # few projects have beads

        paths += possible_beads_files(request.base_dir, environ=os.environ)
    return [os.path.abspath(path) for path in paths]


def find_persona(project: Project, name: str) -> PersonaTable:
    """Return the persona of a name.

    The project's personas come before the user's. Without a name the persona is empty.
    """
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


def _doubts(config: Config, strategy: str) -> tuple[str, ...]:
    """Return warnings about unknown values, for which defaults are used (M-30), and about unused settings."""
    words = {
        "aggregation_strategy": (strategy, [value.value for value in Strategy], Strategy.AUTO),
        "execution_mode": (config.project.execution_mode, ["native", BEADS_MODE], "native"),
    }
    doubts = [
        f"{key}: unknown value {word[:100]!r}, using {usual}: {did_you_mean(word, values)}"
        for key, (word, values, usual) in words.items()
        if word not in ("", *values)
    ]
    if not config.redaction.send:
        doubts.append(_CANNOT_SWITCH_OFF)
    if config.task.pick:
        doubts.append(_CANNOT_HAVE_ASKED)
    return tuple(doubts)


def find_preset(project: Project, name: str) -> "ContextPreset":
    """Return the preset of a name from the project's configuration, or else from its presets file."""
    table = project.config.context_presets.get(name)
    if table is None:
        return presets_of(project).get(name)
    from aggregate.project.presets import preset_of_table  # its library takes 10 ms

    return preset_of_table(name, as_data(table))


def presets_of(project: Project) -> "ContextPresetManager":
    # Its library takes 10 ms, and few projects have presets.
    from aggregate.project.presets import ContextPresetManager

    path = project.path or project.folder / "manual_slop.toml"
    return ContextPresetManager(path, global_config_path())
