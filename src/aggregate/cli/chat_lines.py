"""Sources of ``chat`` messages: a terminal or standard input."""

import os
import select
import sys
from collections.abc import Sequence

import click

from aggregate.base.disk.reading import SETTINGS_BYTES
from aggregate.cli.asking import decoded
from aggregate.cli.chat_commands import completions
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.output import is_terminal

try:
    import readline
except ImportError:  # Windows, and some builds of Python
    readline = None  # type: ignore[assignment]
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
    """Reads lines typed by a person; a trailing backslash continues a line."""

    is_interactive = True

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        self._matches: list[str] = []
        self._takes_pastes = False
        if readline is not None:
            readline.set_completer_delims(" \t\n")
            readline.set_completer(self._match)
            readline.set_auto_history(False)  # a message of several lines is one entry
            if "libedit" in (readline.__doc__ or ""):
                readline.parse_and_bind("bind ^I rl_complete")
            elif is_terminal():
                self._takes_pastes = True
                readline.parse_and_bind("tab: complete")
                readline.parse_and_bind("set enable-bracketed-paste on")  # Python switches it off
                readline.set_startup_hook(lambda: readline.insert_text(self._session.take_draft()))

    def read(self, label: str) -> str:
        label = f"{label}> "
        if self._takes_pastes:
            line = _line(label)
        else:
            # Without bracketed paste, input that follows at once belongs to the paste.
            draft = self._session.take_draft()
            line = f"{draft}{_line(label + draft)}\n{_typed_ahead()}".rstrip("\n")
        while line.endswith("\\"):
            line = f"{line[:-1]}\n{_line('... ')}"
        self.remember([line])
        return line

    def keep_typed(self) -> None:
        self._session.draft += _typed_ahead().rstrip("\n")

    def remember(self, messages: Sequence[str]) -> None:
        if readline is None:
            return
        for message in messages:
            if message.strip() and "\0" not in message:
                readline.add_history(message)

    def _match(self, word: str, number: int) -> str | None:
        if number == 0:
            line_start = readline.get_line_buffer()[: readline.get_begidx()]
            self._matches = list(completions(self._session, line_start, word))
        return self._matches[number] if number < len(self._matches) else None


def _line(label: str) -> str:
    if is_terminal():
        return input(label)
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
