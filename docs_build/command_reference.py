"""The page of all commands, from the definitions that the program itself runs."""

import inspect
from collections.abc import Iterator

import click

from aggregate.cli.program import program
from docs_build.markdown import code, escaped

HEAD = """# Commands

Every command with its arguments and options, as `aggregate COMMAND --help` tells them. What stands on standard output,
exit codes, variables of the environment and the cache: [command line](../command-line.md).
"""


def command_reference() -> str:
    """Return the page."""
    sections = [
        _section(command, context) for command, context in _walk(program, None, "aggregate")
    ]
    return "\n".join([HEAD, *sections])


def _walk(
    command: click.Command, parent: click.Context | None, name: str
) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield a command and those below it, in the order of the lists."""
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=100, **command.context_settings
    )
    yield command, context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from _walk(found, context, below)


def _section(command: click.Command, context: click.Context) -> str:
    usage = context.get_usage().removeprefix("Usage: ")
    records = [
        (record, param)
        for param in command.get_params(context)
        if (record := param.get_help_record(context)) is not None and "--help" not in param.opts
    ]
    listed = "\n".join(
        f"{code(names)}\n:   {escaped(text) or '&nbsp;'}\n" for (names, text), _ in records
    )
    return "\n".join(
        [f"## {context.command_path}\n", f"```text\n{usage}\n```\n", _paragraphs(command), listed]
    )


def _paragraphs(command: click.Command) -> str:
    """Return the help's text; a paragraph whose lines are kept, and an indented one, are shown as they stand."""
    told = []
    for paragraph in inspect.cleandoc(command.help or "").split("\f")[0].split("\n\n"):
        if paragraph.startswith("\b\n"):
            told.append("```text\n" + paragraph.removeprefix("\b\n") + "\n```\n")
        elif paragraph.startswith("  "):
            told.append(f"```text\n{inspect.cleandoc(paragraph)}\n```\n")
        elif paragraph.strip():
            told.append(escaped(" ".join(paragraph.split())) + "\n")
    return "\n".join(told)
