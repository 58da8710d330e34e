"""The command group, and how errors become one line and an exit code."""

import errno
import gc
import io
import os
from pathlib import Path

import click

from aggregate.base.errors import (
    AggregateError,
    ClientSetupError,
    ConfigError,
    PresetError,
    PromptTooLongError,
    SpawnError,
    SyntaxViewError,
    ToolError,
    TrackError,
)
from aggregate.cli.commands import Commands
from aggregate.cli.output import finish_streams, prepare_streams, say, say_body

FAILED, MISTAKE, BUG, INTERRUPTED = 1, 2, 70, 130  # exit codes; ``BUG`` is that of ``sysexits.h``

DEBUG = "AGGREGATE_DEBUG"  # the environment variable that shows the traceback of an error that nobody foresaw

MISTAKES = (
    ConfigError,
    PresetError,
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
)
@click.version_option(package_name="manual-slop", prog_name="aggregate")
def program() -> None:
    """Compose exactly the prompt that a language model should see.

    Say what you are about to do, and how many tokens the prompt may have:

      aggregate "fix the timeout in the retry loop" --budget 32k

    This finds what matters for the task in the files of this folder, writes it to a numbered file of at most 32,000
    tokens, and prints the file's path. No model is asked. aggregate explain then says why each file is in or out.

    Without a command, run is meant: aggregate --stdout is aggregate run --stdout.
    """


# Some hundred times what is usual, at most fifty megabytes: looking for garbage took a tenth of a run for a task, and a
# twentieth with 100,000, which a question about 7,000 files reaches.
_OBJECTS_BETWEEN_COLLECTIONS = 500_000


def run_process() -> int:
    # Hardly anything here makes cycles: what a prompt of many files is made of stays until the end.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    prepare_streams()
    try:
        return run_program()
    finally:
        finish_streams()


def run_program(arguments: list[str] | None = None, *, group: click.Group = program) -> int:
    """Run one command of ``group`` and return the exit code; a mistake or failure is one line on standard error."""
    try:
        code = group.main(arguments, prog_name="aggregate", standalone_mode=False)
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
    where = f"{Path(frame.f_code.co_filename).name}:{line}"
    what = f"{type(error).__name__}: {detail}" if detail else type(error).__name__
    return f"unexpected error in {where}: {what}; this is a bug of aggregate, {DEBUG}=1 shows the traceback to report"
