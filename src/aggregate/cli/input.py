"""What a person types or pipes in."""

import sys

import click


def read_input() -> str:
    """Return all of standard input, as UTF-8 whatever the locale says.

    Raises:
        UsageError: It is closed, or no UTF-8.
    """
    if sys.stdin is None:
        raise click.UsageError("there is no standard input to read: it is closed")
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is not UTF-8 (byte {error.start}): write it as UTF-8") from None
