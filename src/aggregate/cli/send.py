"""``send``: ask a model, with the project's prompt and the discussion so far."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.cli.input import read_input
from aggregate.cli.options import config_option, json_option, redact_option, scope_options
from aggregate.cli.output import say, warn, warn_all, writable_output, write_piece, write_result, write_rows

if TYPE_CHECKING:
    from decimal import Decimal

    from aggregate.chat.turn import CompletedTurn, PreparedTurn
    from aggregate.errors import ProviderError
    from aggregate.models.usage import Usage


@click.command()
@click.argument("message")
@config_option
@scope_options
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="Ask this provider: anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible (your own server), "
    "or scripted.",
)
@click.option("--model", metavar="NAME", default="", help="Ask this model, by the provider's name of it.")
@click.option("--persona", metavar="NAME", default="", help="Ask as this persona of the configuration.")
@click.option("--base-url", metavar="URL", default="", help="Reach the provider at this address.")
@click.option(
    "--max-output",
    type=click.IntRange(1),
    default=16_000,
    show_default=True,
    help="Let the model write at most so many tokens.",
)
@redact_option(sending=True)
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result and errors.")
def send(
    message: str,
    config: Path,
    allow_outside: bool,
    allow_secrets: bool,
    provider: str,
    model: str,
    persona: str,
    base_url: str,
    max_output: int,
    redact: bool | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Send the prompt with MESSAGE at its end, print the answer, and add both to the discussion.

    MESSAGE "-" is read from standard input. Try it without a key: --provider scripted.
    """
    from aggregate.chat.turn import ModelSelection, prepare_turn, send_turn
    from aggregate.cli.progress import progress
    from aggregate.compose.project import open_project

    text = read_input() if message == "-" else message
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")
    project = open_project(config, allow_outside=allow_outside or None, allow_secrets=allow_secrets or None)
    choice = ModelSelection(provider, model, persona, base_url, max_output, redact)
    with progress("Rendering files", hidden=quiet) as bar:
        ready = prepare_turn(
            project,
            text,
            choice,
            on_wait=_tell_wait,
            on_start=bar.start,
            on_done=bar.advance,
            require_key=not dry_run,
        )
    if not quiet:
        warn_all(ready.warnings, more="run --json")
    if dry_run:
        if as_json:
            write_result(json.dumps(plan_data(ready), indent=2))
        else:
            write_rows(*plan_lines(ready))
        return
    with writable_output():
        done = send_turn(ready, project, on_text=None if as_json else write_piece)
    with writable_output(f"the answer is in {done.answer}"):
        if as_json:
            write_result(json.dumps(_answer_data(ready, done), indent=2))
        elif not done.reply.text.endswith("\n"):
            write_piece("\n")
    if not quiet:
        _tell(ready, done)


def plan_lines(ready: "PreparedTurn") -> list[str]:
    """Return the plan as a person reads it: blocks with their tokens, breakpoints, what the cache is expected to do."""
    data = plan_data(ready)
    lines = [f"{'tokens':>10} {'segments':>9}  block"]
    for block in data["blocks"]:
        first, last = block["sources"][0], block["sources"][-1]
        what = first if first == last else f"{first} … {last}"
        lines.append(f"{block['tokens']:>10,} {block['segments']:>9,}  {what}")
        if block["marked"]:
            lines.append(f"{'':>10} {'':>9}  ── breakpoint, {block['up_to']:,} tokens ──")
    usage, cost = ready.expected, _money(_cost(ready, ready.expected))
    to = f"{ready.client.provider} {ready.client.model}".strip() + (f" at {ready.address}" if ready.address else "")
    lines += [
        f"{ready.plan.total:>10,} {len(ready.prompt.segments):>9,}  in all, to {to}",
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{cost} for the input",
    ]
    if ready.ordered.older:
        lines.append(_told_by_diffs(ready))
    if ready.report:
        lines.append(ready.report.sentence)
    return lines


def plan_data(ready: "PreparedTurn") -> dict[str, Any]:
    """Return the plan as JSON data."""
    layout, segments = ready.plan.layout, ready.fingerprint.segments
    blocks = []
    for start, end in zip((0, *layout.ends), layout.ends, strict=False):
        block = [segment for segment in segments[start:end] if segment.tokens]
        if block:
            blocks.append(
                {
                    "sources": [segment.source or f"[{segment.section}]" for segment in block],
                    "segments": len(block),
                    "tokens": sum(segment.tokens for segment in block),
                    "up_to": ready.plan.tokens[end - 1],
                    "marked": end in layout.breakpoints,
                }
            )
    usage = ready.expected
    price = _cost(ready, usage)
    return {
        "provider": ready.client.provider,
        "model": ready.client.model,
        "address": ready.address,
        "tokens": ready.plan.total,
        "blocks": blocks,
        "expected": {"fresh": usage.fresh, "cache_write": usage.cache_write, "cache_read": usage.cache_read},
        "cost": None if price is None else float(price),
        "prefix": ready.report.sentence if ready.report else None,
        "diffs": list(ready.ordered.older),
    }


def _answer_data(ready: "PreparedTurn", done: "CompletedTurn") -> dict[str, Any]:
    usage = done.reply.usage
    price = _cost(ready, usage)
    return {
        "text": done.reply.text,
        "stop": done.reply.stop.value,
        "model": done.reply.model,
        "path": str(done.path),
        "history": str(done.history),
        "answer": str(done.answer),
        "warnings": [*ready.warnings, *done.warnings],
        "usage": {
            "fresh": usage.fresh,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
            "output": usage.output,
        },
        "cost": None if price is None else float(price),
        "prefix": ready.report.sentence if ready.report else None,
        "diffs": list(ready.ordered.older),
    }


def _tell(ready: "PreparedTurn", done: "CompletedTurn") -> None:
    """Print what was sent, read from the cache and paid to standard error."""
    reply, usage = done.reply, done.reply.usage
    for warning in done.warnings:
        warn(warning)
    if ready.ordered.older:
        say(_told_by_diffs(ready))
    if ready.report:
        say(ready.report.sentence)
    if reply.stop.value != "end":
        warn(f"the answer is not complete ({reply.stop.value})")
    if not usage.input and not usage.output:
        say(f"{ready.client.provider} reports no tokens; about {ready.plan.total:,} were sent")
        say(f"{done.path}, {done.history}")
        return
    read = f"{usage.cache_read:,} read from the cache ({usage.cache_share:.0%}"
    read += f", {ready.expected.cache_read:,} expected)" if usage.cache_read < ready.expected.cache_read else ")"
    say(
        f"{usage.input:,} tokens in: {read}, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{usage.output:,} out; {_money(_cost(ready, usage))}"
        + (" if it had been asked" if ready.client.provider == "scripted" else "")
    )
    say(f"{done.path}, {done.history}")


def _told_by_diffs(ready: "PreparedTurn") -> str:
    from aggregate.text.nearest import some

    older, extra = ready.ordered.older, ready.ordered.extra
    return f"shown as the cache holds them, with diffs ({extra:+,} tokens): {some(older)}"


def _cost(ready: "PreparedTurn", usage: "Usage") -> "Decimal | None":
    from aggregate.clients.pricing import cost

    return cost(usage, ready.client.model, provider=ready.client.provider)


def _money(amount: "Decimal | None") -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


def _tell_wait(seconds: float, error: "ProviderError") -> None:
    say(f"{error}; trying again in {seconds:.1f} s")
