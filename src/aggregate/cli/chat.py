"""``chat``: continue a discussion from a terminal or a pipe."""

import os
import sys

import click

from aggregate.base.errors import AggregateError
from aggregate.cli.chat_commands import Leave, is_command, run_command
from aggregate.cli.chat_lines import PipedLines, TypedLines
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.output import is_terminal, say
from aggregate.cli.send import AskedTurn, turn_options
from aggregate.project.history import DEFAULT


@click.command()
@turn_options
@click.option("--plain", is_flag=True, help="Print answers unrendered, as they arrive.")
def chat(asked: AskedTurn, *, plain: bool) -> None:
    """Continue a discussion, message by message.

    Messages are sent and saved as by send. Without a terminal each line of standard input is a message, and an error
    ends the chat. /help lists the commands.
    """
    is_capable = is_terminal() and os.environ.get("TERM") != "dumb"
    session = ChatSession(asked, renders=is_capable and not plain and not asked.as_json)
    lines = _lines(session, is_capable=is_capable)
    who = session.select()
    if lines.is_interactive:
        lines.remember(session.questions())
        if not asked.quiet:
            say(f"{who}; /help lists the commands, Ctrl-D leaves")
    _answer_all(session, lines)
    if session.spent.requests > 1 and not asked.quiet:
        say(session.totals())


def _lines(session: ChatSession, *, is_capable: bool) -> PipedLines:
    if sys.stdin is None or not sys.stdin.isatty():
        return PipedLines()
    if is_capable:
        try:
            from aggregate.cli.chat_prompt import EditedLines
        except ModuleNotFoundError as error:
            if error.name != "prompt_toolkit":
                raise
        else:
            return EditedLines(session)
    return TypedLines(session)


def _answer_all(session: ChatSession, lines: PipedLines) -> None:
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
                if is_command(message):  # with a space before the slash it would be sent
                    run_command(session, message)
                else:
                    if lines.is_interactive:
                        session.add_mentioned(message)
                    session.ask(message)
            finally:
                lines.keep_typed()
        except Leave:
            return
        except (AggregateError, click.ClickException, KeyboardInterrupt) as error:
            if not lines.is_interactive:
                raise
            reason = str(error)
            if isinstance(error, KeyboardInterrupt):
                reason = "stopped"
            elif isinstance(error, click.ClickException):
                reason = error.format_message()
            say("; ".join((reason, *getattr(error, "__notes__", ()))))
