"""``chat``: continue a discussion from a terminal or a pipe."""

import os
import sys
from contextlib import suppress
from typing import Any

import click

from aggregate.base.errors import AggregateError, with_notes
from aggregate.cli.chat_commands import Leave, is_command, run_command
from aggregate.cli.chat_lines import PipedLines, TypedLines
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.options import flag
from aggregate.cli.output import is_terminal, say
from aggregate.cli.send import AskedTurn, turn_options
from aggregate.project.history import DEFAULT


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
