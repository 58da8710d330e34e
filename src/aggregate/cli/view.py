"""``view``: look at one file."""

import re
from pathlib import Path

import click

from aggregate.base.errors import DeadlineError, SyntaxViewError
from aggregate.base.values import ViewMode, ViewRequest
from aggregate.cli.output import say, write_result
from aggregate.cli.path_arguments import existing_meant
from aggregate.code.views import view_of
from aggregate.project.files import read_file
from aggregate.prompt import missing_grammar, missing_grammar_notes


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["full", "summary", "skeleton", "outline", "masked", "custom", "none"]),
    help="Show the file in this view; by default masked with --symbol, custom with --lines, else skeleton.",
)
@click.option(
    "--symbol",
    "symbols",
    multiple=True,
    metavar="NAME[=sig]",
    help="Show this symbol, in full or with =sig by its signature. Repeatable.",
)
@click.option(
    "--lines", "line_ranges", multiple=True, metavar="A-B", help="Show these lines. Repeatable."
)
def view(
    path: Path, mode: str | None, symbols: tuple[str, ...], line_ranges: tuple[str, ...]
) -> None:
    """Print one file as a view shows it."""
    source = read_file(path)
    if source.error:
        raise SyntaxViewError(f"{source.error}: {path}{existing_meant(str(path), Path())}")
    mask = dict(_symbol(symbol) for symbol in symbols)
    slices = tuple(_line_range(lines) for lines in line_ranges)
    request = ViewRequest(str(path), source.text, _view_mode(mode, mask, slices), mask, slices)
    try:
        rendered = view_of(request)
    except DeadlineError as error:
        raise SyntaxViewError(f"{path}: {error}") from None
    write_result(_without(rendered.problems, rendered.text))
    if language := missing_grammar(request):
        notes = missing_grammar_notes([(request.path, language)])
        say(*(f"aggregate: {file}: {problem}" for file, problem in notes))
    if rendered.problems:
        say(*(f"aggregate: {problem.removeprefix('ERROR: ')}" for problem in rendered.problems))
        raise click.exceptions.Exit(1)


def _without(problems: tuple[str, ...], text: str) -> str:
    """Return a view without its problems, which are said as errors."""
    if not problems:
        return text
    lines = [line for line in text.split("\n") if line.removeprefix("NOTE: ") not in problems]
    return "\n".join(lines).strip("\n")


def _view_mode(
    mode: str | None, mask: dict[str, str], slices: tuple[dict[str, int], ...]
) -> ViewMode:
    """Return the view that was named, or that the other options imply.

    Raises:
        UsageError: They need another one.
    """
    for values, option, needed in ((mask, "--symbol", "masked"), (slices, "--lines", "custom")):
        if not values:
            continue
        mode = mode or needed
        if mode != needed:
            raise click.UsageError(f"{option} goes with --mode {needed}")
    return ViewMode(mode or "skeleton")


def _symbol(option: str) -> tuple[str, str]:
    name, _, shows = option.partition("=")
    return name, shows or "def"


def _line_range(option: str) -> dict[str, int]:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", option)
    if match is None:
        raise click.BadParameter(
            f"{option!r} is no run of lines: write A-B, such as 10-20", param_hint="--lines"
        )
    return {"start_line": int(match[1]), "end_line": int(match[2])}
