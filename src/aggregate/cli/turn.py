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
from aggregate.base.values import Task, Usage
from aggregate.cli.asking import budget_option, seed_options
from aggregate.cli.options import (
    config_option,
    discussion_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import (
    progress,
    say,
    warn,
    warn_all,
    writable_output,
    write_piece,
    write_result,
    write_rows,
)
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.prompt import for_reader
from aggregate.sending import (
    CompletedCompaction,
    CompletedTurn,
    ModelSelection,
    PreparedCompaction,
    PreparedTurn,
    compact_discussion,
    diffs_sentence,
    dollars,
    prepare_compaction,
    prepare_turn,
    price,
    send_turn,
)
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
        allow_outside: Whether files outside of the project may be read; ``None`` leaves it to the configuration.
        allow_secrets: Whether files that look like secrets may be read; ``None`` leaves it to the configuration.
        selection: Who is asked, in which discussion.
        focus: Places to show whatever they cost.
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
    """Return a message that can be sent."""
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")
    return text


def notes_on(turn: PreparedTurn, today: date) -> Sequence[str]:
    """Return a sentence where a turn begins a discussion with a name, and where the shipped tables are old."""
    age = age_note(turn.client.provider, turn.client.model, today)
    request = turn.request
    is_first = request.discussion not in ("", NO_DISCUSSION) and len(request.history) == 1
    begins = f'the discussion "{request.discussion}" begins' if is_first else ""
    return tuple(filter(None, (begins, age)))


def say_wait(seconds: float, error: ProviderError) -> None:
    """Say that a provider is asked again, and when."""
    say(f"{error}; trying again in {seconds:.1f} s")


def answer_data(turn: PreparedTurn, completed: CompletedTurn) -> dict[str, Any]:
    """Return the answer and its usage as JSON data."""
    reply, usage = completed.reply, completed.reply.usage
    amount = price(turn, usage)
    return {
        "text": reply.text,
        "stop": reply.stop.value,
        "model": reply.model,
        "path": str(completed.path),
        "history": None if completed.history is None else str(completed.history),
        "answer": str(completed.answer),
        "warnings": [*turn.warnings, *completed.warnings],
        "usage": {
            "fresh": usage.fresh,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
            "output": usage.output,
        },
        "cost": None if amount is None else float(amount),
        "prefix": turn.report.sentence if turn.report else None,
        "diffs": list(turn.ordered.older),
    }


def print_report(turn: PreparedTurn, completed: CompletedTurn) -> None:
    """Print to standard error what is doubtful, what was sent and paid, and where it was written."""
    reply = completed.reply
    for warning in completed.warnings:
        warn(warning)
    if turn.ordered.older:
        say(diffs_sentence(turn))
    if turn.report:
        say(turn.report.sentence)
    if reply.stop.value != "end":
        warn(f"the answer is not complete ({reply.stop.value})")
    say(usage_sentence(turn, reply.usage))
    files = (completed.path, completed.history)
    say(", ".join(str(file) for file in files if file is not None))


def usage_sentence(turn: PreparedTurn, usage: Usage) -> str:
    """Return what was sent, read from the cache and paid."""
    if not usage.input and not usage.output:
        return f"{turn.client.provider} reports no tokens; about {turn.plan.total:,} were sent"
    share = f"{usage.cache_share:.0%}"
    if usage.cache_read < turn.expected.cache_read:
        share += f", {turn.expected.cache_read:,} expected"
    hypothetical = " if it had been asked" if turn.client.provider == "scripted" else ""
    return (
        f"{usage.input:,} tokens in: {usage.cache_read:,} read from the cache ({share}), "
        f"{usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{usage.output:,} out; {dollars(price(turn, usage))}{hypothetical}"
    )


def compact(
    project: Project,
    selection: ModelSelection,
    *,
    quiet: bool,
    dry_run: bool = False,
    shows_summary: bool = False,
    as_json: bool = False,
) -> tuple[PreparedCompaction, CompletedCompaction | None]:
    """Let the model summarise the oldest turns of a discussion, having said what that costs.

    Args:
        project: Whose discussion.
        selection: Who is asked, and in which discussion.
        quiet: Whether nothing but the summary and errors is said.
        dry_run: Whether nothing is sent.
        shows_summary: Whether the summary is printed, as the answer that was asked for.
        as_json: Whether what is printed is JSON.
    """
    prepared = prepare_compaction(project, selection, on_wait=say_wait, require_key=not dry_run)
    if not quiet:
        warn_all(for_reader(prepared.turn.warnings), more="run --json")
    if dry_run:
        plan = json.dumps(_plan_data(prepared), indent=2)
        write_result(plan) if as_json else write_rows(prepared.sentence)
        return prepared, None
    if not quiet:
        say(prepared.sentence)
    streams = shows_summary and not as_json
    with writable_output():
        compacted = compact_discussion(prepared, project, on_text=write_piece if streams else None)
    completed = compacted.completed
    with writable_output(f"the summary is in {completed.answer}"):
        if streams and not completed.reply.text.endswith("\n"):
            write_piece("\n")
        elif shows_summary and as_json:
            data = _plan_data(prepared) | answer_data(prepared.turn, completed)
            write_result(json.dumps(data, indent=2))
    if not quiet:
        for warning in completed.warnings:
            warn(warning)
        say(usage_sentence(prepared.turn, completed.reply.usage), compacted.sentence)
    return prepared, compacted


def _plan_data(prepared: PreparedCompaction) -> dict[str, object]:
    price = prepared.price
    return {
        "provider": prepared.turn.client.provider,
        "model": prepared.turn.client.model,
        "discussion": prepared.name or DEFAULT,
        "turns": len(prepared.turns),
        "tokens": prepared.tokens,
        "kept_as": prepared.kept_as,
        "cost": None if price is None else float(price),
        "pays_back_after": prepared.pays_back_after,
        "warnings": list(prepared.turn.warnings),
    }
