"""``chat``: a discussion turn by turn in one process, from a terminal or a pipe."""

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
@click.option(
    "--plain", is_flag=True, help="Print answers as they come, and not as rendered Markdown."
)
def chat(asked: AskedTurn, *, plain: bool) -> None:
    """Go on with a discussion, message by message.

    Each is sent and kept as by send. Without a terminal each line of standard input is a message, and a mistake ends
    it. /help lists the commands.
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
                # A message that begins like a command is sent with a blank before it.
                if is_command(message):
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
            said = error.format_message() if isinstance(error, click.ClickException) else str(error)
            said = "stopped" if isinstance(error, KeyboardInterrupt) else said
            say("; ".join((said, *getattr(error, "__notes__", ()))))
