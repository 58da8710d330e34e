"""From a project's configuration to what is asked of the pipeline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.clients.rules import COMPATIBLE
from aggregate.compose.layout import Strategy
from aggregate.compose.request import Request, namespace_of
from aggregate.compose.selection import display_path
from aggregate.config.load import Project, load_config, validate
from aggregate.config.schema import PersonaTable, RedactionTable
from aggregate.errors import ConfigError
from aggregate.models.entry import Entry
from aggregate.models.file_item import FileItem
from aggregate.presets.store import ContextPresetManager, global_config_path
from aggregate.sections.beads import BEADS_MODE
from aggregate.sources.history import find_history_file, load_history

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


def open_project(config: Mapping[str, Any] | Project | str | Path) -> Project:
    """Return ``config`` as a validated project.

    Raises:
        ConfigError: It cannot be used.
    """
    if isinstance(config, Project):
        return config
    if isinstance(config, str | Path):
        return load_config(Path(config))
    return Project(validate(config), Path())


def request_for(
    project: Project,
    *,
    strategy: str | None = None,
    preset: str | None = None,
    focus_files: Sequence[str] = (),
    tier: int | None = None,
    with_history: bool = True,
) -> Request:
    """Return what a project's configuration asks for; a preset replaces its files and screenshots.

    Raises:
        ConfigError: The history's file cannot be used.
        PresetError: There is no such preset.
    """
    config, folder = project.config, project.folder
    name = config.project.name or folder.resolve().name
    base_dir = folder / config.files.base_dir
    entries = tuple(Entry(FileItem.from_dict(table.model_dump()), table.tier) for table in config.files.paths)
    screenshots = tuple(config.screenshots.paths)
    if chosen := preset or config.project.active_preset:
        applied = _presets(project).get(chosen)
        entries, screenshots = tuple(Entry(item) for item in applied.files), tuple(applied.screenshots)
    return Request(
        base_dir=base_dir,
        entries=entries,
        exclude=tuple(config.files.exclude),
        screenshot_dir=folder / config.screenshots.base_dir,
        screenshots=screenshots,
        shown_from=folder,
        history=_history(project) if with_history else (),
        strategy=Strategy.parse(strategy or config.project.aggregation_strategy),
        summary_only=config.project.summary_only,
        beads=config.project.execution_mode == BEADS_MODE,
        output_dir=folder / config.output.output_dir,
        namespace=config.output.namespace or namespace_of(name),
        focus_files=tuple(display_path(Path(f), base_dir) if Path(f).is_absolute() else f for f in focus_files),
        tier=tier,
    )


def find_persona(project: Project, name: str) -> PersonaTable:
    """Return a persona of the project, or else of all projects; an empty one for no name.

    Raises:
        ConfigError: There is no such persona.
    """
    if not name:
        return PersonaTable()
    shared = global_config_path()
    personas = dict(load_config(shared).config.personas) if shared.is_file() else {}
    personas |= project.config.personas
    path = str(project.path) if project.path else None
    if name not in personas:
        known = f"known are {', '.join(sorted(personas))}" if personas else f"write a table [personas.{name}]"
        raise ConfigError(f'there is no persona "{name}": {known}', path=path, key="personas")
    found = personas[name]
    if name in project.config.personas and found.base_url and found.provider not in ("", COMPATIBLE):
        # Else a project that came from somebody else could have the key sent to an address of theirs.
        raise ConfigError(
            f"a project's persona may name an address for {COMPATIBLE} only, so that no other key is sent there: "
            f"move it to {shared}, or add --base-url",
            path=path,
            key=f"personas.{name}.base_url",
        )
    return found


def redaction_for(project: Project | None = None, *, sending: bool, wanted: bool | None = None) -> "Redaction | None":
    """Return which secrets are replaced, ``None`` for none.

    A project's own file can switch it on for ``run`` and allow values by their hash, which nobody can write who does
    not know them. Only the user can switch it off for what is sent.

    Args:
        project: Whose configuration is asked beside the user's own.
        sending: Whether the prompt leaves the machine.
        wanted: What the user says for this one run, before any configuration.

    Raises:
        ConfigError: The user's own configuration cannot be used.
    """
    shared = global_config_path()
    own = load_config(shared).config.redaction if shared.is_file() else RedactionTable()
    theirs = project.config.redaction if project else RedactionTable()
    usual = own.send if sending else own.run or theirs.run
    if not (usual if wanted is None else wanted):
        return None
    from aggregate.redaction.redact import Redaction  # its rules need a library that nothing else does

    return Redaction(frozenset(own.allow) | frozenset(theirs.allow))


def _history(project: Project) -> tuple[object, ...]:
    """Return the turns of the configuration, then those of the history's own file."""
    config = project.config
    turns = [
        turn if isinstance(turn, str) else turn.model_dump() for turn in (*config.history, *config.discussion.history)
    ]
    file = find_history_file(project.path) if project.path else None
    return (*turns, *(load_history(file) if file else ()))


def _presets(project: Project) -> ContextPresetManager:
    path = project.path or project.folder / "manual_slop.toml"
    return ContextPresetManager(path, global_config_path())
