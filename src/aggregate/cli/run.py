"""``run`` and ``prune``: write a numbered prompt, delete old ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.cli.options import config_option, json_option, redact_option

if TYPE_CHECKING:
    from aggregate.app import Composition
    from aggregate.tokens.count import PromptTokens

_LARGEST = 8


@click.command()
@config_option
@click.option("--strategy", type=click.Choice(["auto", "summarize", "full"]), help="How files are rendered.")
@click.option("--preset", metavar="NAME", help="Take files and screenshots from this context preset.")
@click.option("--focus", metavar="PATH", multiple=True, help="Show this file in full in a Tier 3 context. Repeatable.")
@click.option("--tier", type=click.IntRange(1, 3), help="3 makes a Tier 3 context.")
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the prompt instead of writing a file.")
@redact_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result and errors.")
def run(
    config: Path,
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

    from aggregate.app import compose_prompt
    from aggregate.cli.progress import progress
    from aggregate.compose.journal import record_run
    from aggregate.compose.numbering import write_numbered
    from aggregate.project import open_project, redaction_for, request_for
    from aggregate.tokens.count import count_prompt

    project = open_project(config)
    request = request_for(
        project, strategy=strategy, preset=preset, focus_files=focus, tier=tier, with_history=not no_history
    )
    request = replace(request, redaction=redaction_for(project, sending=False, wanted=redact))
    with progress("Rendering files", hidden=quiet) as bar:
        made = compose_prompt(request, on_start=bar.start, on_done=bar.advance)
    markdown = made.prompt.markdown
    path = None if to_stdout else write_numbered(request.output_dir, request.namespace, markdown)
    if to_stdout:
        click.echo(markdown, nl=False)
    elif not as_json:
        click.echo(path)
    if quiet and not as_json:
        if path:
            record_run(path, made.prompt, request)
        return
    tokens = count_prompt(made.prompt)
    prefix = record_run(path, made.prompt, request, tokens=tokens.segments) if path else None
    if as_json:
        click.echo(json.dumps(_report(path, made, tokens), indent=2))
    if not quiet:
        _tell(made, tokens)
        if prefix:
            click.echo(prefix.sentence, err=True)


@click.command()
@config_option
@click.option("--keep", type=click.IntRange(min=0), required=True, metavar="N", help="How many prompts to keep.")
def prune(config: Path, keep: int) -> None:
    """Delete all but the newest prompts; print what was deleted."""
    from aggregate.compose import numbering
    from aggregate.project import open_project, request_for

    request = request_for(open_project(config), with_history=False)
    for path in numbering.prune(request.output_dir, request.namespace, keep=keep):
        click.echo(path)


def _tell(made: "Composition", tokens: "PromptTokens") -> None:
    """Print to standard error what was left out, and the tokens of the document, its sections and largest files."""
    for warning in made.warnings:
        click.echo(f"warning: {warning}", err=True)
    if not made.records:
        click.echo("warning: no files: name some under [files] paths in the configuration", err=True)
    lines = [f"{tokens.document:>11,} tokens (o200k)"]
    lines += [f"{number:>11,} {section.value}" for section, number in tokens.sections.items()]
    largest = sorted(tokens.files.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{number:>11,}   {path}" for path, number in largest[:_LARGEST]]
    if len(largest) > _LARGEST:
        rest = sum(number for _, number in largest[_LARGEST:])
        lines.append(f"{rest:>11,}   in {len(largest) - _LARGEST:,} smaller files (--json lists them)")
    click.echo("\n".join(lines), err=True)


def _report(path: Path | None, made: "Composition", tokens: "PromptTokens") -> dict[str, Any]:
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
        "warnings": list(made.warnings),
    }
