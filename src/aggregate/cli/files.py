"""``view`` and ``stats``: look at one file, and at how large all are."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.cells import cell_len

from aggregate.base.errors import DeadlineError, SyntaxViewError
from aggregate.base.text import BAR, bar, fitted, printable
from aggregate.base.values import ViewMode, ViewRequest
from aggregate.cli.asking import read_task, task_option
from aggregate.cli.opened_project import existing_meant, open_asked_project
from aggregate.cli.options import (
    cache_options,
    config_option,
    generated_option,
    json_option,
    scope_options,
)
from aggregate.cli.output import is_terminal, progress, say, warn_all, write_rendered, write_result
from aggregate.cli.termination import orderly_termination
from aggregate.code.views import view_of
from aggregate.project.files import read_file
from aggregate.project.index import open_index
from aggregate.prompt import (
    MEASURED,
    FileSizes,
    FolderRow,
    folder_rows,
    measure_files,
    missing_grammars,
    request_for,
    select_files,
)


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
    say(*(f"aggregate: {note}" for note in missing_grammars([request])))
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


_TITLE = "tokens by view"
_LEAST_NAME = 10
"""Columns of a name on the narrowest terminal."""
_WIDE = 90
"""Columns from which there is room for bars beside names and numbers."""
_PLAIN_WIDTH = 140
"""Columns where nobody looks: names of the usual length are not cut off."""


@click.command()
@config_option
@scope_options
@click.option(
    "--preset",
    metavar="NAME",
    help="Take the files from this context preset; by default from the one that is active, if any.",
)
@generated_option
@task_option
@cache_options
@json_option
def stats(
    task: str | None,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    preset: str | None,
    generated: str | None,
    no_cache: bool,
    verify: bool,
    as_json: bool,
) -> None:
    """Show the files by folder: lines, definitions, and tokens in each view.

    With a task, also its score: how likely the task touches each file. The scores of all files add up to 1.
    """
    index = open_index(use=not no_cache, verify=verify)
    asked = read_task(task)
    project, _ = open_asked_project(
        config,
        is_asked=asked is not None,
        allow_outside=allow_outside,
        allow_secrets=allow_secrets,
    )
    request = request_for(
        project, preset=preset, with_history=False, generated=generated, task=asked
    )
    selection = select_files(request)
    with index:
        with orderly_termination(), progress("Measuring files", hidden=False) as bar:
            sizes = measure_files(selection, index=index, on_start=bar.start, on_done=bar.advance)
        scores = None
        if asked is not None:
            from aggregate.prompt import file_scores

            scores = file_scores(request, index=index)
    if as_json:
        write_result(json.dumps([_data(file, scores) for file in sizes], indent=2))
        return
    told = (
        (file.path, file.error + existing_meant(file.path, request.base_dir))
        if file.error
        else (file.path, file.problem)
        for file in sizes
    )
    warn_all([f"{path}: {sentence}" for path, sentence in told if sentence], more="--json")
    measured = [file for file in sizes if not file.error]
    structured = (ViewRequest(file.path, "", ViewMode.SKELETON) for file in measured)
    warn_all(missing_grammars(structured))
    rows = folder_rows(measured, scores)
    if rows:
        _print_table(rows, has_scores=scores is not None)


def _data(file: FileSizes, scores: Mapping[str, float] | None) -> dict[str, Any]:
    score = {} if scores is None else {"score": scores.get(file.path, 0.0)}
    return file.to_dict() | score


def _print_table(rows: Sequence[FolderRow], *, has_scores: bool) -> None:
    is_on_terminal = is_terminal()
    width = shutil.get_terminal_size().columns if is_on_terminal else _PLAIN_WIDTH
    bold, plain = ("\x1b[1m", "\x1b[0m") if is_on_terminal else ("", "")
    lines = _lines(rows, width, has_scores=has_scores)
    write_rendered(f"{bold}{next(lines)}{plain}\n")
    styles = ((bold, plain) if row.is_folder else ("", "") for row in rows)
    table = (f"{on}{line}{off}\n" for line, (on, off) in zip(lines, styles, strict=True))
    write_rendered("".join(table))


def _lines(rows: Sequence[FolderRow], width: int, *, has_scores: bool) -> Iterator[str]:
    score_title = ("score",) if has_scores else ()
    titles = (*score_title, "lines", "defs", *(mode.value for mode in MEASURED))
    numbers = [
        [f"{row.score:.3f}"] * has_scores
        + [f"{number:,}" for number in (row.lines, row.elements, *row.tokens)]
        for row in rows
    ]
    widths = [
        max(len(title), *(len(texts[column]) for texts in numbers))
        for column, title in enumerate(titles)
    ]
    names = [printable("  " * row.depth + row.name + "/" * row.is_folder) for row in rows]
    bar_width = BAR + 1 if width >= _WIDE else 0
    room = max(width - sum(widths) - len(widths) - bar_width, _LEAST_NAME)
    name_width = min(room, max(map(cell_len, [_TITLE, *names])))
    most = max((row.tokens[0] for row in rows if not row.is_folder), default=0)
    for name, texts, row in zip([_TITLE, *names], [titles, *numbers], [None, *rows], strict=True):
        cells = (text.rjust(widest) for text, widest in zip(texts, widths, strict=True))
        size = f" {_bar(row, most)}" if row and bar_width else ""
        yield f"{fitted(name, name_width)} {' '.join(cells)}{size}".rstrip()


def _bar(row: FolderRow, most: int) -> str:
    if row.is_folder or not most:
        return ""
    return bar(row.tokens[0] / most)
