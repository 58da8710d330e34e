"""``stats``: files by folder with their sizes in every view."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aggregate.cli.options import config_option, json_option, scope_options
from aggregate.cli.output import warn_all, write_rendered, write_result
from aggregate.cli.progress import progress
from aggregate.compose.file_rendering import select_files
from aggregate.compose.file_stats import (
    MEASURED,
    FileSizes,
    FolderRow,
    folder_rows,
    measure_files,
)
from aggregate.compose.missing_grammars import MissingGrammars
from aggregate.compose.project import open_project, request_for
from aggregate.models.view import ViewMode, ViewRequest
from aggregate.text.terminal import printable

_BAR = 16
"""Characters of the longest bar."""
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
@json_option
def stats(
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    preset: str | None,
    as_json: bool,
) -> None:
    """Show the files by folder: lines, definitions, and tokens in each view."""
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    selection = select_files(request_for(project, preset=preset, with_history=False))
    with progress("Measuring files", hidden=False) as bar:
        sizes = measure_files(selection, on_start=bar.start, on_done=bar.advance)
    if as_json:
        write_result(json.dumps([file.to_dict() for file in sizes], indent=2))
        return
    warn_all([f"{file.path}: {file.error}" for file in sizes if file.error], more="--json")
    measured = [file for file in sizes if not file.error]
    warn_all(_missing_grammars(measured))
    rows = folder_rows(measured)
    if rows:
        _print_table(rows)


def _missing_grammars(files: Sequence[FileSizes]) -> list[str]:
    """Return a sentence for each language whose files were measured without its grammar."""
    missing = MissingGrammars()
    for file in files:
        missing.add(ViewRequest(file.path, "", ViewMode.SKELETON))
    return [f"{path}: {problem}" for path, problem in missing.notes()]


def _print_table(rows: Sequence[FolderRow]) -> None:
    console = Console()
    width = console.width if console.is_terminal else _PLAIN_WIDTH
    rendered = io.StringIO()
    table = _table(rows, with_bars=width >= _WIDE)
    Console(file=rendered, width=width, force_terminal=console.is_terminal).print(table)
    write_rendered(rendered.getvalue())


def _table(rows: Sequence[FolderRow], *, with_bars: bool) -> Table:
    numbers = [[f"{number:,}" for number in (row.lines, row.elements, *row.tokens)] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("tokens by view", no_wrap=True, overflow="ellipsis")
    for column, title in enumerate(("lines", "defs", *(mode.value for mode in MEASURED))):
        widest = max(len(texts[column]) for texts in numbers)
        table.add_column(title, justify="right", no_wrap=True, min_width=widest)
    table.add_column("", no_wrap=True, min_width=_BAR if with_bars else 0)
    most = max((row.tokens[0] for row in rows if not row.is_folder), default=0)
    for row, texts in zip(rows, numbers, strict=True):
        # A Text, and not a str: in that, rich would read [red] and :smile: as its own.
        name = Text(printable("  " * row.depth + row.name + ("/" if row.is_folder else "")))
        bar = _bar(row, most) if with_bars else ""
        table.add_row(name, *texts, bar, style="bold" if row.is_folder else None)
    return table


def _bar(row: FolderRow, most: int) -> str:
    """Return a bar for a file's tokens, none for a folder."""
    if row.is_folder or not most:
        return ""
    return "█" * round(_BAR * row.tokens[0] / most) or "▏"
