"""``chat``: a discussion turn by turn in one process, from a terminal or a pipe."""

import os
import select
import sys
from collections.abc import Sequence

import click

from aggregate.base.disk.reading import SETTINGS_BYTES
from aggregate.base.errors import AggregateError
from aggregate.cli.chat_session import ChatSession, Leave, completions, run_command
from aggregate.cli.output import is_terminal, say
from aggregate.cli.send import AskedTurn, turn_options
from aggregate.project.history import DEFAULT

try:
    import readline
except ImportError:  # Windows, and builds of Python without it: lines are read as they come
    readline = None  # type: ignore[assignment]
try:
    import termios
    import tty
except ImportError:  # Windows, which does not tell what was typed ahead
    termios = None  # type: ignore[assignment]

_BLOCK = '"""'  # begins and ends a message of several lines, as in TOML and Python
# How long more of a paste is waited for: a terminal holds 4 KB, and takes the next ones as these are read.
_MORE_SECONDS = 0.05


@click.command()
@turn_options
def chat(asked: AskedTurn) -> None:
    """Go on with a discussion, message by message.

    Each is sent and kept as by send. Without a terminal each line of standard input is a message, and a mistake ends
    it. /help lists the commands.
    """
    session = ChatSession(asked)
    lines = _Typed(session) if sys.stdin is not None and sys.stdin.isatty() else _Piped()
    who = session.select()
    if lines.is_interactive:
        lines.remember(session.questions())
        if not asked.quiet:
            say(f"{who}; /help lists the commands, Ctrl-D leaves")
    _answer_all(session, lines)
    if session.turns > 1 and not asked.quiet:
        say(session.totals())


def _answer_all(session: ChatSession, lines: "_Piped") -> None:
    while True:
        try:
            message = lines.read("" if session.discussion == DEFAULT else session.discussion)
        except EOFError:
            if lines.is_interactive:
                say("")
            return
        except KeyboardInterrupt:
            if not lines.is_interactive:
                raise
            say("", "Ctrl-D or /quit leaves")
            continue
        if not message.strip():
            continue
        try:
            try:
                # A message that begins with a slash is sent with a blank before it.
                run_command(session, message) if message.startswith("/") else session.ask(message)
            finally:
                lines.keep_typed()
        except Leave:
            return
        except (AggregateError, click.ClickException, KeyboardInterrupt) as error:
            if not lines.is_interactive:
                raise
            said = error.format_message() if isinstance(error, click.ClickException) else str(error)
            said = "stopped" if isinstance(error, KeyboardInterrupt) else said
            say("; ".join((said, *getattr(error, "__notes__", ()))))


class _Piped:
    """One message per line of standard input, in UTF-8 whatever the locale says."""

    is_interactive = False

    def read(self, label: str) -> str:
        if sys.stdin is None:
            raise EOFError
        data = sys.stdin.buffer.readline(SETTINGS_BYTES + 1)
        if not data:
            raise EOFError
        if len(data) > SETTINGS_BYTES:
            raise click.UsageError(f"a message is too large: the most is {SETTINGS_BYTES:,} bytes")
        try:
            return data.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise click.UsageError(
                f"a message is not UTF-8 (byte {error.start}): write it as UTF-8"
            ) from None

    def keep_typed(self) -> None:
        """Let what was typed while a message was answered be a part of the next one, and none of its own."""

    def remember(self, messages: Sequence[str]) -> None:
        """Let the user go back to these, the last one first."""


class _Typed(_Piped):
    """Lines that a person types; a message of several begins with three quotation marks and ends with three."""

    is_interactive = True

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        self._matches: list[str] = []
        self._draft = ""
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
                readline.set_startup_hook(lambda: readline.insert_text(self._taken_draft()))

    def read(self, label: str) -> str:
        label = f"{label}> "
        if self._takes_pastes:
            line = _line(label)
        else:
            # Nobody marks what is pasted: it is what is there at once behind the first line.
            draft = self._taken_draft()
            line = f"{draft}{_line(label + draft)}\n{_typed_ahead()}".rstrip("\n")
        if line.lstrip().startswith(_BLOCK):
            lines = [line.lstrip().removeprefix(_BLOCK)]
            while not lines[-1].rstrip().endswith(_BLOCK):
                lines.append(_line("... "))
            lines[-1] = lines[-1].rstrip().removesuffix(_BLOCK)
            line = "\n".join(lines).strip("\n")
        self.remember([line])
        return line

    def keep_typed(self) -> None:
        self._draft = _typed_ahead().rstrip("\n")

    def _taken_draft(self) -> str:
        draft, self._draft = self._draft, ""
        return draft

    def remember(self, messages: Sequence[str]) -> None:
        if readline is None:
            return
        for message in messages:
            if message.strip() and "\0" not in message:
                readline.add_history(message)

    def _match(self, word: str, number: int) -> str | None:
        if number == 0:
            before = readline.get_line_buffer()[: readline.get_begidx()]
            self._matches = completions(self._session, before, word)
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
    return "".join(each for each in text if each.isprintable() or each in "\t\n")
