"""``init`` writes a project's first configuration; ``check`` reports its mistakes."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import click

from aggregate.base.errors import AggregateError, ConfigError, OutputError
from aggregate.base.task import Amount
from aggregate.base.text import LOCK_FILES
from aggregate.cli.asking import budget_option, with_meant
from aggregate.cli.options import new_config_option, quiet_option, scope_options
from aggregate.cli.output import counted, say, write_path, write_rows
from aggregate.code.syntax import LANGUAGES, LanguageKind
from aggregate.code.views import NOTEBOOK_SUFFIX
from aggregate.project.configuration import CONFIG_NAME, nearest_config
from aggregate.project.files import FolderListing, dependency_folders
from aggregate.project.git import unignored
from aggregate.project.paths import IgnoreRules
from aggregate.prompt import compose_prompt, count_prompt, open_project, request_for, select_files
from aggregate.prompt.document import END

_SURROGATES = re.compile("[\ud800-\udfff]")
_EXAMPLE = 32_000  # tokens of the commented budget: "auto" without a model
_DOCUMENTS = ("README.md", "README.rst", "README.txt", "README")


def first_config(
    name: str,
    files: Sequence[str],
    code_suffixes: Sequence[str],
    leave_out: Sequence[str] = (),
    *,
    budget: Amount | None = None,
) -> str:
    """Return the text of a project's first configuration, with comments.

    ``files`` are relative paths. Code, recognized by ``code_suffixes``, is shown by its skeleton, with one glob per top
    folder and suffix, after the README in full. With a ``budget`` all files are candidates, each shown at most in full.
    ``leave_out`` and lock files are excluded.
    """
    locks = sorted(LOCK_FILES & {PurePosixPath(file).name for file in files})
    itself = [] if budget is None else [f"/{CONFIG_NAME}"]
    tokens = _quoted(budget) if isinstance(budget, str) else f"{budget or _EXAMPLE:_}"
    return _TEMPLATE.format(
        name=_quoted(name),
        paths="\n".join(_skeletons(files, code_suffixes) if budget is None else ['  "**/*",']),
        exclude=f"[{', '.join(map(_quoted, [*itself, *leave_out, *locks]))}]",
        budget=f"{'# ' if budget is None else ''}tokens = {tokens}",
    )


def _skeletons(files: Sequence[str], code_suffixes: Sequence[str]) -> list[str]:
    readme = next((file for file in _DOCUMENTS if file in files), None)
    paths = [f"  {_quoted(readme)},"] if readme else []
    sizes: Counter[tuple[str, str]] = Counter()
    for file in files:
        path = PurePosixPath(file)
        if path.suffix.lower() in code_suffixes and not path.parts[0].startswith("."):
            folder = path.parts[0] if len(path.parts) > 1 else ""
            sizes[folder, path.suffix] += 1
    for folder, suffix in sorted(sizes, key=lambda kind: (kind[0], -sizes[kind], kind[1])):
        escaped = "".join(f"[{char}]" if char in "*?[{" else char for char in folder)
        glob = f"{escaped}/**/*{suffix}" if folder else f"*{suffix}"
        paths.append(f'  {{ path = {_quoted(glob)}, view_mode = "skeleton" }},')
    return paths


def _quoted(text: str) -> str:
    """Return ``text`` as a TOML string, with ``?`` for invalid bytes."""
    return json.dumps(_SURROGATES.sub("?", text), ensure_ascii=False).replace("\x7f", "\\u007f")


_TEMPLATE = """\
# The prompt of this project for a language model. "aggregate run" writes it to a numbered Markdown file.
# For checks and completion in an editor: aggregate schema > manual_slop.schema.json

[project]
name = {name}
# auto: as summary_only says; summarize: a digest of every file; full: every file in its view_mode.
aggregation_strategy = "auto"
summary_only = false
# "beads" adds the tasks of a beads project.
execution_mode = "native"

[output]
# The prompts are <output_dir>/<namespace>_001.md, _002.md, ...
output_dir = "md_gen"

[files]
base_dir = "."
# Paths, globs, or tables. Globs respect .gitignore. view_mode: full, summary, skeleton (no function bodies), outline
# (one line per definition), masked (with ast_mask), custom (with custom_slices), none.
# The entry of a file's own path overrides globs.
paths = [
{paths}
]
# Globs skip these .gitignore patterns. Without git they also skip dependencies, outputs and caches, such as
# node_modules, venv and build.
exclude = {exclude}
# Generated files that globs match, such as lock files and minified scripts: "name" lists them with their sizes,
# "outline" shows one line per definition, "full" uses their view_mode.
generated = "name"

[budget]
# Maximum tokens of a prompt: a number, "32k", or "auto" for a good size for the model. The files most relevant to the
# task ("aggregate run --task ...", or [task] text) fill it. A view_mode limits a file; without one it may be full.
{budget}

[screenshots]
base_dir = "."
paths = []

[send]
# Defaults of "aggregate send" and "aggregate chat".
# provider = "anthropic"
# model = "claude-sonnet-5"

[discussion]
# Turns, oldest first: "text" or {{ role = "User", content = "text" }}. They may also live in manual_slop_history.toml.
history = []
"""
_COUNTED = 2000  # files whose tokens init counts; more would take as long as a run
_MUCH = 60_000  # tokens: the largest "auto" budget, since models overlook details in more
_REMARK = "NOTE: "  # start of a warning about files skipped by globs by design, such as binary ones
_BROKEN, _MISTAKEN = 1, 2  # exit codes: something is missing; the configuration is invalid


@click.command()
@new_config_option
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
@click.argument("configs", nargs=-1, metavar="[CONFIG]...", type=click.Path(path_type=Path))
@scope_options
@quiet_option
def check(
    configs: tuple[Path, ...], allow_outside: bool | None, allow_secrets: bool | None, quiet: bool
) -> None:
    """Check that everything in CONFIG exists; print each problem.

    Without CONFIG, check the nearest manual_slop.toml: keys and types, files and globs, symbols and slices, presets,
    screenshots and the discussion. The exit code is 1 if something is missing, and 2 if a configuration is invalid.
    """
    code = 0
    for config in configs or (nearest_config(),):
        try:
            sentences = _problems(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
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


def _problems(config: Path, *, allow_outside: bool | None, allow_secrets: bool | None) -> list[str]:
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    presets = sorted(project.config.context_presets)
    sentences: dict[str, None] = {}
    for preset in (None, *presets):
        # A budget would hide the problems of omitted files.
        request = replace(request_for(project, preset=preset), budget=None, task=None)
        composition = compose_prompt(request)
        prefix = f'preset "{preset}": ' if preset else ""
        sentences |= {
            prefix + sentence.removeprefix("ERROR: "): None
            for sentence in with_meant(composition.warnings, composition.files, request.base_dir)
            if not sentence.startswith(_REMARK)
        }
    return list(sentences)
