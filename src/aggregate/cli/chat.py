"""``chat``: a discussion turn by turn in one process."""

from functools import partial

import click

from aggregate.base.errors import AggregateError
from aggregate.cli.chat_commands import Leave, completions, is_command, run_command
from aggregate.cli.chat_input import MessageInput, message_input
from aggregate.cli.chat_session import ChatSession, ChatSettings
from aggregate.cli.chat_setting_commands import who
from aggregate.cli.opened_project import KEEP, open_asked_project
from aggregate.cli.output import say, say_aside
from aggregate.cli.turn import TurnArguments, output_options, turn_options
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT


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
    """Return what went wrong, with what was noted on its way, such as where an answer was kept."""
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    if isinstance(error, KeyboardInterrupt):
        message = "stopped"
    return "; ".join((message, *getattr(error, "__notes__", ())))
