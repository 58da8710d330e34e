"""What ``send`` and ``chat`` have in common: a turn prepared, and its answer printed as it comes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any

import click

from aggregate.base.errors import ProviderError
from aggregate.base.values import Task
from aggregate.cli.asking import budget_option, seed_options
from aggregate.cli.options import (
    config_option,
    discussion_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import say, writable_output, write_piece, write_result
from aggregate.cli.progress import progress
from aggregate.cli.send_report import answer_data
from aggregate.project.configuration import Project
from aggregate.project.history import NO_DISCUSSION
from aggregate.sending import CompletedTurn, ModelSelection, PreparedTurn, prepare_turn, send_turn
from aggregate.sending.clients import Effort, age_note

_OPTIONS = (
    config_option,
    scope_options,
    click.option(
        "--provider",
        metavar="NAME",
        default="",
        help="Ask this provider: anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible (your own "
        "server), azure, bedrock, vertex, or scripted; by default the persona's, else that of [send].",
    ),
    click.option(
        "--model",
        metavar="NAME",
        default="",
        help="Ask this model, by the provider's name of it or an alias; by default the persona's, else that of [send], "
        "else the provider's usual one.",
    ),
    click.option(
        "--persona",
        metavar="NAME",
        default="",
        help="Ask as this persona of the configuration; by default as that of [send], if any.",
    ),
    click.option(
        "--base-url", metavar="URL", default="", help="Reach the provider at this address."
    ),
    click.option(
        "--max-output",
        type=click.IntRange(1),
        help="Let the model write at most this many tokens; by default 16,000, or as the configuration says.",
    ),
    budget_option(
        "Take each message as the task, and send what it needs in at most this many tokens of the whole request."
    ),
    click.option(
        "--effort",
        type=click.Choice(["low", "medium", "high"]),
        help="Say how long the model may think before it answers; by default it decides itself.",
    ),
    click.option(
        "--temperature",
        type=click.FloatRange(0, 2),
        help="Let the model choose its words more or less freely, where it takes a temperature.",
    ),
    seed_options,
    discussion_option("Ask"),
    redact_option(sending=True),
)


@dataclass(frozen=True, slots=True)
class TurnArguments:
    """What the options of ``turn_options`` say.

    Attributes:
        config: Which configuration is read.
        allow_outside: Whether files outside of the project may be read; ``None`` leaves it to the configuration.
        allow_secrets: Whether files that look like secrets may be read; ``None`` leaves it to the configuration.
        selection: Who is asked, in which discussion.
        focus: Places to show whatever they cost.
        symbol: Definitions to rank from.
        since: A revision whose changes since to rank from, ``""`` for none.
    """

    config: Path
    allow_outside: bool | None
    allow_secrets: bool | None
    selection: ModelSelection
    focus: tuple[str, ...]
    symbol: tuple[str, ...]
    since: str

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> "TurnArguments":
        """Take what is said of a turn out of a command's options."""
        own = {
            each.name: options.pop(each.name) for each in fields(cls) if each.name != "selection"
        }
        chosen = {
            each.name: options.pop(each.name)
            for each in fields(ModelSelection)
            if each.name in options
        }
        effort = chosen.pop("effort")
        return cls(
            **own, selection=ModelSelection(**chosen, effort=Effort(effort) if effort else None)
        )


def turn_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say who is asked, in which discussion, and what is shown; they come as one argument."""

    @wraps(command)
    def with_arguments(**options: Any) -> None:  # noqa: ANN401 - as click passes them
        command(arguments=TurnArguments.taken_from(options), **options)

    added: Callable[..., None] = with_arguments
    for option in (*reversed(_OPTIONS),):
        added = option(added)
    return added


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--json`` and ``--quiet``."""
    return json_option(quiet_option(command))


def prepare(
    project: Project,
    message: str,
    selection: ModelSelection,
    *,
    task: Task | None,
    quiet: bool,
    require_key: bool = True,
    replaces: Sequence[Mapping[str, Any]] = (),
) -> PreparedTurn:
    """Prepare a turn with a progress bar; the errors are those of ``prepare_turn``."""
    with progress("Rendering files", hidden=quiet) as bar:
        return prepare_turn(
            project,
            message,
            selection,
            on_wait=say_wait,
            on_start=bar.start,
            on_done=bar.advance,
            require_key=require_key,
            task=task,
            replaces=replaces,
        )


def deliver(
    turn: PreparedTurn, project: Project, *, as_json: bool, indent: int | None = 2
) -> CompletedTurn:
    """Send a turn, and print its answer as it comes, or the whole of it as JSON."""
    with writable_output():
        completed = send_turn(turn, project, on_text=None if as_json else write_piece)
    with writable_output(f"the answer is in {completed.answer}"):
        if as_json:
            write_result(json.dumps(answer_data(turn, completed), indent=indent))
        elif not completed.reply.text.endswith("\n"):
            write_piece("\n")
    return completed


def checked_message(text: str) -> str:
    """Return a message that can be sent.

    Raises:
        UsageError: It is empty or no Unicode text.
    """
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")
    return text


def notes_on(turn: PreparedTurn, today: date) -> Sequence[str]:
    """Return a sentence where a turn begins a discussion with a name, and where the shipped tables are old."""
    age = age_note(turn.client.provider, turn.client.model, today)
    return (*_beginnings(turn), *((age,) if age else ()))


def _beginnings(turn: PreparedTurn) -> Sequence[str]:
    request = turn.request
    is_first = request.discussion not in ("", NO_DISCUSSION) and len(request.history) == 1
    return (f'the discussion "{request.discussion}" begins',) if is_first else ()


def say_wait(seconds: float, error: ProviderError) -> None:
    """Say that a provider is asked again, and when."""
    say(f"{error}; trying again in {seconds:.1f} s")
