"""``chat``: continue a discussion from a terminal or a pipe."""

import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from aggregate.base.disk.reading import SETTINGS_BYTES
from aggregate.base.errors import AggregateError, with_notes
from aggregate.cli.arguments import decoded
from aggregate.cli.chat_commands import Leave, is_command, run_command
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.options import flag
from aggregate.cli.output import is_terminal, say
from aggregate.cli.send import AskedTurn, turn_options
from aggregate.project.history import DEFAULT

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


@click.command()
@turn_options
@flag("--plain", "Print answers unrendered, as they arrive.")
def chat(*, plain: bool, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Continue a discussion, message by message.

    Messages are sent and saved as by send. Without a terminal each line of standard input is a message, and an error
    ends the chat. /help lists the commands.
    """
    asked = AskedTurn.of(values)
    is_capable = is_terminal() and os.environ.get("TERM") != "dumb"
    session = ChatSession(asked, renders=is_capable and not plain and not asked.as_json)
    if sys.stdin is None or not sys.stdin.isatty():
        lines = PipedLines()
    elif is_capable:
        from aggregate.cli.chat_prompt import EditedLines  # slow to load

        lines = EditedLines(session)
    else:
        lines = TypedLines(session)
    who = session.select()
    if lines.is_interactive:
        lines.remember(session.questions())
        if not asked.quiet:
            say(f"{who}; /help lists the commands, Ctrl-D leaves")
    with suppress(Leave):
        while True:
            _answer_next(session, lines)
    if session.spent.requests > 1 and not asked.quiet:
        say(session.totals())


def _answer_next(session: ChatSession, lines: PipedLines) -> None:
    """Read a message or a command and answer it; raise ``Leave`` at the end of input."""
    try:
        message = lines.read("" if session.discussion == DEFAULT else session.discussion)
    except EOFError:
        if lines.is_interactive:
            say("")
        raise Leave from None
    except KeyboardInterrupt:
        if not lines.is_interactive:
            raise
        say("", "Ctrl-D or /quit leaves")
        return
    if not message.strip():
        return
    try:
        if is_command(message):  # with a space before the slash it would be sent
            run_command(session, message)
        else:
            if lines.is_interactive:
                session.add_mentioned(message)
            session.ask(message)
    except (AggregateError, click.ClickException, KeyboardInterrupt) as error:
        if not lines.is_interactive:
            raise
        sentence = "stopped" if isinstance(error, KeyboardInterrupt) else ""
        if isinstance(error, click.ClickException):
            sentence = error.format_message()
        lines.keep_typed()
        say(with_notes(error, sentence))
    else:
        lines.keep_typed()
