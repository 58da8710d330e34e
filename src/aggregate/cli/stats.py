"""``stats``: files by folder with their sizes in every view."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.cli.options import config_option, json_option

if TYPE_CHECKING:
    from aggregate.compose.stats import FileSizes

_BAR = 20


@click.command()
@config_option
@click.option("--preset", metavar="NAME", help="Take the files from this context preset.")
@json_option
def stats(config: Path, preset: str | None, as_json: bool) -> None:
    """Show the files by folder: lines, definitions, and tokens in each view."""
    from aggregate import app
    from aggregate.cli.progress import progress
    from aggregate.compose.stats import measure_files

    selection = app.select_files(app.request_for(app.open_project(config), preset=preset, with_history=False))
    with progress("Measuring files", hidden=False) as bar:
        sizes = measure_files(selection, on_start=bar.start, on_done=bar.advance)
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in sizes], indent=2))
    else:
        _print_tree(sizes)


def _print_tree(sizes: "list[FileSizes]") -> None:
    from rich.console import Console
    from rich.table import Table

    from aggregate.compose.stats import MEASURED, folder_rows

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for title in ("lines", "defs", *(f"{mode.value}" for mode in MEASURED)):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("tokens in full", no_wrap=True)
    rows = folder_rows(sizes)
    most = max((row.tokens[0] for row in rows if not row.is_folder), default=0)
    for row in rows:
        filled = round(_BAR * row.tokens[0] / most) if most else 0
        bar = "" if row.is_folder else "█" * filled or "▏"
        name = "  " * row.depth + row.name + ("/" if row.is_folder else "")
        numbers = [f"{number:,}" for number in (row.lines, row.elements, *row.tokens)]
        table.add_row(name, *numbers, bar, style="bold" if row.is_folder else None)
    Console().print(table)
