"""Sources of ``chat`` messages: a terminal or standard input."""

import os
import select
import sys
from collections.abc import Sequence

import click

from aggregate.base.disk.reading import SETTINGS_BYTES
from aggregate.cli.arguments import decoded
from aggregate.cli.chat_session import ChatSession

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_MORE_SECONDS = 0.05  # to wait for the rest of a paste, which arrives in blocks of 4 KB


class PipedLines:
    """Reads one message per line of standard input, in UTF-8."""

    is_interactive = False

    def read(self, label: str) -> str:
        if sys.stdin is None:
            raise EOFError
        data = sys.stdin.buffer.readline(SETTINGS_BYTES + 1)
        if not data:
            raise EOFError
        return decoded(data, "a message").rstrip("\r\n")

    def keep_typed(self) -> None:
        """Keep the input typed during an answer for the next message."""

    def remember(self, messages: Sequence[str]) -> None:
        """Add messages to the history of input."""


class TypedLines(PipedLines):
    """Reads lines from a terminal without an editor; a trailing backslash continues a line."""

    is_interactive = True

    def __init__(self, session: ChatSession) -> None:
        self._session = session

    def read(self, label: str) -> str:
        draft = self._session.take_draft()
        # Input that follows at once belongs to a paste.
        line = f"{draft}{_line(f'{label}> {draft}')}\n{_typed_ahead()}".rstrip("\n")
        while line.endswith("\\"):
            line = f"{line[:-1]}\n{_line('... ')}"
        return line

    def keep_typed(self) -> None:
        self._session.draft += _typed_ahead().rstrip("\n")


def _line(label: str) -> str:
    click.echo(label, nl=False, err=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _typed_ahead() -> str:
    if termios is None:
        return ""
    descriptor, data = sys.stdin.fileno(), b""
    settings = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # a line that has not ended counts too
        while select.select([descriptor], [], [], _MORE_SECONDS)[0] and (
            piece := os.read(descriptor, 65536)
        ):
            data += piece
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    text = data.decode(errors="replace")
    return "".join(char for char in text if char.isprintable() or char in "\t\n")
