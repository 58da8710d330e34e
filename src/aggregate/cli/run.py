"""``run``: compose the prompt and write it to a numbered file."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from aggregate.chat.prompt_meter import PromptMeter
from aggregate.chat.request_log import log_written_prompt
from aggregate.cli import lazy
from aggregate.cli.options import (
    cache_options,
    config_option,
    generated_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import say, warn, write_path, write_pieces, write_result
from aggregate.cli.path_arguments import from_here
from aggregate.cli.progress import progress
from aggregate.cli.run_report import print_report, report_data, report_warnings
from aggregate.cli.termination import orderly_termination
from aggregate.cli.timings import timings_data, timings_option
from aggregate.compose.api import stream_prompt
from aggregate.compose.assemble import ComposedPrompt
from aggregate.compose.numbered_output import write_numbered
from aggregate.compose.project import open_project, redaction_for, request_for
from aggregate.compose.request import Request
from aggregate.index.store import Index, open_index


@click.command()
@config_option
@scope_options
@click.option(
    "--strategy",
    type=click.Choice(["auto", "summarize", "full"]),
    help="Render files in this way; by default as the configuration says, else auto.",
)
@click.option(
    "--preset",
    metavar="NAME",
    help="Take files and screenshots from this context preset; by default from the one that is active, if any.",
)
@click.option(
    "--focus",
    metavar="PATH",
    multiple=True,
    help="Show this file in full in a Tier 3 context. Repeatable.",
)
@click.option(
    "--tier", type=click.IntRange(1, 3), help="Make a context for this tier; only 3 differs."
)
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@click.option(
    "--stdout", "to_stdout", is_flag=True, help="Print the prompt instead of writing a file."
)
@generated_option
@redact_option(sending=False)
@cache_options
@timings_option
@json_option
@quiet_option
def run(
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    strategy: str | None,
    preset: str | None,
    focus: tuple[str, ...],
    tier: int | None,
    no_history: bool,
    to_stdout: bool,
    generated: str | None,
    redact: bool | None,
    no_cache: bool,
    verify: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compose the prompt and write it to the next numbered file; print its path."""
    if to_stdout and as_json:
        raise click.UsageError("--stdout and --json exclude each other: take one of them")
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    focus_files = from_here(focus, project.folder / project.config.files.base_dir)
    request = request_for(
        project,
        strategy=strategy,
        preset=preset,
        focus_files=focus_files,
        tier=tier,
        with_history=not no_history,
        generated=generated,
    )
    request = replace(request, redaction=redaction_for(project, sending=False, wanted=redact))
    index = open_index(use=not no_cache, verify=verify)
    meter = PromptMeter(lazy.SegmentCounter(index) if as_json or not quiet else None)
    with orderly_termination(), progress("Rendering files", hidden=quiet) as bar:
        stream = stream_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
        path = _write(request, meter.pieces(stream), to_stdout=to_stdout)
    if path and not as_json:
        write_path(path)
    _report(path, stream, meter, request, index, as_json=as_json, quiet=quiet)
    index.flush()
    if index.warning and not quiet:
        warn(index.warning)


def _report(
    path: Path | None,
    stream: ComposedPrompt,
    meter: PromptMeter,
    request: Request,
    index: Index,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Record the prompt that was written, and tell of it what was asked for."""
    if quiet and not as_json:
        if path:
            log_written_prompt(path, meter.fingerprint(), request)
        return
    tokens = lazy.PromptTokens.of(meter.places, meter.counts())
    prefix = log_written_prompt(path, meter.fingerprint(tokens.segments), request) if path else None
    warnings = report_warnings(stream, tokens, index)
    if as_json:
        data = report_data(path, stream, tokens, warnings) | timings_data()
        write_result(json.dumps(data, indent=2))
    if not quiet:
        print_report(stream, tokens, warnings)
        if prefix:
            say(prefix.sentence)


def _write(request: Request, pieces: Iterable[bytes], *, to_stdout: bool) -> Path | None:
    """Write the prompt to standard output, or to the next numbered file, whose path is returned."""
    if to_stdout:
        write_pieces(pieces)
        return None
    return write_numbered(request.output_dir, request.namespace, pieces, project=request.written_in)
