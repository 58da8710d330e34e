"""``results``: merge and compile what producers wrote into files."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from aggregate.agents.results import (
    CompilationContext,
    LabelledOutput,
    compile_results,
    merge_outputs,
)
from aggregate.agents.subagents import envelope
from aggregate.base.errors import ConfigError
from aggregate.base.json_forms import json_text
from aggregate.cli.output import warn, write_result
from aggregate.cli.program import Described
from aggregate.project.files import read_file
from aggregate.prompt.results import result_text
from aggregate.prompt.sections import one_line, results_segments

_FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
_TEXT = click.option(
    "--text/--json",
    "as_text",
    default=False,
    help="Print the text that a prompt would show, or JSON.  [default: json]",
)


@click.group(cls=Described)
def results() -> None:
    """Fold the results of many producers, one file each, into one."""


@results.command()
@_FILES
@click.option(
    "--strategy",
    type=click.Choice(["concat", "json", "merge", "first", "last", "custom"]),
    default="concat",
    show_default=True,
    help="Make one value of the results in this way.",
)
@click.option(
    "--function",
    metavar="CODE",
    help="Use this function for custom: a Python expression or lambda, or a JavaScript function.",
)
@click.option(
    "--label-from", type=click.Choice(["name", "stem"]), help="Label each result by its file."
)
@_TEXT
def merge(
    files: tuple[Path, ...],
    strategy: str,
    function: str | None,
    label_from: str | None,
    as_text: bool,
) -> None:
    """Merge FILES in their order; .json files are read as JSON, others as text.

    A file that cannot be read counts as a failed result and is listed. The exit code is 1 if all failed.
    """
    if (strategy == "custom") != (function is not None):
        raise click.UsageError("--function goes with --strategy custom, and custom needs one")
    outputs = []
    for file in files:
        output, error = _read(file)
        label = getattr(file, label_from) if label_from else None
        outputs.append(LabelledOutput(output, label, str(file), error or None))
    result = merge_outputs(outputs, strategy, custom_function=function)
    data = json_text(envelope(result), indent=2)
    write_result((result_text(result) or "\n") if as_text else data)
    _end((*result.errors, *result.warnings), is_failed=result.failed == len(outputs))


@results.command("compile")
@_FILES
@click.option("--prompt", default="", help="Say what the user asked for.")
@click.option(
    "--timestamp", metavar="TIME", help="Say when the analysis ran, as ISO 8601; now by default."
)
@_TEXT
def compile_(files: tuple[Path, ...], prompt: str, timestamp: str | None, as_text: bool) -> None:
    """Compile FILES, each the JSON result of the tool that it is named after, into one report by category.

    A file that cannot be read counts as a failed result and is listed. The exit code is 1 if all failed.
    """
    try:
        time = datetime.fromisoformat(timestamp) if timestamp else datetime.now(UTC)
    except ValueError:
        raise ConfigError(
            f"--timestamp: {timestamp!r} is no ISO 8601 time: write one such as 2026-01-31T10:30:00Z"
        ) from None
    outputs: list[tuple[str, Any]] = []
    unread = []
    for file in files:
        output, error = _read(file)
        if error:
            output = {"success": False, "error": error}
            unread.append(f"{file}: {error}")
        outputs.append((file.stem, output))
    context = CompilationContext(prompt, [file.stem for file in files], time)
    report = compile_results(outputs, context)
    write_result(results_segments(report)[1].text if as_text else json_text(report, indent=2))
    _end(unread, is_failed=len(unread) == len(files))


def _read(file: Path) -> tuple[Any, str]:
    source = read_file(file)
    if source.error or file.suffix.lower() != ".json":
        return source.text, source.error
    try:
        return json.loads(source.text), ""
    except (ValueError, RecursionError) as error:
        return None, f"is no valid JSON: {error}"


def _end(warnings: Iterable[str], *, is_failed: bool) -> None:
    for sentence in warnings:
        warn(one_line(sentence))
    if is_failed:
        raise click.exceptions.Exit(1)
