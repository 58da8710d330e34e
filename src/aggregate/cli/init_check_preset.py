"""``init``, ``check`` and ``preset``: the project's configuration and its presets."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from aggregate.base.errors import AggregateError, ConfigError, OutputError, PresetError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import Amount
from aggregate.cli.arguments import path_entries
from aggregate.cli.options import (
    FILE,
    PATH,
    AskedProject,
    budget_option,
    config_option,
    flag,
    option,
    quiet_option,
    scope_options,
)
from aggregate.cli.output import counted, say, warn_all, write_path, write_result, write_rows
from aggregate.cli.program import Described
from aggregate.cli.written_prompt import with_meant
from aggregate.code.syntax import LANGUAGES, LanguageKind
from aggregate.code.views import NOTEBOOK_SUFFIX
from aggregate.project.configuration import (
    CONFIG_NAME,
    first_config,
    global_config_path,
    load_config,
    nearest_config,
    unconfigured,
)
from aggregate.project.files import FolderListing, dependency_folders
from aggregate.project.git import unignored
from aggregate.project.paths import IgnoreRules
from aggregate.project.presets import ContextPreset, ContextPresetManager, preset_toml
from aggregate.prompt import AskedViews, compose_prompt, count_prompt, request_for
from aggregate.prompt.asking import open_project
from aggregate.prompt.document import END
from aggregate.prompt.files import select_files

_COUNTED = 2000  # files whose tokens init counts; more would take as long as a run
_MUCH = 60_000  # tokens: the largest "auto" budget, since models overlook details in more
_REMARK = "NOTE: "  # start of a warning about files skipped by globs by design, such as binary ones
_BROKEN, _MISTAKEN = 1, 2  # exit codes: something is missing; the configuration is invalid


@click.command()
@option(
    "-c --config",
    "",
    "The configuration file to write.",
    type=FILE,
    default=Path(CONFIG_NAME),
    show_default=True,
)
@budget_option("Use all files, within this many tokens; by default show code by its skeleton.")
def init(config: Path, budget: Amount | None) -> None:
    """Write a commented manual_slop.toml for this folder."""
    folder = config.parent
    files = FolderListing().files(str(folder))
    exclude = dependency_folders(str(folder), files)
    is_excluded = IgnoreRules().below("", exclude).hides
    own_files = [file for file in files if not is_excluded(file)]
    code = [language for language in LANGUAGES if language.kind is not LanguageKind.DATA]
    suffixes = [*(suffix for language in code for suffix in language.suffixes), NOTEBOOK_SUFFIX]
    text = first_config(folder.resolve().name, own_files, suffixes, exclude, budget=budget)
    try:
        with config.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError("already exists: edit it, or delete it first", path=str(config)) from None
    except OSError as error:
        raise OutputError(f"cannot write {config}: {error.strerror or error}") from error
    write_path(config)
    request = request_for(open_project(config), with_history=False)
    number = sum(not file.problem for file in select_files(request).files)
    size, command = counted(number, "file"), 'aggregate "what you are about to do"'
    if budget is None:
        command += " --budget 32k"
        if number <= _COUNTED:
            tokens = count_prompt(compose_prompt(request).prompt, end=END).document
            size += f", {tokens:,} tokens (o200k)"
            command = "aggregate run" if tokens <= _MUCH else command
    say(f"it matches {size}; next: {command}")
    if names := unignored(folder, ("md_gen", "state")):
        folders = " and ".join(f"{name}/" for name in names)
        say(f"runs write to {folders}: add that to .gitignore")


@click.command()
@click.argument("configs", nargs=-1, metavar="[CONFIG]...", type=PATH)
@scope_options
@quiet_option
def check(configs: tuple[Path, ...], quiet: bool, **scope: bool | None) -> None:
    """Check that everything in CONFIG exists; print each problem.

    Without CONFIG, check the nearest manual_slop.toml: keys and types, files and globs, symbols and slices, presets,
    screenshots and the discussion. The exit code is 1 if something is missing, and 2 if a configuration is invalid.
    """
    code = 0
    for config in configs or (nearest_config(),):
        try:
            sentences = _problems(AskedProject(config, **scope))
            code = max(code, _BROKEN if sentences else 0)
        except AggregateError as error:
            sentences = [str(error)]
            code = _MISTAKEN
        prefix = f"{config}: "
        write_rows(*(prefix + sentence.removeprefix(prefix) for sentence in sentences))
        if not sentences and not quiet:
            say(f"{config}: everything exists")
    if code:
        click.get_current_context().exit(code)


def _problems(asked: AskedProject) -> list[str]:
    project = asked.configured()
    presets = sorted(project.config.context_presets)
    sentences: dict[str, None] = {}
    for preset in (None, *presets):
        # A budget would hide the problems of omitted files.
        request = replace(
            request_for(project, views=AskedViews(preset=preset)), budget=None, task=None
        )
        composition = compose_prompt(request)
        prefix = f'preset "{preset}": ' if preset else ""
        sentences |= {
            prefix + sentence.removeprefix("ERROR: "): None
            for sentence in with_meant(composition.warnings, composition.files, request.base_dir)
            if not sentence.startswith(_REMARK)
        }
    return list(sentences)


@click.group(cls=Described)
def preset() -> None:
    """List, show, save, apply and delete context presets.

    A preset names a set of files and screenshots.
    """


@preset.command("list")
@config_option
def list_(config: Path) -> None:
    """List the presets with their scope, number of files and description."""
    manager = _manager(config)
    presets, warnings = manager.reload_context_presets()
    scopes = manager.scopes()
    for name, preset in presets.items():
        columns = (name, scopes[name], counted(len(preset.files), "file"), preset.description)
        write_rows("\t".join(columns).rstrip())
    warn_all(warnings)


@preset.command()
@click.argument("name")
@config_option
def show(name: str, config: Path) -> None:
    """Print a preset as TOML."""
    write_result(preset_toml(_manager(config).get(name)))


@preset.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
@config_option
@budget_option("Limit the tokens of prompts with this preset.")
@option("--description", "TEXT", "Describe the preset in one line.", default="")
@flag("--global is_global", "Store the preset for all projects.")
@flag("--force", "Overwrite an existing preset of this name.")
def save(
    name: str,
    paths: tuple[str, ...],
    config: Path,
    is_global: bool,
    force: bool,
    **values: Any,  # noqa: ANN401 - as click passes them
) -> None:
    """Save PATHS, or the project's current files and screenshots, as NAME."""
    manager = _manager(config)
    scope = "global" if is_global else "project"
    if not force and name in manager.names(scope):
        raise PresetError(f'the preset "{name}" already exists: add --force to overwrite it')
    screenshots: list[str] = []
    if paths:
        base_dir = config.parent
        if config.exists():
            base_dir /= load_config(config).config.files.base_dir
        files = [FileItem(path) for path in path_entries(paths, base_dir)]
    else:
        request = request_for(open_project(config), with_history=False)
        files = [entry.item for entry in request.entries]
        screenshots = list(request.screenshots)
    preset = ContextPreset(name, files, screenshots, **values)
    manager.save_preset(preset, scope=scope)
    present = request_for(
        open_project(config if config.exists() else unconfigured(config)), with_history=False
    )
    chosen = select_files(replace(present, entries=tuple(map(Entry, preset.files)))).files
    number = sum(not file.problem for file in chosen)  # that the entries match at present
    say(f'saved "{name}": {counted(number, "file")}')
    warnings = manager.reload_context_presets()[1]
    warn_all([warning for warning in warnings if warning.startswith(f'preset "{name}": ')])


@preset.command()
@click.argument("name")
@config_option
def apply(name: str, config: Path) -> None:
    """Make NAME the active preset of the project."""
    preset = _manager(config).apply_preset(name)
    say(f'"{name}" is active: {counted(len(preset.files), "file")}')


@preset.command()
@click.argument("name")
@config_option
def delete(name: str, config: Path) -> None:
    """Delete NAME."""
    _manager(config).delete_preset(name)
    say(f'deleted "{name}"')


def _manager(config: Path) -> ContextPresetManager:
    return ContextPresetManager(config, global_config_path())
