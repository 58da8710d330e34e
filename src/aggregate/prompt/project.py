"""From a project's configuration, presets and discussions to what is asked of the pipeline."""

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
from aggregate.base.request import Finish, Place
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
from aggregate.prompt.finish import finished
from aggregate.prompt.request import EVERY, AskedBudget, AskedTask, Request, Strategy, asked_for

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset, ContextPresetManager

# A file name has 255 bytes, and number, suffix and a temporary name take some.
_LONGEST_NAMESPACE: Final = 100
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
    """Return ``config`` as a validated project.

    Args:
        config: A mapping, a loaded project, or the path of a ``manual_slop.toml``.
        allow_outside: Whether files outside the project may be read. By default a mapping decides itself, while what a
            file asks for must lie in the project, unless the user trusts it.
        allow_secrets: The same of files that look like secrets, which trust does not cover.
    """
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
    says_nothing = project.config.trust is Config.trust  # the default itself, however it was read
    if not says_nothing and not is_users_own(project.path):
        path = str(project.path) if project.path else None
        raise ConfigError(
            "[trust] belongs into your own configuration: see aggregate trust",
            path=path,
            key="trust",
        )
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
    """Return what a project's configuration asks for; a preset replaces its files and screenshots.

    With a task or a budget and no files in the configuration it is about all files that git would take (rule T-6).

    Args:
        project: Whose configuration.
        strategy: Which Files section; by default the configuration's.
        preset: The name of a context preset; by default the active one, if any.
        focus_files: With a task or a budget files, or lines of them, to show in any case, from which ranking starts;
            else, and for tier 3, files to show in full in a Tier 3 prompt (rule T-2).
        tier: ``3`` for a Tier 3 prompt.
        with_history: Whether the discussion is part of it.
        generated: What is shown of generated files; by default what ``[files] generated`` says.
        task: What the prompt is for; by default what ``[task] text`` says.
        budget: The most tokens that it may have: ``32000``, ``"32k"``, ``"auto"``; by default what the preset says,
            then ``[budget]``.
        window: Tokens of the model's context window, which ``"auto"`` asks for; ``None`` where no model is named.
        answer: Tokens that the model may write, which ``"auto"`` leaves free.
        discussion: The name of the discussion, ``""`` for the one without; by default that one if it is configured, and
            ``"none"`` for no turns at all.
        is_new: Whether there need be no discussion of this name yet.
        sending: Whether the prompt leaves the machine.
        redact: Whether secrets are replaced; by default as ``redaction_for`` says.
        finish: What is said beside what is shown; by default what the configuration says, and nothing where it is
            ``sending``.

    Raises:
        ConfigError: The history's file cannot be used, there is no such discussion, or the budget is none.
        PresetError: There is no such preset.
        ScopeError: The configuration or the history's file is a link to elsewhere.
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
        named = None if discussion is None else name
        turns = discussion_turns(project, named, scope=scope, is_new=is_new)
    redaction = redaction_for(project, sending=sending, is_asked=is_asked, wanted=redact)
    asked = finish or (None if sending else Finish())
    if asked:
        request = finished(request, asked, project, redaction)
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
    """Return what the configuration asks for by itself, and a preset in place of its files."""
    config, folder = project.config, project.folder
    strategy = strategy or config.project.aggregation_strategy
    entries, screenshots = _listed(project, applied)
    # A file name's first part, of which it takes what fits.
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
    """Return the files and the screenshots that a preset lists, or else the configuration, or all of a bare folder."""
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
    """The turns of a discussion."""

    configured: tuple[str | dict[str, Any], ...] = ()
    written: tuple[str | dict[str, Any], ...] = ()
    continues: str | None = None
    path: Path | None = None

    @property
    def all(self) -> tuple[str | dict[str, Any], ...]:
        """All turns, oldest first."""
        return (*self.configured, *self.written)


def discussion_turns(
    project: Project, name: str | None, *, scope: Scope, is_new: bool = False
) -> DiscussionTurns:
    """Return the turns of a discussion (rule S-4)."""
    if name == NO_DISCUSSION:
        return DiscussionTurns()
    configured: tuple[str | dict[str, Any], ...] = ()
    if not name:
        own_turns = (*project.config.history, *project.config.discussion.history)
        configured = tuple(turn if isinstance(turn, str) else as_data(turn) for turn in own_turns)
    file = find_history_file(project.path, name or "", project.prompts) if project.path else None
    if file is None:
        if name and not is_new:
            known = [
                DEFAULT,
                *(named_discussions(project.path, project.prompts) if project.path else ()),
            ]
            raise ConfigError(
                f'there is no discussion "{name}": {did_you_mean(name, known)}',
                path=str(project.path) if project.path else None,
            )
        return DiscussionTurns(configured)
    _check_within(file, scope)
    discussion = read_discussion(file)
    if name is None and discussion.is_begun_by_send and not configured:
        return DiscussionTurns()
    return DiscussionTurns(configured, tuple(discussion.turns), discussion.continues, file)


def _check_within(file: Path | None, scope: Scope) -> None:
    """Make sure that a file with the user's turns, or the configuration, is no link to elsewhere."""
    if file and not scope.allow_outside and not is_inside(real_path(file), scope.root):
        raise ScopeError(f"{OUTSIDE}: {file}")


def files_of_sections(config: Path, request: Request) -> list[str]:
    """Return the absolute paths of the discussion, if there is one, and of where beads may lie."""
    history = find_history_file(config, request.discussion, request.output_dir)
    places = [history] if history else []
    if request.beads:
        from aggregate.project.beads import possible_beads_files  # few projects have beads

        places += possible_beads_files(request.base_dir, environ=os.environ)
    return [os.path.abspath(path) for path in places]


def find_persona(project: Project, name: str) -> PersonaTable:
    """Return a persona of the project, or else of all projects; an empty one for no name."""
    if not name:
        return PersonaTable()
    personas = {**shared_personas(), **project.config.personas}
    if name not in personas:
        known = (
            f"known are {short_list(sorted(personas))}"
            if personas
            else f"write a table [personas.{name}]"
        )
        path = str(project.path) if project.path else None
        raise ConfigError(f'there is no persona "{name}": {known}', path=path, key="personas")
    return personas[name]


def shared_personas() -> Mapping[str, PersonaTable]:
    """Return the personas of all projects, which the user has written."""
    return user_config().personas


def is_users_own(path: Path | None) -> bool:
    """Tell whether a configuration is the user's own one, which no project can have written."""
    return path is not None and real_path(path) == real_path(global_config_path())


def redaction_for(
    project: Project | None = None,
    *,
    sending: bool = False,
    is_asked: bool = False,
    wanted: bool | None = None,
) -> Redaction:
    """Return what is a secret, and whether it is replaced: in what is sent, or is for a task or a budget.

    A project's own file can switch it on for any other ``run`` and allow values by their hash, which nobody can write
    who does not know them. Only the user can switch it off for what is sent.
    """
    own = user_config().redaction
    theirs = project.config.redaction if project else RedactionTable()
    if wanted is None:
        wanted = own.send if sending else is_asked or own.run or theirs.run
    return Redaction(frozenset(own.allow) | frozenset(theirs.allow), replaces=wanted)


def _doubts(config: Config, strategy: str) -> tuple[str, ...]:
    """Return a sentence for each word that names nothing, and for what a project cannot decide.

    Words that name nothing are taken as the usual ones (rule M-30).
    """
    words = {
        "aggregation_strategy": (strategy, [known.value for known in Strategy], Strategy.AUTO),
        "execution_mode": (config.project.execution_mode, ["native", BEADS_MODE], "native"),
    }
    doubts = [
        f"{key}: there is no {word[:100]!r}, it is taken as {usual}: {did_you_mean(word, known)}"
        for key, (word, known, usual) in words.items()
        if word not in ("", *known)
    ]
    if not config.redaction.send:
        doubts.append(_CANNOT_SWITCH_OFF)
    if config.task.pick:
        doubts.append(_CANNOT_HAVE_ASKED)
    return tuple(doubts)


def find_preset(project: Project, name: str) -> "ContextPreset":
    """Return a context preset as the project's configuration holds it, or else of all projects."""
    table = project.config.context_presets.get(name)
    if table is None:
        return presets_of(project).get(name)
    from aggregate.project.presets import preset_of_table  # its library takes 10 ms

    return preset_of_table(name, as_data(table))


def presets_of(project: Project) -> "ContextPresetManager":
    """Return the context presets of a project and of the user."""
    # Its library takes 10 ms, few projects have presets.
    from aggregate.project.presets import ContextPresetManager

    path = project.path or project.folder / "manual_slop.toml"
    return ContextPresetManager(path, global_config_path())
