"""``chat``: a discussion turn by turn in one process."""

import os
import select
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

import click

from aggregate.base.disk import SETTINGS_BYTES
from aggregate.base.errors import AggregateError
from aggregate.cli.chat_commands import Leave, completions, is_command, run_command, who
from aggregate.cli.chat_session import ChatSession, ChatSettings
from aggregate.cli.opened_project import KEEP, open_asked_project
from aggregate.cli.output import is_terminal, say, say_aside
from aggregate.cli.turn import TurnArguments, output_options, turn_options
from aggregate.project.configuration import Project
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

_BLOCK: Final = '"""'
"""Begins and ends a message of several lines, as in TOML and Python."""
_MORE_SECONDS: Final = 0.05
"""How long more of a paste is waited for: a terminal holds 4 KB, and takes the next ones as these are read."""
Complete = Callable[[str, str], Sequence[str]]
"""Returns what may stand in the place of a word, from the line up to it and its beginning."""


class MessageInput(Protocol):
    """Where messages come from."""

    is_interactive: bool
    """Whether somebody is there who can go on after a mistake."""

    def read(self, label: str) -> str:
        """Return the next message."""
        ...

    def keep_typed(self) -> None:
        """Let what was typed while a message was answered be a part of the next one, and none of its own."""
        ...

    def remember(self, messages: Sequence[str]) -> None:
        """Let the user go back to these, the last one first."""
        ...


class PipedInput:
    """One message per line of standard input."""

    is_interactive = False

    def read(self, label: str) -> str:
        """Return the next line, in UTF-8 whatever the locale says."""
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
        """Do nothing: each line is a message."""

    def remember(self, messages: Sequence[str]) -> None:
        """Do nothing: nobody goes back."""


class TerminalInput:
    """Lines that a person types, with history and completion where Python has them.

    A message of several lines begins with three quotation marks and ends with three at the end of a line.
    """

    is_interactive = True

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._matches: list[str] = []
        self._draft = ""
        self._takes_pastes = False
        if readline is not None:
            readline.set_completer_delims(" \t\n")
            readline.set_completer(self._match)
            readline.set_auto_history(False)  # a message of several lines is one entry
            self._takes_pastes = "libedit" not in (readline.__doc__ or "")
            if self._takes_pastes:
                readline.parse_and_bind("tab: complete")
                readline.parse_and_bind("set enable-bracketed-paste on")  # Python switches it off
                readline.set_startup_hook(self._insert_draft)
            else:
                readline.parse_and_bind("bind ^I rl_complete")

    def read(self, label: str) -> str:
        """Return what is typed, behind what was typed before and kept."""
        line = self._continued(f"{label}> ")
        if line.lstrip().startswith(_BLOCK):
            lines = [line.lstrip().removeprefix(_BLOCK)]
            while not lines[-1].rstrip().endswith(_BLOCK):
                lines.append(_line("... "))
            lines[-1] = lines[-1].rstrip().removesuffix(_BLOCK)
            line = "\n".join(lines).strip("\n")
        self.remember([line])
        return line

    def keep_typed(self) -> None:
        """Keep what was typed up to now for the next message."""
        self._draft = _typed_ahead().rstrip("\n")

    def _continued(self, label: str) -> str:
        """Return the draft with what is typed behind it; pasted lines are one."""
        if self._takes_pastes and is_terminal():
            return _line(label)  # where readline has put the draft
        draft, self._draft = self._draft, ""
        # Nobody marks what is pasted: it is what is there at once behind the first line.
        return f"{draft}{_line(label + draft)}\n{_typed_ahead()}".rstrip("\n")

    def _insert_draft(self) -> None:
        draft, self._draft = self._draft, ""
        readline.insert_text(draft)

    def remember(self, messages: Sequence[str]) -> None:
        """Let the arrow keys find these."""
        if readline is None:
            return
        for message in messages:
            if message.strip() and "\0" not in message:
                readline.add_history(message)

    def _match(self, word: str, number: int) -> str | None:
        if number == 0:
            before = readline.get_line_buffer()[: readline.get_begidx()]
            self._matches = list(self._complete(before, word))
        return self._matches[number] if number < len(self._matches) else None


def message_input(complete: Complete) -> MessageInput:
    """Return where messages come from: a terminal, else standard input."""
    is_typed = sys.stdin is not None and sys.stdin.isatty()
    return TerminalInput(complete) if is_typed else PipedInput()


def _line(label: str) -> str:
    if is_terminal():
        return input(label)
    click.echo(label, nl=False, err=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _typed_ahead() -> str:
    """Return what was typed or pasted and nobody has read yet."""
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


@click.command()
@turn_options
@output_options
def chat(arguments: TurnArguments, *, as_json: bool, quiet: bool) -> None:
    """Go on with a discussion, message by message; each is sent and kept as by send.

    Without a terminal each line of standard input is a message, and a mistake ends it. /help lists the commands.
    """
    settings = ChatSettings(arguments.selection, arguments.focus, arguments.symbol, arguments.since)

    def open_project(is_asked: bool) -> Project:
        project, bare = open_asked_project(
            arguments.config,
            is_asked=is_asked,
            allow_outside=arguments.allow_outside,
            allow_secrets=arguments.allow_secrets,
        )
        if bare and not quiet and KEEP not in said:
            said.add(KEEP)
            say(KEEP)
        return project

    said: set[str] = set()
    session = ChatSession(open_project, settings, as_json, quiet)
    messages = message_input(partial(completions, session))
    selected = session.select(settings)
    if messages.is_interactive:
        messages.remember(session.questions())
        if not quiet:
            say(f"{who(selected)}; /help lists the commands, Ctrl-D leaves")
    _answer_all(session, messages)
    if session.totals.turns > 1 and not quiet:
        say_aside(session.totals.sentence)


def _answer_all(session: ChatSession, messages: MessageInput) -> None:
    """Answer message after message until there is none; on a terminal also after a mistake."""
    while True:
        try:
            label = "" if session.discussion == DEFAULT else session.discussion
            message = messages.read(label)
        except EOFError:
            if messages.is_interactive:
                say("")
            return
        except KeyboardInterrupt:
            if not messages.is_interactive:
                raise
            say("", "Ctrl-D or /quit leaves")
            continue
        if not message.strip():
            continue
        try:
            _answer(session, messages, message)
        except Leave:
            return
        except (AggregateError, click.ClickException, KeyboardInterrupt) as error:
            if not messages.is_interactive:
                raise
            say(_sentence(error))


def _answer(session: ChatSession, messages: MessageInput, message: str) -> None:
    try:
        if is_command(message):
            run_command(session, message)
        else:
            session.ask(message)
    finally:
        messages.keep_typed()


def _sentence(error: BaseException) -> str:
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    if isinstance(error, KeyboardInterrupt):
        message = "stopped"
    return "; ".join((message, *getattr(error, "__notes__", ())))
