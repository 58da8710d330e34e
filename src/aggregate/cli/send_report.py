"""What ``send`` tells of a turn: its answer as JSON, and what was sent, read from the cache and paid."""

from typing import Any

from aggregate.base.values import Usage
from aggregate.cli.output import say, warn
from aggregate.sending import CompletedTurn, PreparedTurn, diffs_sentence, dollars, price


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
