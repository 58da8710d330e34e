"""``send``: ask a model, with the project's prompt and the discussion so far."""

import json
from datetime import date

import click

from aggregate.cli.asking import read_input, seeds_of
from aggregate.cli.opened_project import KEEP, open_asked_project
from aggregate.cli.output import say, warn_all, write_result, write_rows
from aggregate.cli.turn import (
    TurnArguments,
    checked_message,
    compact,
    deliver,
    notes_on,
    output_options,
    prepare,
    print_report,
    turn_options,
)
from aggregate.prompt import for_reader
from aggregate.sending import plan_data, plan_lines


@click.command()
@click.argument("message", required=False)
@turn_options
@click.option(
    "--compact",
    "is_compacted",
    is_flag=True,
    help="First let the model put a summary in the place of the discussion's oldest turns, which are kept as another "
    "discussion; without MESSAGE do no more.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing.")
@output_options
def send(
    message: str | None,
    arguments: TurnArguments,
    *,
    is_compacted: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Send the prompt with MESSAGE at its end, print the answer, and add both to the discussion.

    With --budget the prompt shows what matters most for MESSAGE, within this many tokens of the whole request.

    MESSAGE "-" is read from standard input. Try it without a key: --provider scripted.
    """
    if message is None and not is_compacted:
        raise click.UsageError("say something: aggregate send MESSAGE")
    text = read_input() if message == "-" else message
    text = "" if text is None else checked_message(text)
    project, bare = open_asked_project(
        arguments.config,
        is_asked=arguments.selection.budget is not None,
        allow_outside=arguments.allow_outside,
        allow_secrets=arguments.allow_secrets,
    )
    if bare and not quiet:
        say(KEEP)
    if is_compacted:
        alone = message is None
        compact(
            project,
            arguments.selection,
            quiet=quiet,
            dry_run=dry_run,
            shows_summary=alone,
            as_json=as_json,
        )
        if alone or dry_run:
            return
    turn = prepare(
        project,
        text,
        arguments.selection,
        task=seeds_of(project, arguments.focus, arguments.symbol, arguments.since),
        quiet=quiet,
        require_key=not dry_run,
    )
    if not quiet:
        warn_all(for_reader(turn.warnings), more="run --json")
        say(*notes_on(turn, date.today()))
    if dry_run and as_json:
        write_result(json.dumps(plan_data(turn), indent=2))
    elif dry_run:
        write_rows(*plan_lines(turn))
    else:
        completed = deliver(turn, project, as_json=as_json)
        if not quiet:
            print_report(turn, completed)
