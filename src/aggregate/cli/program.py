"""The command group, and how errors become one line and an exit code."""

import click

from aggregate.cli.commands import Commands, load
from aggregate.cli.output import abandon_output
from aggregate.errors import (
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

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130
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


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="manual-slop", prog_name="aggregate")
@click.pass_context
def program(context: click.Context) -> None:
    """Compose exactly the prompt that a language model should see.

    Without a command: run.
    """
    if context.invoked_subcommand is None:
        context.invoke(load("run"))


def run_program(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code; a mistake or failure is one line on standard error."""
    try:
        code = program.main(arguments, prog_name="aggregate", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        return _fail(_with_notes("interrupted", error.__cause__ or error), INTERRUPTED)
    except MISTAKES as error:
        return _fail(_with_notes(str(error), error), MISTAKE)
    except AggregateError as error:
        return _fail(_with_notes(str(error), error), FAILED)
    except BrokenPipeError:
        abandon_output()
        return FAILED
    return code if isinstance(code, int) else 0


def _with_notes(message: str, error: BaseException) -> str:
    """Return a message with what was noted on its way up, such as where an answer was kept."""
    return "; ".join((message, *getattr(error, "__notes__", ())))


def _fail(message: str, code: int) -> int:
    click.echo(f"aggregate: {message}", err=True)
    return code
