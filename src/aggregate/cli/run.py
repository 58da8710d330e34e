"""``run`` and ``prune``: write a numbered prompt, delete old ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.cli.options import config_option, json_option, redact_option, scope_options
from aggregate.cli.output import say, warn, warn_all, write_path, write_result

if TYPE_CHECKING:
    from aggregate.compose.api import Composition
    from aggregate.tokens.count import PromptTokens

_LARGEST = 8
_SOME_TAKE = 1_000_000
"""Tokens that there surely are models for; beyond, the list of models is asked, which takes a moment to load."""


@click.command()
@config_option
@scope_options
@click.option("--strategy", type=click.Choice(["auto", "summarize", "full"]), help="Render files in this way.")
@click.option("--preset", metavar="NAME", help="Take files and screenshots from this context preset.")
@click.option("--focus", metavar="PATH", multiple=True, help="Show this file in full in a Tier 3 context. Repeatable.")
@click.option("--tier", type=click.IntRange(1, 3), help="Make a context for this tier; only 3 differs.")
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the prompt instead of writing a file.")
@redact_option(sending=False)
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result and errors.")
def run(
    config: Path,
    allow_outside: bool,
    allow_secrets: bool,
    strategy: str | None,
    preset: str | None,
    focus: tuple[str, ...],
    tier: int | None,
    no_history: bool,
    to_stdout: bool,
    redact: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compose the prompt and write it to the next numbered file; print its path."""
    if to_stdout and as_json:
        raise click.UsageError("--stdout and --json exclude each other: take one of them")
    from dataclasses import replace

    from aggregate.chat.request_log import log_written_prompt
    from aggregate.cli.path_arguments import from_here
    from aggregate.cli.progress import progress
    from aggregate.compose.api import compose_prompt
    from aggregate.compose.numbered_output import write_numbered
    from aggregate.compose.project import open_project, redaction_for, request_for

    project = open_project(config, allow_outside=allow_outside or None, allow_secrets=allow_secrets or None)
    focus_files = from_here(focus, project.folder / project.config.files.base_dir)
    request = request_for(
        project, strategy=strategy, preset=preset, focus_files=focus_files, tier=tier, with_history=not no_history
    )
    request = replace(request, redaction=redaction_for(project, sending=False, wanted=redact))
    with progress("Rendering files", hidden=quiet) as bar:
        made = compose_prompt(request, on_start=bar.start, on_done=bar.advance)
    markdown = made.prompt.markdown
    path = (
        None
        if to_stdout
        else write_numbered(request.output_dir, request.namespace, markdown, project=request.written_in)
    )
    if to_stdout:
        write_result(markdown)
    elif path and not as_json:
        write_path(path)
    if quiet and not as_json:
        if path:
            log_written_prompt(path, made.prompt, request)
        return
    from aggregate.tokens.count import count_prompt  # not needed when nobody wants to know

    tokens = count_prompt(made.prompt)
    prefix = log_written_prompt(path, made.prompt, request, tokens=tokens.segments) if path else None
    warnings = [*made.warnings, *_too_large(tokens)]
    if as_json:
        write_result(json.dumps(_report(path, made, tokens, warnings), indent=2))
    if not quiet:
        _tell(made, tokens, warnings)
        if prefix:
            say(prefix.sentence)


@click.command()
@config_option
@click.option("--keep", type=click.IntRange(min=0), required=True, metavar="N", help="Keep so many prompts.")
def prune(config: Path, keep: int) -> None:
    """Delete all but the newest prompts; print what was deleted."""
    from aggregate.compose import numbered_output
    from aggregate.compose.project import open_project, request_for

    request = request_for(open_project(config), with_history=False)
    for path in numbered_output.prune_outputs(
        request.output_dir, request.namespace, keep=keep, project=request.written_in
    ):
        write_path(path)


def _too_large(tokens: "PromptTokens") -> list[str]:
    """Return a warning if no model that is known takes the prompt."""
    if tokens.document <= _SOME_TAKE:
        return []
    from aggregate.clients.context_window import exceeded_window

    window = exceeded_window(tokens.document)
    if window is None:
        return []
    from aggregate.compose.file_stats import largest_folders

    folders = ", ".join(f"{folder} {number:,}" for folder, number in largest_folders(tokens.files))
    return [
        f"the prompt has {tokens.document:,} tokens and the largest known context window {window:,}: "
        f"leave files out or show less of them; aggregate stats lists their sizes, the largest folders are {folders}"
    ]


def _tell(made: "Composition", tokens: "PromptTokens", warnings: list[str]) -> None:
    """Print to standard error what was left out, and the tokens of the document, its sections and largest files."""
    warn_all(warnings, more="--json")
    if not made.records:
        warn("no files: name some under [files] paths in the configuration")
    lines = [f"{tokens.document:>11,} tokens (o200k)"]
    lines += [f"{number:>11,} in {section.value}" for section, number in tokens.sections.items()]
    largest = sorted(tokens.files.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{number:>11,}   {path}" for path, number in largest[:_LARGEST]]
    if len(largest) > _LARGEST:
        rest = sum(number for _, number in largest[_LARGEST:])
        lines.append(f"{rest:>11,}   in {len(largest) - _LARGEST:,} smaller files (--json lists them)")
    say(*lines)


def _report(path: Path | None, made: "Composition", tokens: "PromptTokens", warnings: list[str]) -> dict[str, Any]:
    return {
        "path": str(path),
        "tokens": {
            "encoding": "o200k_base",
            "document": tokens.document,
            "sections": {section.value: number for section, number in tokens.sections.items()},
        },
        "files": [
            {
                "path": record["path"],
                "entry": record["entry"],
                "view_mode": record["view_mode"],
                "auto_aggregate": record["auto_aggregate"],
                "error": record["error"],
                "tokens": tokens.files.get(record["path"], 0),
            }
            for record in made.records
        ],
        "warnings": warnings,
    }
