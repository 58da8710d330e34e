"""``send``: ask a model, with the project's prompt and the discussion so far."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.cli.options import config_option, json_option, redact_option

if TYPE_CHECKING:
    from decimal import Decimal

    from aggregate.errors import ProviderError
    from aggregate.models.usage import Usage
    from aggregate.send import Delivered, Prepared


@click.command()
@click.argument("message")
@config_option
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible (a server of your own), or scripted.",
)
@click.option("--model", metavar="NAME", default="", help="The provider's name of the model.")
@click.option("--persona", metavar="NAME", default="", help="A persona of the configuration.")
@click.option("--base-url", metavar="URL", default="", help="Where the provider is reached.")
@click.option("--max-output", type=click.IntRange(1), default=16_000, show_default=True, help="Most tokens to answer.")
@redact_option
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result and errors.")
def send(
    message: str,
    config: Path,
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
    from aggregate.cli.progress import progress
    from aggregate.project import open_project
    from aggregate.send import Choice, deliver, prepare

    text = sys.stdin.read() if message == "-" else message
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")
    project = open_project(config)
    choice = Choice(provider, model, persona, base_url, max_output, redact)
    with progress("Rendering files", hidden=quiet) as bar:
        ready = prepare(project, text, choice, on_wait=_tell_wait, on_start=bar.start, on_done=bar.advance)
    if not quiet:
        for warning in ready.warnings:
            click.echo(f"warning: {warning}", err=True)
    if dry_run:
        click.echo(json.dumps(plan_data(ready), indent=2) if as_json else "\n".join(plan_lines(ready)))
        return
    done = deliver(ready, project, on_text=None if as_json else _print_piece)
    if as_json:
        click.echo(json.dumps(_answer_data(ready, done), indent=2))
    elif not done.reply.text.endswith("\n"):
        click.echo()
    if not quiet:
        _tell(ready, done)


def plan_lines(ready: "Prepared") -> list[str]:
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
    to = f"{ready.client.provider} {ready.client.model}".strip()
    lines += [
        f"{ready.plan.total:>10,} {len(ready.prompt.segments):>9,}  in all, to {to}",
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{cost} for the input",
    ]
    if ready.settled.older:
        lines.append(_told_by_diffs(ready))
    if ready.report:
        lines.append(ready.report.sentence)
    return lines


def plan_data(ready: "Prepared") -> dict[str, Any]:
    """Return the plan as JSON data."""
    layout, links = ready.plan.layout, ready.chain.links
    blocks = []
    for start, end in zip((0, *layout.ends), layout.ends, strict=False):
        part = [link for link in links[start:end] if link.tokens]
        if part:
            blocks.append(
                {
                    "sources": [link.source or f"[{link.section}]" for link in part],
                    "segments": len(part),
                    "tokens": sum(link.tokens for link in part),
                    "up_to": ready.plan.tokens[end - 1],
                    "marked": end in layout.marks,
                }
            )
    usage = ready.expected
    price = _cost(ready, usage)
    return {
        "provider": ready.client.provider,
        "model": ready.client.model,
        "tokens": ready.plan.total,
        "blocks": blocks,
        "expected": {"fresh": usage.fresh, "cache_write": usage.cache_write, "cache_read": usage.cache_read},
        "cost": None if price is None else float(price),
        "prefix": ready.report.sentence if ready.report else None,
        "diffs": list(ready.settled.older),
    }


def _answer_data(ready: "Prepared", done: "Delivered") -> dict[str, Any]:
    usage = done.reply.usage
    price = _cost(ready, usage)
    return {
        "text": done.reply.text,
        "stop": done.reply.stop.value,
        "model": done.reply.model,
        "path": str(done.path),
        "history": str(done.history),
        "usage": {
            "fresh": usage.fresh,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
            "output": usage.output,
        },
        "cost": None if price is None else float(price),
        "prefix": ready.report.sentence if ready.report else None,
        "diffs": list(ready.settled.older),
    }


def _tell(ready: "Prepared", done: "Delivered") -> None:
    """Print what was sent, read from the cache and paid to standard error."""
    reply, usage = done.reply, done.reply.usage
    if ready.settled.older:
        click.echo(_told_by_diffs(ready), err=True)
    if ready.report:
        click.echo(ready.report.sentence, err=True)
    if reply.stop.value != "end":
        click.echo(f"warning: the answer is not complete ({reply.stop.value})", err=True)
    read = f"{usage.cache_read:,} read from the cache ({usage.cache_share:.0%}"
    read += f", {ready.expected.cache_read:,} expected)" if usage.cache_read < ready.expected.cache_read else ")"
    click.echo(
        f"{usage.input:,} tokens in: {read}, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{usage.output:,} out; {_money(_cost(ready, usage))}"
        + (" if it had been asked" if ready.client.provider == "scripted" else ""),
        err=True,
    )
    click.echo(f"{done.path}, {done.history}", err=True)


def _told_by_diffs(ready: "Prepared") -> str:
    older, extra = ready.settled.older, ready.settled.extra
    return f"shown as the cache holds them, with diffs ({extra:+,} tokens): {', '.join(older)}"


def _cost(ready: "Prepared", usage: "Usage") -> "Decimal | None":
    from aggregate.clients.prices import cost

    return cost(usage, ready.client.model, provider=ready.client.provider)


def _money(amount: "Decimal | None") -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


def _print_piece(piece: str) -> None:
    click.echo(piece, nl=False)


def _tell_wait(seconds: float, error: "ProviderError") -> None:
    click.echo(f"{error}; trying again in {seconds:.1f} s", err=True)
