"""``view``, ``languages`` and ``schema``: look at one file, at what is supported, at the configuration's schema."""

import json
import re
from pathlib import Path

import click

from aggregate.cli.output import say, write_result, write_rows


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
@click.option("--lines", "runs", multiple=True, metavar="A-B", help="Show these lines. Repeatable.")
def view(path: Path, mode: str | None, symbols: tuple[str, ...], runs: tuple[str, ...]) -> None:
    """Print one file as a view shows it."""
    from aggregate.errors import SyntaxViewError
    from aggregate.models.view import ViewMode, ViewRequest
    from aggregate.sources.file_content import read_file
    from aggregate.views.table import render

    source = read_file(path)
    if source.error:
        raise SyntaxViewError(f"{source.error}: {path}")
    mask = dict(_symbol(symbol) for symbol in symbols)
    slices = tuple(_lines(run) for run in runs)
    for given, option, needed in ((mask, "--symbol", "masked"), (slices, "--lines", "custom")):
        if given and (mode := mode or needed) != needed:
            raise click.UsageError(f"{option} goes with --mode {needed}")
    request = ViewRequest(str(path), source.text, ViewMode(mode or "skeleton"), mask, slices)
    made = render(request)
    write_result(made.text)
    if made.problems:
        say(*(f"aggregate: {problem.removeprefix('ERROR: ')}" for problem in made.problems))
        raise click.exceptions.Exit(1)


@click.command()
def languages() -> None:
    """List the languages with their suffixes."""
    from aggregate.syntax.languages import LANGUAGES

    width = max(len(language.name) for language in LANGUAGES)
    for language in LANGUAGES:
        write_rows(
            f"{language.name:<{width}}  {language.kind.value}  {' '.join((*language.suffixes, *language.names))}"
        )


@click.command()
def schema() -> None:
    """Print the JSON Schema of manual_slop.toml."""
    from aggregate.config.schema import json_schema

    write_result(json.dumps(json_schema(), indent=2))


def _symbol(option: str) -> tuple[str, str]:
    name, _, shown = option.partition("=")
    return name, shown or "def"


def _lines(option: str) -> dict[str, int]:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", option)
    if match is None:
        raise click.BadParameter(f"{option!r} is no run of lines: write A-B, such as 10-20", param_hint="--lines")
    return {"start_line": int(match[1]), "end_line": int(match[2])}
