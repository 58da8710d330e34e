"""``run``: compose the prompt and write it to a numbered file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.cli.asking import task_options
from aggregate.cli.options import (
    SectionedCommand,
    cache_options,
    config_option,
    discussion_option,
    generated_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
    timings_data,
    timings_option,
)
from aggregate.cli.output import (
    progress,
    say,
    warn,
    warn_all,
    write_path,
    write_pieces,
    write_result,
)
from aggregate.cli.run_report import RunArguments, print_report, report_data, report_warnings
from aggregate.cli.termination import orderly_termination
from aggregate.project.index import Index, open_index
from aggregate.prompt import (
    Composition,
    Request,
    compose_prompt,
    for_reader,
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
def run(**options: Any) -> None:  # noqa: ANN401 - as click passes them
    """Compose the prompt and write it to the next numbered file; print its path.

    A TASK says which files matter, and with a budget these are shown as far as they fit:

      aggregate run "fix the timeout in the retry loop" --budget 32k

    A folder without a configuration stands for all files in it that git would take.
    """
    asked = RunArguments(**options)
    _refuse_contradictions(
        {"--stdout": asked.to_stdout, "--explain": asked.explain},
        {"--stdout": asked.to_stdout, "--json": asked.as_json},
        {"--stdout": asked.to_stdout, "--copy": asked.copies},
        {"--stdout": asked.to_stdout, "--watch": asked.watches},
        {"--explain": asked.explain, "--copy": asked.copies},
        {"--explain": asked.explain, "--watch": asked.watches},
    )
    asked.task_named  # noqa: B018 - a mistake in it is told before one in the configuration
    index = open_index(use=not asked.no_cache, verify=asked.verify)
    if asked.watches:
        # What watches folders takes 20 ms to load.
        from aggregate.cli.watched_run import watch_run

        with index:
            watch_run(asked, index)
        return
    request = asked.request(asked.open())
    path: Path | None = None
    with index:  # an interrupted run keeps what it has found out
        if asked.explain:
            _explain(asked, request, index)
        else:
            path = _compose(asked, request, index)
    if path and asked.copies:
        from aggregate.cli.clipboard import copy_to_clipboard

        how = copy_to_clipboard(path.read_bytes())
        if not asked.quiet:
            say(how)
    if index.warning and not asked.quiet:
        warn(index.warning)


def _refuse_contradictions(*pairs: Mapping[str, bool]) -> None:
    for pair in pairs:
        if all(pair.values()):
            raise click.UsageError(f"{' and '.join(pair)} exclude each other: take one of them")


def _compose(asked: RunArguments, request: Request, index: Index) -> Path | None:
    """Write the prompt with its account, and tell of it; return its path if it has one."""
    recorder = counter = tokens = None
    if request.is_audited and not asked.to_stdout:
        from aggregate.sending import AuditRecorder

        recorder = AuditRecorder(request)
    if asked.as_json or not asked.quiet or recorder:
        # A quiet run tells of no tokens, and starts without what counts them.
        from aggregate.prompt import PromptTokens, SegmentCounter

        counter = SegmentCounter(index)
    meter = PromptMeter(counter)
    with orderly_termination(), progress("Rendering files", hidden=asked.quiet) as bar:
        stream = stream_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
        pieces = meter.pieces(recorder.watch(stream) if recorder else stream)
        if asked.to_stdout:
            # A line break more could be a token more than the budget.
            write_pieces(pieces, exactly=request.budget is not None)
            path = None
        else:
            path = write_numbered(
                request.output_dir, request.namespace, pieces, project=request.written_in
            )
    if path and not asked.as_json:
        write_path(path)
    if counter:
        tokens = PromptTokens.of(meter.places, meter.counts())
    if path and tokens and recorder:
        recorder.write(path, stream, tokens)
    _report(asked, path, stream, meter, tokens, request)
    index.flush()
    return path


def _explain(asked: RunArguments, request: Request, index: Index) -> None:
    from aggregate.cli.explain import print_audit
    from aggregate.prompt import audit_data, audit_of, count_prompt

    if request.task is None and request.budget is None:
        raise click.UsageError(
            "--explain says what a task or a budget decides: add --task or --budget"
        )
    with orderly_termination(), progress("Rendering files", hidden=asked.quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    audit = audit_of(request, composition, count_prompt(composition.prompt, index=index))
    index.flush()
    if not asked.quiet:
        warn_all(for_reader(composition.warnings), more="--json")
    if asked.as_json:
        write_result(json.dumps(audit_data(audit), indent=2))
    else:
        print_audit(audit)


def _report(
    asked: RunArguments,
    path: Path | None,
    stream: Composition,
    meter: PromptMeter,
    tokens: "PromptTokens | None",
    request: Request,
) -> None:
    segments = tokens.segments if tokens else ()
    prefix = log_written_prompt(path, meter.fingerprint(segments), request) if path else None
    if tokens is None or (asked.quiet and not asked.as_json):
        return
    warnings = report_warnings(stream, tokens, request.base_dir)
    if asked.as_json:
        data = report_data(path, stream, tokens, warnings) | timings_data()
        write_result(json.dumps(data, indent=2))
    if not asked.quiet:
        print_report(stream, tokens, warnings)
        if prefix:
            say(prefix.sentence)
