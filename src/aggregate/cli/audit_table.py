"""The account of a prompt on a terminal or in a pipe (rule A-2)."""

import shutil
from collections.abc import Sequence

from aggregate.base.values import Audit, FileChoice
from aggregate.cli.output import is_terminal, write_rendered, write_rows
from aggregate.prompt import footing_lines, heading_lines, row_lines, table_lines


def print_audit(audit: Audit, *, title: str = "") -> None:
    """Print an account: what it is about, its files by tokens, and what else takes tokens or was cut.

    Args:
        audit: The account.
        title: What the prompt is called, ``""`` where it was not written.
    """
    is_on_terminal = is_terminal()
    width = shutil.get_terminal_size().columns if is_on_terminal else 0
    bold, plain = ("\x1b[1m", "\x1b[0m") if is_on_terminal else ("", "")
    write_rows(*heading_lines(audit, title))
    if audit.rows:
        header, *rows = table_lines(audit, width=width)
        write_rendered(f"{bold}{header}{plain}\n" + "".join(f"{row}\n" for row in rows))
    write_rows(*footing_lines(audit))


def print_rows(audit: Audit, rows: Sequence[FileChoice]) -> None:
    """Print everything about some files of an account."""
    for number, row in enumerate(rows):
        write_rows(*([""] if number else []), *row_lines(audit, row))
