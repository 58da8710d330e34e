"""The command line's root: commands loaded on demand, and exit codes."""

import errno
import gc
import io
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import click
from click.exceptions import NoSuchCommand

from aggregate.base.disk.programs import guard_project
from aggregate.base.errors import AggregateError, MistakeError, with_notes
from aggregate.cli.output import drop_output, say, say_body

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from aggregate.cli.replay import ThisRun


class CommandEntry(NamedTuple):
    module: str  # below aggregate.cli; it defines a command of this name
    summary: str  # the first sentence of the command's help (compared by a test)


COMMANDS: Mapping[str, CommandEntry] = {
    "run": CommandEntry(
        "run", "Compose the prompt and write it to a numbered file; print its path."
    ),
    "explain": CommandEntry(
        "explain_and_locate", "Show how much of each file a prompt contains, and why."
    ),
    "locate": CommandEntry(
        "explain_and_locate", "Find a prompt's line in the files, or a file's line in the prompt."
    ),
    "init": CommandEntry(
        "init_check_preset", "Write a commented manual_slop.toml for this folder."
    ),
    "stats": CommandEntry(
        "view_and_stats", "Show the files by folder: lines, definitions, tokens in each view."
    ),
    "view": CommandEntry("view_and_stats", "Print a view of one file."),
    "send": CommandEntry("send", "Send the prompt and MESSAGE; print the answer and save both."),
    "chat": CommandEntry("chat", "Continue a discussion, message by message."),
    "mcp": CommandEntry(
        "mcp_and_panel", "Serve the project to agents by the Model Context Protocol."
    ),
    "panel": CommandEntry("mcp_and_panel", "Compose the prompt by eye, on a page in the browser."),
    "costs": CommandEntry(
        "costs_cache_trust", "Show your costs and cache savings by day, project and model."
    ),
    "discussion": CommandEntry("discussion", "List, show, fork and delete discussions."),
    "goal": CommandEntry("goal", "Reach GOAL step by step and print the answer."),
    "conduct": CommandEntry("conduct", "Run the tickets of a track with many workers."),
    "check": CommandEntry(
        "init_check_preset", "Check that everything in CONFIG exists; print each problem."
    ),
    "preset": CommandEntry(
        "init_check_preset", "List, show, save, apply and delete context presets."
    ),
    "trust": CommandEntry(
        "costs_cache_trust", "Let the project around PATH read files outside; print its root."
    ),
    "prune": CommandEntry(
        "explain_and_locate", "Delete all but the newest prompts; print the deleted paths."
    ),
    "cache": CommandEntry("costs_cache_trust", "Show the cache's path, entries, size and hits."),
    "languages": CommandEntry("costs_cache_trust", "List the languages with their suffixes."),
    "schema": CommandEntry("costs_cache_trust", "Print the JSON Schema of manual_slop.toml."),
}

DEFAULT = "run"  # the command if none is named
_SUMMARY_LENGTH = 1_000  # do not shorten first sentences
_HELP_ALL = "--help-all"
_BRIEF = 13  # options on one screen of help, besides those for help


def _help_all(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_HELP_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


HELP_ALL = click.Option(
    [_HELP_ALL],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show every option and command, and exit.",
)


class BriefCommand(click.Command):
    """A command with a short help; ``HELP_ALL`` shows all options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        help_all, *records, usual = (option.get_help_record(ctx) or ("", "") for option in options)
        if _HELP_ALL not in ctx.meta:
            records = records[:_BRIEF]
        with formatter.section("Options"):
            formatter.write_dl([*records, help_all, usual])


class Described(click.Group):
    brief: int | None = None  # commands in the short help

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # not sorted

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = list(self.summaries().items())
        with formatter.section("Commands"):
            formatter.write_dl(rows if _HELP_ALL in ctx.meta else rows[: self.brief])

    def summaries(self) -> dict[str, str]:
        commands = self.commands.items()
        return {name: command.get_short_help_str(_SUMMARY_LENGTH) for name, command in commands}


# Options of any command that name a project.
_PROJECT_OPTIONS = click.Command(
    "project",
    params=[click.Option(["-c", "--config"]), click.Option(["--root"], multiple=True)],
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)


class Commands(Described):
    """The program's commands, loaded on demand; ``run`` is the default."""

    brief = 10

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def summaries(self) -> dict[str, str]:
        return {name: row.summary for name, row in COMMANDS.items()}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete command names without loading the commands."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=row.summary)
            for name, row in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in COMMANDS or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        error = NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        message = f'{error.format_message()} To make it the task: aggregate --task "{args[0]}"'
        raise NoSuchCommand(args[0], message, ctx=ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command if the arguments name none.

        The default command takes options, paths and the task (rule T-13). A single word similar to a command's name is
        a mistake. A task may begin with an option's name and a blank.
        """
        options = _PROJECT_OPTIONS.make_context(None, [*args], resilient_parsing=True).params
        for folder in (os.path.dirname(options["config"] or ""), *options["root"]):  # noqa: PTH120 - text in, text out
            # Loading a command may start a program of a library: it must not come from the project.
            guard_project(folder)
        args = [f" {word}" if re.match(r"--[^\s=]*\s+\S", word) else word for word in args]
        if self._means_default(ctx, args):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _means_default(self, ctx: click.Context, args: list[str]) -> bool:
        if not args:
            return not ctx.resilient_parsing
        first = args[0]
        if first.startswith("-"):
            options = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            return first not in {*options, "-"}
        if first in COMMANDS:
            return False
        has_blank = len(first.split(maxsplit=1)) > 1
        if has_blank or ctx.resilient_parsing or os.path.lexists(first):
            return has_blank or not ctx.resilient_parsing
        from difflib import get_close_matches  # for unknown words only

        words = [*takewhile(lambda word: not word.startswith("-"), args)]
        return len(words) > 1 or not get_close_matches(first, COMMANDS)


def load(name: str) -> click.Command:
    # Loading creates no garbage, and collecting takes a twentieth of a short run.
    collects = gc.isenabled()
    gc.disable()
    try:
        command: click.Command = getattr(
            import_module(f"aggregate.cli.{COMMANDS[name].module}"), name
        )
    finally:
        if collects:
            gc.enable()
    return command


FAILED, MISTAKE, BUG, INTERRUPTED = 1, 2, 70, 130  # exit codes; ``BUG`` as in ``sysexits.h``
DEBUG = "AGGREGATE_DEBUG"  # environment variable: show tracebacks of unexpected errors


@click.group(
    cls=Commands,
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[HELP_ALL],
)
@click.version_option(package_name="manual-slop", prog_name="aggregate")
def program() -> None:
    """Compose exactly the prompt that a language model should see.

      aggregate src/router README.md "fix the trailing slash"

    Without a command, `run` is used; paths may be left out.
    """


# At most 50 MB. Python's default made collection a tenth of a run for a task; 100,000 still a twentieth.
_OBJECTS_BETWEEN_COLLECTIONS = 500_000


@contextmanager
def usable_streams() -> Iterator[None]:
    """Make standard streams accept any text; flush them at the end.

    Text that cannot be flushed is dropped, since the interpreter would fail at it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next opened file would get its number, and our messages
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for umlauts in an ASCII locale
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):
                drop_output(stream)


def run_process(this: "ThisRun | None" = None) -> int:
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)  # our objects form hardly any cycles
    with usable_streams():
        return run_program(this=this)


def run_program(
    arguments: list[str] | None = None,
    *,
    group: click.Group = program,
    this: "ThisRun | None" = None,
) -> int:
    """Run a command; return its exit code.

    An error is reported in one line. ``this`` describes the run of this process, which may be remembered; programs that
    embed this one pass none.
    """
    try:
        code = group.main(arguments, prog_name="aggregate", standalone_mode=False, obj=this)
    except click.ClickException as error:
        usage = io.StringIO()
        error.show(usage)
        say_body(usage.getvalue())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        return _fail(error.__cause__ or error, INTERRUPTED, "interrupted")
    except AggregateError as error:
        return _fail(error, MISTAKE if isinstance(error, MistakeError) else FAILED)
    except BrokenPipeError:
        return FAILED  # the reader has left, as `head` does
    except OSError as error:
        _show_traceback(error)
        return _fail(error, FAILED, _sentence(error))
    except Exception as error:  # noqa: BLE001 - unexpected errors are reported in one line too
        _show_traceback(error)
        return _fail(error, BUG, _unforeseen(error))
    return code if isinstance(code, int) else 0


def _fail(error: BaseException, code: int, message: str = "") -> int:
    say(f"aggregate: {with_notes(error, message)}")
    return code


def _show_traceback(error: Exception) -> None:
    if os.environ.get(DEBUG):
        from traceback import format_exception

        say_body("".join(format_exception(error)))


_NO_OUTPUT = (errno.ENOSPC, errno.EBADF, errno.EIO)  # if printing a help text fails


def _sentence(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename:
        return f"{reason}: {error.filename}"
    try:
        os.getcwd()  # noqa: PTH109 - only whether it exists
    except OSError:
        return "the current folder does not exist any more: go to another one"
    return f"the output cannot be written: {reason}" if error.errno in _NO_OUTPUT else reason


def _unforeseen(error: Exception) -> str:
    from traceback import walk_tb

    *_, (frame, line) = walk_tb(error.__traceback__)
    try:
        detail = " ".join(str(error).split())[:300]
    except Exception:  # noqa: BLE001 - its __str__ fails
        detail = ""
    where = f"{os.path.basename(frame.f_code.co_filename)}:{line}"  # noqa: PTH119 - pathlib is not loaded yet
    reason = f"{type(error).__name__}: {detail}" if detail else type(error).__name__
    return f"unexpected error in {where}: {reason}; this is a bug of aggregate, {DEBUG}=1 shows the traceback to report"
