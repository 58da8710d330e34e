"""The manual page, made of the commands' own help: ``python -m docs_build.man_page > docs/aggregate.1``.

The page lies in the repository, so that building the package needs nothing of it; a test compares the two.
"""

import inspect
from collections.abc import Iterable, Iterator
from typing import Final

import click

from aggregate.cli.output import write_result
from aggregate.cli.program import program

_EXIT_CODES: Final = (
    ("0", "Done; files that could not be read are warnings, not failures."),
    ("1", "The work failed."),
    ("2", "A mistake in the command or the configuration."),
    ("3", "A limit ended a goal; what is printed is what there was by then."),
    ("70", "An error that nobody foresaw."),
    ("130", "Interrupted."),
    ("129, 143", "run was ended by SIGHUP or SIGTERM."),
)
_ENVIRONMENT: Final = (
    ("AGGREGATE_CACHE_DIR", "The folder for what is kept for the next run, an absolute path."),
    ("AGGREGATE_CACHE_LIMIT", "The most bytes there, such as 500MB; 0 keeps nothing."),
    ("AGGREGATE_STATE_DIR", "The folder for what outlives a run."),
    ("AGGREGATE_DEBUG", "1 shows the traceback of an error that nobody foresaw."),
    ("BEADS_DIR", "Where beads are."),
)
_FILES: Final = (
    ("manual_slop.toml", "The project's configuration; init writes a commented one."),
    ("md_gen/", "The prompts, numbered, each with what is recorded of it."),
)


def man_page() -> str:
    """Return the page in roff, with the macros of man(7)."""
    context = click.Context(program, info_name="aggregate", help_option_names=["-h", "--help"])
    name, summary = "aggregate", program.get_short_help_str(1_000).rstrip(".")
    lines = [
        '.TH AGGREGATE 1 "" manual-slop "User Commands"',
        *_heading("NAME", f"{name} \\- {_escaped(summary[0].lower() + summary[1:])}"),
        *_heading("SYNOPSIS"),
        *_synopsis(context),
        *_heading("DESCRIPTION"),
        *_paragraphs(program.help or ""),
        *_options(context),
        *_heading("COMMANDS"),
        *_commands(context),
        *_heading("EXIT STATUS"),
        *_list(_EXIT_CODES),
        *_heading("ENVIRONMENT"),
        *_list(_ENVIRONMENT),
        *_heading("FILES"),
        *_list(_FILES),
    ]
    return "".join(f"{line}\n" for line in lines)


def _commands(parent: click.Context) -> Iterator[str]:
    """Yield a part for each command that lists show, and for those below it."""
    group = parent.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None:
            continue
        context = click.Context(command, info_name=name, parent=parent)
        yield f'.SS "{_escaped(context.command_path)}"'
        yield from _synopsis(context)
        yield ".PP"
        yield from _paragraphs(command.help or "")
        yield from _options(context)
        yield from _commands(context)


def _synopsis(context: click.Context) -> Iterator[str]:
    usage = " ".join(context.command.collect_usage_pieces(context))
    yield f"\\fB{_escaped(context.command_path)}\\fR {_escaped(usage)}"


def _options(context: click.Context) -> Iterator[str]:
    records = (option.get_help_record(context) for option in context.command.get_params(context))
    is_top = context.parent is None
    rows = (record for record in records if record and record[1])
    yield from _list(row for row in rows if is_top or "--help" not in row[0])


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _escaped(" ".join(text.split()))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; an indented one is shown as it is."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith(" "):
            yield ".nf"
            yield from (f"    {_escaped(line.strip())}" for line in paragraph.splitlines())
            yield ".fi"
        else:
            yield _escaped(" ".join(paragraph.split()))


def _heading(title: str, *lines: str) -> Iterator[str]:
    yield f'.SH "{title}"'
    yield from lines


def _escaped(text: str) -> str:
    """Return text that roff prints as it is: hyphens as one types them, and no line that looks like a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    write_result(man_page())
