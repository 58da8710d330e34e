"""``check``: whether all that a configuration names is there, before anybody needs it."""

import json
from dataclasses import replace
from pathlib import Path

import click

from aggregate.base.errors import AggregateError
from aggregate.cli.options import json_option, quiet_option, scope_options
from aggregate.cli.output import say, write_result, write_rows
from aggregate.cli.path_arguments import with_meant
from aggregate.project.configuration import nearest_config
from aggregate.prompt import compose_prompt, open_project, request_for

_REMARK = "NOTE: "
"""What a warning begins with that says what a glob leaves out by design, such as binary files."""
_BROKEN, _MISTAKEN = 1, 2
"""Exit codes: something that is named is not there, and a configuration that cannot be used at all."""


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
    """Return a sentence for each thing that a configuration names and that is not there, or not as it was.

    Raises:
        AggregateError: The configuration cannot be used.
    """
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
