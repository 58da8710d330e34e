"""``stats``: files by folder with their sizes in every view."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.cli.options import config_option, json_option, scope_options
from aggregate.cli.output import warn_all, write_rendered, write_result
from aggregate.text.terminal import printable

if TYPE_CHECKING:
    from aggregate.compose.file_stats import FileSizes

_BAR = 16
_WIDE = 90
_PLAIN_WIDTH = 140


@click.command()
@config_option
@scope_options
@click.option("--preset", metavar="NAME", help="Take the files from this context preset.")
@json_option
def stats(config: Path, allow_outside: bool, allow_secrets: bool, preset: str | None, as_json: bool) -> None:
    """Show the files by folder: lines, definitions, and tokens in each view."""
    from aggregate.cli.progress import progress
    from aggregate.compose.api import select_files
    from aggregate.compose.file_stats import measure_files
    from aggregate.compose.project import open_project, request_for

    project = open_project(config, allow_outside=allow_outside or None, allow_secrets=allow_secrets or None)
    selection = select_files(request_for(project, preset=preset, with_history=False))
    with progress("Measuring files", hidden=False) as bar:
        sizes = measure_files(selection, on_start=bar.start, on_done=bar.advance)
    if as_json:
        write_result(json.dumps([one.to_dict() for one in sizes], indent=2))
        return
    warn_all([f"{one.path}: {one.error}" for one in sizes if one.error], more="--json")
    readable = [one for one in sizes if not one.error]
    if readable:
        _print_tree(readable)


def _print_tree(sizes: "list[FileSizes]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aggregate.compose.file_stats import MEASURED, folder_rows

    console = Console()
    width = console.width if console.is_terminal else _PLAIN_WIDTH
    rows = folder_rows(sizes)
    numbers = [[f"{number:,}" for number in (row.lines, row.elements, *row.tokens)] for row in rows]
    titles = ("lines", "defs", *(mode.value for mode in MEASURED))
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("tokens by view", no_wrap=True, overflow="ellipsis")
    for i, title in enumerate(titles):
        table.add_column(title, justify="right", no_wrap=True, min_width=max(len(row[i]) for row in numbers))
    table.add_column("", no_wrap=True, min_width=_BAR if width >= _WIDE else 0)
    most = max((row.tokens[0] for row in rows if not row.is_folder), default=0)
    for row, texts in zip(rows, numbers, strict=True):
        bar = "" if row.is_folder or not most else "█" * round(_BAR * row.tokens[0] / most) or "▏"
        # A Text, and not a str: in that, rich would read [red] and :smile: as its own.
        name = Text(printable("  " * row.depth + row.name + ("/" if row.is_folder else "")))
        table.add_row(name, *texts, bar if width >= _WIDE else "", style="bold" if row.is_folder else None)
    rendered = io.StringIO()
    Console(file=rendered, width=width, force_terminal=console.is_terminal).print(table)
    write_rendered(rendered.getvalue())
