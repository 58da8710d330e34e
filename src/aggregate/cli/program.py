"""The program: its commands in tables, so that a list of them loads none, and how errors become an exit code."""

import errno
import gc
import io
import os
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import click
from click.exceptions import NoSuchCommand

from aggregate.base.disk.programs import guard_project
from aggregate.base.errors import (
    AggregateError,
    ClientSetupError,
    ConfigError,
    PresetError,
    PromptTooLongError,
    SeedError,
    SpawnError,
    StateError,
    SyntaxViewError,
    ToolError,
    TrackError,
)
from aggregate.cli.output import say, say_body, usable_streams

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from aggregate.cli.remembered import ThisRun


class Row(NamedTuple):
    module: str  # below aggregate.cli; it holds the command under its name
    summary: str  # the first sentence of the command's help, which a test compares with it


COMMANDS: Mapping[str, Row] = {
    "run": Row("run", "Compose the prompt and write it to a numbered file; print its path."),
    "explain": Row("explain", "Show what was decided about each file of a prompt, and why."),
    "locate": Row("explain", "Print where a line of a prompt comes from, or a file's line stands."),
    "init": Row(
        "configuration", "Write a commented manual_slop.toml for the project in this folder."
    ),
    "stats": Row("files", "Show the files by folder: lines, definitions, tokens in each view."),
    "view": Row("files", "Print one file as a view shows it."),
    "send": Row("send", "Send the prompt and MESSAGE, print the answer, and keep both."),
    "chat": Row("chat", "Go on with a discussion, message by message."),
    "mcp": Row("serve", "Serve the project to agents by the Model Context Protocol."),
    "panel": Row("serve", "Compose the prompt by eye, on a page in the browser."),
    "costs": Row(
        "costs",
        "Show what your requests have cost, by day, project and model, and what providers' caches have saved.",
    ),
    "discussion": Row("discussion", "List, show, fork and delete discussions."),
    "goal": Row("goal", "Reach GOAL step by step and print the answer."),
    "conduct": Row(
        "conduct.group", "Run the tickets of a track by many workers, and look after such runs."
    ),
    "check": Row(
        "configuration",
        "Check that all that CONFIG names is there; print what is not, one line each.",
    ),
    "preset": Row(
        "preset", "List, show, save, apply and delete named compositions of files and screenshots."
    ),
    "trust": Row(
        "machine", "Let the project around PATH read files outside of it; print its root."
    ),
    "prune": Row("explain", "Delete all but the newest prompts; print what was deleted."),
    "cache": Row(
        "machine",
        "Show where results are kept for the next run, how many, and how often they were of use.",
    ),
    "languages": Row("machine", "List the languages with their suffixes."),
    "schema": Row("machine", "Print the JSON Schema of manual_slop.toml."),
}

# Which cannot be loaded without the extra "agents".
_RUNS, _STATUS = "conduct.runs", "conduct.status"
CONDUCT: Mapping[str, Row] = {
    "run": Row(
        "conduct.run",
        "Run the tickets of TRACK, or go on with its unfinished run; print the report's path.",
    ),
    "status": Row(
        _STATUS,
        "Show how the latest run of TRACK stands, or each attempt at TICKET with its calls.",
    ),
    "diff": Row(
        _STATUS,
        "Print what TICKET of the latest run of TRACK has changed, or all that is merged, as a patch.",
    ),
    "apply": Row(
        _STATUS,
        "Write what the latest run of TRACK has changed into your files; print their paths.",
    ),
    "drop": Row(_STATUS, "Forget what the latest run of TRACK has changed, with its branches."),
    "resume": Row(
        _RUNS, "Go on with the latest run of TRACK: what is open, and what failed, is run."
    ),
    "retry": Row(
        _RUNS, "Run TICKETS of the latest run of TRACK once more, and all that depend on them."
    ),
    "approve": Row(_RUNS, "Approve TICKET, which waits for it; what depends on it is run."),
    "reject": Row(_RUNS, "Reject TICKET, which waits for approval; what depends on it is not run."),
    "cancel": Row(_RUNS, "End the run of TRACK that is under way."),
    "forget": Row(
        _RUNS, "Delete the runs of TRACK that are over from the database; their files stay."
    ),
    "new": Row("conduct.group", "Write a track NAME from a question."),
    "worker": Row(_RUNS, "Work on the tickets of every track on a database until interrupted."),
}

DEFAULT = "run"  # the command that is meant where none is named

_WHOLE = 1_000


_HELP_ALL = "--help-all"
_BRIEF = 13  # Options that a help of one screen shows besides those for help


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
    help="Show all that there is and exit.",
)


class BriefCommand(click.Command):
    """A command whose help shows the first of its options, and with ``HELP_ALL``, the first of all, every one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        more, *shown, usual = (each.get_help_record(ctx) or ("", "") for each in options)
        if _HELP_ALL not in ctx.meta:
            shown = shown[:_BRIEF]
        with formatter.section("Options"):
            formatter.write_dl([*shown, more, usual])


class Described(click.Group):
    brief: int | None = None  # Commands that are listed before the others are asked for

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = list(self.summaries().items())
        with formatter.section("Commands"):
            formatter.write_dl(rows if _HELP_ALL in ctx.meta else rows[: self.brief])

    def summaries(self) -> dict[str, str]:
        return {name: command.get_short_help_str(_WHOLE) for name, command in self.commands.items()}


class LazyGroup(Described):
    table: Mapping[str, Row] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name, self.table) if cmd_name in self.table else None

    def summaries(self) -> dict[str, str]:
        return {name: row.summary for name, row in self.table.items()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.table and not ctx.resilient_parsing:
            raise NoSuchCommand(args[0], possibilities=self.table, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete names from the table: click itself would load every command for its help."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=summary)
            for name, summary in self.summaries().items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


# The options of all commands that name a project.
_NAMING = click.Command(
    "naming",
    params=[click.Option(["-c", "--config"]), click.Option(["--root"], multiple=True)],
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)


class Commands(LazyGroup):
    """The program's commands; options alone are those of the default command, and a sentence is its task."""

    table = COMMANDS
    brief = 10

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            said = f'{error.format_message()} To make it the task: aggregate --task "{args[0]}"'
            raise NoSuchCommand(error.command_name, said, ctx=ctx) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hand over to the default command where no command is named.

        Its arguments are options, paths and the task (rule T-13); one word that is near a command's name is a mistake.
        A task may begin with an option's name, as one about a command line does: it has a blank behind that.
        """
        named = _NAMING.make_context(None, [*args], resilient_parsing=True).params
        for folder in (os.path.dirname(named["config"] or ""), *named["root"]):  # noqa: PTH120 - text in, text out
            # While commands are loaded a library may start a program, which must be none of a project that is named.
            guard_project(folder)
        args = [f" {one}" if re.match(r"--[^\s=]*\s+\S", one) else one for one in args]
        if self._means_default(ctx, args):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _means_default(self, ctx: click.Context, args: list[str]) -> bool:
        if not args:
            return not ctx.resilient_parsing
        first = args[0]
        if first.startswith("-"):
            own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            return first not in {*own, "-"}
        if first in self.table or ctx.resilient_parsing:
            return is_sentence(first)
        from difflib import get_close_matches  # needed only for a word that names no command

        words = [*takewhile(lambda word: not word.startswith("-"), args)]
        is_word = not (is_sentence(first) or os.path.lexists(first))
        return len(words) > 1 or not (is_word and get_close_matches(first, self.table))


# Letters of the scripts of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which set no blanks.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"


def is_sentence(argument: str) -> bool:
    """Tell whether an argument is a sentence and no word: it holds a blank, or is of a script that writes without."""
    if argument.startswith("-"):
        return False
    has_blank = len(argument.split(maxsplit=1)) > 1
    return has_blank or (not argument.isascii() and bool(re.search(f"[{_UNSPACED}]", argument)))


def load(name: str, table: Mapping[str, Row] = COMMANDS) -> click.Command:
    row = table[name]
    if row.module == _RUNS:
        require_dbos()
    # Modules stay: looking through them for garbage takes a twentieth of a short run.
    collects = gc.isenabled()
    gc.disable()
    try:
        command: click.Command = getattr(import_module(f"aggregate.cli.{row.module}"), name)
    finally:
        if collects:
            gc.enable()
    return command


def require_dbos() -> None:
    if find_spec("dbos") is None:
        from aggregate.base.messages import install_command  # seldom needed

        raise StateError(f"running tracks needs DBOS: {install_command('agents')}")


FAILED, MISTAKE, BUG, INTERRUPTED = 1, 2, 70, 130  # exit codes; ``BUG`` is that of ``sysexits.h``

DEBUG = "AGGREGATE_DEBUG"  # the environment variable that shows the traceback of an error that nobody foresaw

MISTAKES = (
    ConfigError,
    PresetError,
    SeedError,
    SpawnError,
    SyntaxViewError,
    ToolError,
    TrackError,
    ClientSetupError,
    PromptTooLongError,
)


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


# Some hundred times what is usual, at most fifty megabytes: looking for garbage took a tenth of a run for a task, and a
# twentieth with 100,000, which a question about 7,000 files reaches.
_OBJECTS_BETWEEN_COLLECTIONS = 500_000


def run_process(this: "ThisRun | None" = None) -> int:
    # Hardly anything here makes cycles: what a prompt of many files is made of stays until the end.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    with usable_streams():
        return run_program(this=this)


def run_program(
    arguments: list[str] | None = None,
    *,
    group: click.Group = program,
    this: "ThisRun | None" = None,
) -> int:
    """Run one command of ``group`` and return the exit code; a mistake or failure is one line on standard error.

    ``this`` is the process's own run, which may be remembered; another program that asks for one has none.
    """
    try:
        code = group.main(arguments, prog_name="aggregate", standalone_mode=False, obj=this)
    except click.ClickException as error:
        usage = io.StringIO()
        error.show(usage)
        say_body(usage.getvalue())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        return _fail(_with_notes("interrupted", error.__cause__ or error), INTERRUPTED)
    except MISTAKES as error:
        return _fail(_with_notes(str(error), error), MISTAKE)
    except AggregateError as error:
        return _fail(_with_notes(str(error), error), FAILED)
    except BrokenPipeError:
        return FAILED  # The reader has left, as `head` does: nobody misses the rest.
    except OSError as error:
        return _fail(_with_notes(_sentence(error), error), FAILED, error)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is told in one line too
        return _fail(_with_notes(_unforeseen(error), error), BUG, error)
    return code if isinstance(code, int) else 0


def _with_notes(message: str, error: BaseException) -> str:
    return "; ".join((message, *getattr(error, "__notes__", ())))


def _fail(message: str, code: int, error: Exception | None = None) -> int:
    if error is not None and os.environ.get(DEBUG):
        from traceback import format_exception

        say_body("".join(format_exception(error)))
    say(f"aggregate: {message}")
    return code


_NO_OUTPUT = (errno.ENOSPC, errno.EBADF, errno.EIO)  # without a file: a help text


def _sentence(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename:
        return f"{reason}: {error.filename}"
    try:
        os.getcwd()  # noqa: PTH109 - only whether it is there
    except OSError:
        return "the current folder is not there any more: go to another one"
    return f"the output cannot be written: {reason}" if error.errno in _NO_OUTPUT else reason


def _unforeseen(error: Exception) -> str:
    from traceback import walk_tb

    *_, (frame, line) = walk_tb(error.__traceback__)
    try:
        detail = " ".join(str(error).split())[:300]
    except Exception:  # noqa: BLE001 - an error that cannot say what it is
        detail = ""
    where = f"{os.path.basename(frame.f_code.co_filename)}:{line}"  # noqa: PTH119 - pathlib is not loaded yet
    what = f"{type(error).__name__}: {detail}" if detail else type(error).__name__
    return f"unexpected error in {where}: {what}; this is a bug of aggregate, {DEBUG}=1 shows the traceback to report"
