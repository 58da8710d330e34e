"""``run``: compose the prompt and write it to a numbered file."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.base.values import Amount
from aggregate.cli import lazy
from aggregate.cli.asking import read_task, task_argument, task_options, typed_places
from aggregate.cli.opened_project import KEEP, open_asked_project
from aggregate.cli.options import (
    cache_options,
    config_option,
    discussion_option,
    generated_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import say, warn, warn_all, write_path, write_pieces, write_result
from aggregate.cli.progress import progress
from aggregate.cli.run_report import print_report, report_data, report_warnings
from aggregate.cli.sections import SectionedCommand
from aggregate.cli.termination import orderly_termination
from aggregate.cli.timings import timings_data, timings_option
from aggregate.project.configuration import Project
from aggregate.project.index import Index, open_index
from aggregate.prompt import (
    ComposedPrompt,
    Request,
    compose_prompt,
    for_reader,
    request_for,
    stream_prompt,
    write_numbered,
)
from aggregate.sending import PromptMeter, log_written_prompt

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens


@click.command(cls=SectionedCommand)
@task_options
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
    "--tier", type=click.IntRange(1, 3), help="Make a context for this tier; only 3 differs."
)
@discussion_option("Show what was said", "one that is configured")
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@click.option(
    "--stdout", "to_stdout", is_flag=True, help="Print the prompt instead of writing a file."
)
@click.option("--copy", "copies", is_flag=True, help="Put the prompt onto the clipboard too.")
@click.option(
    "--watch",
    "watches",
    is_flag=True,
    help="Write the next prompt whenever something that counts has changed, until interrupted.",
)
@generated_option
@redact_option(sending=False)
@cache_options
@timings_option
@json_option
@quiet_option
def run(
    sentence: tuple[str, ...],
    task: str | None,
    budget: Amount | None,
    focus: tuple[str, ...],
    symbol: tuple[str, ...],
    since: str,
    explain: bool,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    strategy: str | None,
    preset: str | None,
    tier: int | None,
    discussion: str,
    no_history: bool,
    to_stdout: bool,
    copies: bool,
    watches: bool,
    generated: str | None,
    redact: bool | None,
    no_cache: bool,
    verify: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compose the prompt and write it to the next numbered file; print its path.

    A TASK says which files matter, and with a budget these are shown as far as they fit:

      aggregate run "fix the timeout in the retry loop" --budget 32k

    A folder without a configuration stands for all files in it that git would take.
    """
    _refuse_contradictions(
        {"--stdout": to_stdout, "--explain": explain},
        {"--stdout": to_stdout, "--json": as_json},
        {"--stdout": to_stdout, "--copy": copies},
        {"--stdout": to_stdout, "--watch": watches},
        {"--explain": explain, "--copy": copies},
        {"--explain": explain, "--watch": watches},
    )
    asked = read_task(task_argument(sentence, task), symbols=symbol, since=since)

    was_open: list[Path] = []  # what is said of the folder is said once

    def open_again() -> Project:
        project, bare = open_asked_project(
            config,
            is_asked=asked is not None or budget is not None,
            allow_outside=allow_outside,
            allow_secrets=allow_secrets,
        )
        if bare and not quiet and not was_open:
            say(KEEP)
        was_open.append(project.folder)
        return project

    def request_again(project: Project) -> Request:
        return request_for(
            project,
            strategy=strategy,
            preset=preset,
            focus_files=typed_places(focus, project.folder / project.config.files.base_dir),
            tier=tier,
            with_history=not no_history,
            discussion=discussion or None,
            generated=generated,
            task=asked,
            budget=budget,
            redact=redact,
        )

    index = open_index(use=not no_cache, verify=verify)
    if watches:
        again = lazy.AskedAgain(open_again, request_again)
        with index:
            lazy.watch_run(again, index, as_json=as_json, quiet=quiet, copies=copies)
        return
    request = request_again(open_again())
    path: Path | None = None
    with index:  # an interrupted run keeps what it has found out
        if explain:
            _explain(request, index, as_json=as_json, quiet=quiet)
        else:
            path = _compose(request, index, to_stdout=to_stdout, as_json=as_json, quiet=quiet)
    if path and copies:
        how = lazy.copy_to_clipboard(path.read_bytes())
        if not quiet:
            say(how)
    if index.warning and not quiet:
        warn(index.warning)


def _refuse_contradictions(*pairs: Mapping[str, bool]) -> None:
    """Refuse the first pair of options that were both given.

    Raises:
        UsageError: There is one.
    """
    for pair in pairs:
        if all(pair.values()):
            raise click.UsageError(f"{' and '.join(pair)} exclude each other: take one of them")


def _compose(
    request: Request, index: Index, *, to_stdout: bool, as_json: bool, quiet: bool
) -> Path | None:
    """Write the prompt with its account, and tell of it; return its path if it has one."""
    recorder = lazy.AuditRecorder(request) if request.is_audited and not to_stdout else None
    is_counted = as_json or not quiet or recorder is not None
    meter = PromptMeter(lazy.SegmentCounter(index) if is_counted else None)
    with orderly_termination(), progress("Rendering files", hidden=quiet) as bar:
        stream = stream_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
        path = _write(
            request,
            meter.pieces(recorder.watch(stream) if recorder else stream),
            to_stdout=to_stdout,
        )
    if path and not as_json:
        write_path(path)
    tokens = lazy.PromptTokens.of(meter.places, meter.counts()) if is_counted else None
    if path and tokens and recorder:
        recorder.write(path, stream, tokens)
    _report(path, stream, meter, tokens, request, as_json=as_json, quiet=quiet)
    index.flush()
    return path


def _explain(request: Request, index: Index, *, as_json: bool, quiet: bool) -> None:
    """Print what would be shown of each file, and write nothing (rule A-3).

    Raises:
        UsageError: Neither a task nor a budget is named, so that nothing was decided.
    """
    if request.task is None and request.budget is None:
        raise click.UsageError(
            "--explain says what a task or a budget decides: add --task or --budget"
        )
    with orderly_termination(), progress("Rendering files", hidden=quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    audit = lazy.audit_of(request, composition, lazy.count_prompt(composition.prompt, index=index))
    index.flush()
    if not quiet:
        warn_all(for_reader(composition.warnings), more="--json")
    if as_json:
        write_result(json.dumps(lazy.audit_data(audit), indent=2))
    else:
        lazy.print_audit(audit)


def _report(
    path: Path | None,
    stream: ComposedPrompt,
    meter: PromptMeter,
    tokens: "PromptTokens | None",
    request: Request,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Record the prompt that was written, and tell of it what was asked for."""
    if tokens is None or (quiet and not as_json):
        if path:
            log_written_prompt(path, meter.fingerprint(tokens.segments if tokens else ()), request)
        return
    prefix = log_written_prompt(path, meter.fingerprint(tokens.segments), request) if path else None
    warnings = report_warnings(stream, tokens, request.base_dir)
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
        # A line break more could be a token more than the budget.
        write_pieces(pieces, exactly=request.budget is not None)
        return None
    return write_numbered(request.output_dir, request.namespace, pieces, project=request.written_in)
