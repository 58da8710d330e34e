"""``init`` and ``check``: write the first configuration of a project, and look one through."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from aggregate.base.errors import AggregateError, ConfigError, OutputError
from aggregate.base.request import Amount
from aggregate.cli.asking import budget_option, with_meant
from aggregate.cli.first_config import first_config
from aggregate.cli.options import json_option, new_config_option, quiet_option, scope_options
from aggregate.cli.output import counted, say, write_path, write_result, write_rows
from aggregate.code.syntax import LANGUAGES, LanguageKind
from aggregate.code.views import NOTEBOOK_SUFFIX
from aggregate.project.configuration import nearest_config
from aggregate.project.files import FolderListing, dependency_folders
from aggregate.project.git import append_folders, unignored
from aggregate.project.paths import IgnoreRules
from aggregate.prompt import compose_prompt, count_prompt, open_project, request_for, select_files

_COUNTED = 2000  # files up to which tokens are counted at once; more take as long as a run
_REMARK = "NOTE: "  # what a warning begins with that says what a glob leaves out by design, such as binary files
_BROKEN, _MISTAKEN = 1, 2  # exit codes: something named is not there; not to be used at all


@click.command()
@new_config_option
@click.option(
    "--gitignore/--no-gitignore",
    "ignore",
    default=None,
    help="Add the folders that runs write to .gitignore; by default you are asked on a terminal.",
)
@budget_option(
    "Take all files, and let prompts have at most this many tokens; by default code is shown by its skeleton."
)
def init(config: Path, ignore: bool | None, budget: Amount | None) -> None:
    """Write a commented manual_slop.toml for the project in this folder."""
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
        raise ConfigError("exists already: edit it, or delete it first", path=str(config)) from None
    except OSError as error:
        raise OutputError(f"cannot write {config}: {error.strerror or error}") from error
    write_path(config)
    request = request_for(open_project(config), with_history=False)
    number = sum(not file.problem for file in select_files(request).files)
    size, command = counted(number, "file"), "aggregate run"
    if budget is not None:
        command = 'aggregate "what you are about to do"'
    elif number <= _COUNTED:
        size += f", {count_prompt(compose_prompt(request).prompt).document:,} tokens (o200k)"
    say(f"it takes {size}; next: {command}")
    if ignore is not False and (names := unignored(folder, ("md_gen", "state"))):
        _offer_gitignore(folder, names, is_wanted=ignore is True)


def _offer_gitignore(folder: Path, names: Sequence[str], *, is_wanted: bool) -> None:
    folders = " and ".join(f"{name}/" for name in names)
    if not is_wanted and not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"runs write to {folders}: better add that to .gitignore")
    elif is_wanted or click.confirm(
        f"Runs write to {folders}. Add them to .gitignore?", default=True, err=True
    ):
        append_folders(folder, names)
        say(f"added {folders} to {folder / '.gitignore'}")


@click.command()
@click.argument("configs", nargs=-1, metavar="[CONFIG]...", type=click.Path(path_type=Path))
@scope_options
@json_option
@quiet_option
def check(
    configs: tuple[Path, ...],
    allow_outside: bool | None,
    allow_secrets: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check that all that CONFIG names is there; print what is not, one line each.

    Without CONFIG the nearest manual_slop.toml is checked. Keys and types, files and globs, symbols and slices,
    presets, screenshots and the discussion are looked at, nothing is written and nobody is asked. The exit code is 1
    where something is missing and 2 where a configuration cannot be used.
    """
    problems: dict[str, list[str]] = {}
    code = 0
    for config in configs or (nearest_config(),):
        try:
            sentences = _problems(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
            code = max(code, _BROKEN if sentences else 0)
        except AggregateError as error:
            sentences = [str(error)]
            code = _MISTAKEN
        problems[str(config)] = sentences
    if as_json:
        write_result(json.dumps({"problems": problems}, indent=2))
    else:
        for path, sentences in problems.items():
            prefix = f"{path}: "
            write_rows(*(prefix + sentence.removeprefix(prefix) for sentence in sentences))
            if not sentences and not quiet:
                say(f"{path}: all that it names is there")
    if code:
        click.get_current_context().exit(code)


def _problems(config: Path, *, allow_outside: bool | None, allow_secrets: bool | None) -> list[str]:
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    presets = sorted(project.config.context_presets)
    sentences: dict[str, None] = {}
    for preset in (None, *presets):
        # Without a budget and a task: what these leave out is no mistake.
        request = replace(request_for(project, preset=preset), budget=None, task=None)
        composition = compose_prompt(request)
        rows = [file.row for file in composition.files]
        prefix = f'preset "{preset}": ' if preset else ""
        sentences |= {
            prefix + sentence.removeprefix("ERROR: "): None
            for sentence in with_meant(composition.warnings, rows, request.base_dir)
            if not sentence.startswith(_REMARK)
        }
    return list(sentences)
