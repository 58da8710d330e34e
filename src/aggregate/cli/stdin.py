"""What a person types or pipes in."""

import sys

import click

from aggregate.base.disk import SETTINGS_BYTES


def read_input() -> str:
    """Return all of standard input, as UTF-8 whatever the locale says.

    Raises:
        UsageError: It is closed, too large, or no UTF-8.
    """
    if sys.stdin is None:
        raise click.UsageError("there is no standard input to read: it is closed")
    data = sys.stdin.buffer.read(SETTINGS_BYTES + 1)
    if len(data) > SETTINGS_BYTES:
        raise click.UsageError(f"standard input is too large: the most is {SETTINGS_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"standard input is not UTF-8 (byte {error.start}): write it as UTF-8"
        ) from None
