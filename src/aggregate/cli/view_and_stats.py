"""``view`` shows one file, ``stats`` the sizes of all files."""

import re
from collections.abc import Iterable, Sequence
from operator import add
from pathlib import Path, PurePosixPath
from typing import Any

import click
from rich.cells import cell_len

from aggregate.base.errors import DeadlineError, SyntaxViewError
from aggregate.base.files import ViewMode, ViewRequest
from aggregate.base.messages import fitted
from aggregate.base.text import printable
from aggregate.cli import options, output
from aggregate.cli.arguments import existing_meant, open_asked_project
from aggregate.cli.options import AskedProject, option
from aggregate.cli.replay_recording import Recording
from aggregate.code.views import view_of
from aggregate.project.files import read_file
from aggregate.project.index import open_index
from aggregate.prompt import AskedViews, request_for
from aggregate.prompt.asking import for_reader
from aggregate.prompt.files import missing_grammars
from aggregate.prompt.files.file_sizes import FileSizes, measure_files


@click.command()
@click.argument("path", type=options.PATH)
@option(
    "--mode",
    "",
    "Show the file in this view; by default masked with --symbol, custom with --lines, else skeleton.",
    type=click.Choice(["full", "summary", "skeleton", "outline", "masked", "custom", "none"]),
)
@option(
    "--symbol symbols",
    "NAME[=sig]",
    "Show this symbol, in full or with =sig by its signature. Repeatable.",
    multiple=True,
)
@option("--lines", "A-B", "Show these lines. Repeatable.", multiple=True)
def view(path: Path, mode: str | None, symbols: tuple[str, ...], lines: tuple[str, ...]) -> None:
    """Print a view of one file."""
    source = read_file(path)
    if source.error:
        raise SyntaxViewError(f"{source.error}: {path}{existing_meant(str(path), Path())}")
    for values, name, needed in ((symbols, "--symbol", "masked"), (lines, "--lines", "custom")):
        mode = mode or (needed if values else None)
        if values and mode != needed:
            raise click.UsageError(f"{name} needs --mode {needed}")
    pairs = (symbol.partition("=") for symbol in symbols)
    mask = {name: part or "def" for name, _, part in pairs}
    slices = tuple(map(_line_range, lines))
    request = ViewRequest(str(path), source.text, ViewMode(mode or "skeleton"), mask, slices)
    try:
        rendered = view_of(request)
    except DeadlineError as error:
        raise SyntaxViewError(f"{path}: {error}") from None
    text, problems = rendered.text, rendered.problems
    if problems:  # reported as errors instead
        rest = (line for line in text.split("\n") if line.removeprefix("NOTE: ") not in problems)
        text = "\n".join(rest).strip("\n")
    output.write_result(text)
    output.say(*(f"aggregate: {note}" for note in missing_grammars([request])))
    output.say(*(f"aggregate: {problem.removeprefix('ERROR: ')}" for problem in problems))
    if problems:
        raise click.exceptions.Exit(1)


def _line_range(option: str) -> dict[str, int]:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", option)
    if match is None:
        message = f"{option!r} is not a range of lines: write A-B, such as 10-20"
        raise click.BadParameter(message, param_hint="--lines")
    return {"start_line": int(match[1]), "end_line": int(match[2])}


@click.command()
@options.config_option
@options.scope_options
@options.preset_option
@options.generated_option
@options.cache_options
@options.json_option
def stats(
    preset: str | None,
    generated: str | None,
    no_cache: bool,
    verify: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - as click passes them
) -> None:
    """Show the files by folder: lines, definitions, tokens in each view."""
    recording = Recording(click.get_current_context().obj)
    project = open_asked_project(AskedProject(**values))
    request = request_for(
        project, views=AskedViews(preset=preset, generated=generated), with_history=False
    )
    recording.begin(request, counts=False)
    with (
        open_index(use=not no_cache, verify=verify) as index,
        output.progress("Measuring files", hidden=False) as bar,
    ):
        sizes = measure_files(request, index=index, on_start=bar.start, on_done=bar.advance)
    if as_json:
        output.write_json([_data(file) for file in sizes])
    else:
        _print_sizes(sizes, request.base_dir)
    if index.is_used and not verify:
        recording.keep()


def _print_sizes(sizes: Sequence[FileSizes], base_dir: Path) -> None:
    warnings = []
    for file in sizes:
        hint = existing_meant(file.path, base_dir) if file.error else ""
        if sentence := file.error + hint or file.problem:
            warnings.append(f"{file.path}: {sentence}")
    output.warn_all(for_reader(warnings), more="--json")
    measured = [file for file in sizes if not file.error]
    views = [ViewRequest(file.path, "", ViewMode.SKELETON) for file in measured]
    output.warn_all(missing_grammars(views))
    if measured:
        _print_table(measured)


def _data(file: FileSizes) -> dict[str, Any]:
    data = {"path": file.path, "lines": file.lines, "ast_elements": file.elements}
    problems = {"error": file.error, "problem": file.problem}
    present = {name: sentence for name, sentence in problems.items() if sentence}
    return data | {"tokens": file.tokens} | present


def _print_table(sizes: Sequence[FileSizes]) -> None:
    """Print the files' sizes as a tree, with sums of folders."""
    bold, plain = ("\x1b[1m", "\x1b[0m") if output.is_terminal() else ("", "")
    lines = [("tokens by view", ["lines", "defs", *sizes[0].tokens], True)]
    sums: dict[tuple[str, ...], list[int]] = {}

    def add_to(parts: tuple[str, ...], numbers: Iterable[int]) -> None:
        sums[parts] = list(map(add, sums[parts], numbers)) if parts in sums else [*numbers]

    for file in sizes:
        parts = PurePosixPath(file.path).parts
        add_to(parts, (file.lines, file.elements, *file.tokens.values()))
    files = {*sums}
    for depth in range(max(map(len, files)), 0, -1):  # folders, the inner ones first
        for parts in [parts for parts in sums if len(parts) == depth]:
            add_to(parts[:-1], sums[parts])
    for parts, counts in sorted(sums.items()):
        is_folder = parts not in files
        name = printable("  " * len(parts) + (parts[-1] if parts else ".") + "/" * is_folder)
        lines.append((name, [f"{number:,}" for number in counts], is_folder))
    columns = zip(*(texts for _, texts, _ in lines), strict=True)
    widths = [max(map(len, column)) for column in columns]
    name_width = max(cell_len(name) for name, _, _ in lines)
    table: list[str] = []
    for name, texts, is_bold in lines:
        cells = " ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
        on, off = (bold, plain) if is_bold else ("", "")
        table.append(f"{on}{fitted(name, name_width)} {cells}{off}\n")
    output.write_rendered("".join(table))
