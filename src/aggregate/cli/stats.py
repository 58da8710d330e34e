"""``stats``: files by folder with their sizes in every view."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.cells import cell_len

from aggregate.base.text import BAR, bar, fitted, printable
from aggregate.base.values import ViewMode, ViewRequest
from aggregate.cli import lazy
from aggregate.cli.asking import read_task, task_option
from aggregate.cli.opened_project import open_asked_project
from aggregate.cli.options import (
    cache_options,
    config_option,
    generated_option,
    json_option,
    scope_options,
)
from aggregate.cli.output import is_terminal, warn_all, write_rendered, write_result
from aggregate.cli.path_arguments import existing_meant
from aggregate.cli.progress import progress
from aggregate.cli.termination import orderly_termination
from aggregate.project.index import open_index
from aggregate.prompt import (
    MEASURED,
    FileSizes,
    FolderRow,
    folder_rows,
    measure_files,
    missing_grammar,
    missing_grammar_notes,
    request_for,
    select_files,
)

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
        scores = None if asked is None else lazy.file_scores(request, index=index)
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
    warn_all(_missing_grammars(measured))
    rows = folder_rows(measured, scores)
    if rows:
        _print_table(rows, has_scores=scores is not None)


def _data(file: FileSizes, scores: Mapping[str, float] | None) -> dict[str, Any]:
    """Return a file as JSON data, with its score where there is a task."""
    score = {} if scores is None else {"score": scores.get(file.path, 0.0)}
    return file.to_dict() | score


def _missing_grammars(files: Sequence[FileSizes]) -> list[str]:
    """Return a sentence for each language whose files were measured without its grammar."""
    requests = (ViewRequest(file.path, "", ViewMode.SKELETON) for file in files)
    missing = [
        (request.path, language) for request in requests if (language := missing_grammar(request))
    ]
    return [f"{path}: {problem}" for path, problem in missing_grammar_notes(missing)]


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
    """Yield the table's header and its rows, names cut so that all fit into ``width`` columns.

    A library for tables takes seconds for thousands of rows; here numbers and names are set under each other.
    """
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
    """Return a bar for a file's tokens, none for a folder."""
    if row.is_folder or not most:
        return ""
    return bar(row.tokens[0] / most)
