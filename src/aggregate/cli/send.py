"""``send``: ask a model, with the project's prompt and the discussion so far."""

import json
from pathlib import Path

import click

from aggregate.chat.turn import ModelSelection, PreparedTurn, prepare_turn, send_turn
from aggregate.cli.asking import KEEP, budget_option, for_reader, open_asked_project
from aggregate.cli.options import (
    config_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import (
    say,
    warn_all,
    writable_output,
    write_piece,
    write_result,
    write_rows,
)
from aggregate.cli.progress import progress
from aggregate.cli.send_plan import plan_data, plan_lines
from aggregate.cli.send_report import answer_data, print_report
from aggregate.cli.stdin import read_input
from aggregate.clients.capabilities import Effort
from aggregate.config.load import Project
from aggregate.errors import ProviderError
from aggregate.models.amounts import Amount


@click.command()
@click.argument("message")
@config_option
@scope_options
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="Ask this provider: anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible (your own server), "
    "azure, bedrock, vertex, or scripted; by default the persona's.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="",
    help="Ask this model, by the provider's name of it; by default the persona's, else the provider's usual one.",
)
@click.option(
    "--persona", metavar="NAME", default="", help="Ask as this persona of the configuration."
)
@click.option("--base-url", metavar="URL", default="", help="Reach the provider at this address.")
@click.option(
    "--max-output",
    type=click.IntRange(1),
    default=16_000,
    show_default=True,
    help="Let the model write at most so many tokens.",
)
@budget_option(
    "Take MESSAGE as the task, and send what it needs in at most so many tokens of the whole request."
)
@click.option(
    "--effort",
    type=click.Choice(["low", "medium", "high"]),
    help="Let the model think so long before it answers; by default as it likes.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 2),
    help="Let the model choose its words more or less freely, where it takes a temperature.",
)
@redact_option(sending=True)
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing.")
@json_option
@quiet_option
def send(
    message: str,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    provider: str,
    model: str,
    persona: str,
    base_url: str,
    max_output: int,
    budget: Amount | None,
    effort: str | None,
    temperature: float | None,
    redact: bool | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Send the prompt with MESSAGE at its end, print the answer, and add both to the discussion.

    With --budget the prompt shows what matters most for MESSAGE, within so many tokens of the whole request.

    MESSAGE "-" is read from standard input. Try it without a key: --provider scripted.
    """
    text = _read_message(message)
    project, bare = open_asked_project(
        config,
        is_asked=budget is not None,
        allow_outside=allow_outside,
        allow_secrets=allow_secrets,
    )
    if bare and not quiet:
        say(KEEP)
    selection = ModelSelection(
        provider,
        model,
        persona,
        base_url,
        max_output,
        redact,
        budget,
        effort=Effort(effort) if effort else None,
        temperature=temperature,
    )
    with progress("Rendering files", hidden=quiet) as bar:
        turn = prepare_turn(
            project,
            text,
            selection,
            on_wait=_say_wait,
            on_start=bar.start,
            on_done=bar.advance,
            require_key=not dry_run,
        )
    if not quiet:
        warn_all(for_reader(turn.warnings), more="run --json")
    if not dry_run:
        _send(turn, project, as_json=as_json, quiet=quiet)
    elif as_json:
        write_result(json.dumps(plan_data(turn), indent=2))
    else:
        write_rows(*plan_lines(turn))


def _read_message(argument: str) -> str:
    """Return the message, read from standard input for ``-``.

    Raises:
        UsageError: It is empty or no Unicode text.
    """
    text = read_input() if argument == "-" else argument
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")
    return text


def _send(turn: PreparedTurn, project: Project, *, as_json: bool, quiet: bool) -> None:
    """Send a turn, and print its answer as it comes, or the whole of it as JSON."""
    with writable_output():
        completed = send_turn(turn, project, on_text=None if as_json else write_piece)
    with writable_output(f"the answer is in {completed.answer}"):
        if as_json:
            write_result(json.dumps(answer_data(turn, completed), indent=2))
        elif not completed.reply.text.endswith("\n"):
            write_piece("\n")
    if not quiet:
        print_report(turn, completed)


def _say_wait(seconds: float, error: ProviderError) -> None:
    say(f"{error}; trying again in {seconds:.1f} s")
