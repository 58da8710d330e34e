"""The plan, cost and answer of a turn, as lines and as JSON data."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from aggregate.base.messages import short_list
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.sending import Exchange, PreparedCompaction, dollars
from aggregate.sending.models import LONG_LIFETIME, Usage

_NEARLY = 0.95  # of the forecast cache reads, which are not exact


def plan_lines(turn: Exchange) -> list[str]:
    """Return the plan of a request as lines to print."""
    lines = [f"{'tokens':>10} {'segments':>9}  {'role':9}  block"]
    for block in turn.blocks:
        first, last = block["sources"][0], block["sources"][-1]
        sources = first if first == last else f"{first} … {last}"
        if images := len(block["images"]):
            sources += f", with {images:,} image{'s' * (images > 1)}"
        sizes = f"{block['tokens']:>10,} {block['segments']:>9,}"
        lines.append(f"{sizes}  {block['role']:9}  {sources}")
        if block["marked"]:
            lives = ", kept for an hour" if block["lifetime"] >= LONG_LIFETIME else ""
            up_to = f"{block['up_to']:,} tokens{lives}"
            lines.append(f"{'':>10} {'':>9}  {'':9}  ── breakpoint, {up_to} ──")
    client, usage, total = turn.client, turn.expected, turn.plan.total
    model = f"{client.provider} {client.model}".strip()
    address = f" at {client.address}" if client.address else ""
    sizes = f"{total:>10,} {len(turn.prompt.segments):>9,}"
    lines.append(f"{sizes}  {'':9}  in all, to {model}{address}")
    chosen = turn.selection.chosen.items()
    choices = (f"{choice.of(name)} ({choice.source})" for name, choice in chosen)
    lines.append(f"chosen: {', '.join(choices)}")
    if turn.budget is not None or turn.provider_tokens != total:  # rule B-10
        counted = (
            f"about {turn.provider_tokens:,} tokens by {client.provider}'s count, {total:,} by o200k "
            f"({client.ratio.value:g} per token, {client.ratio.source})"
        )
        budget = "" if turn.budget is None else f"; the budget is {turn.budget:,}"
        lines.append(f"{counted}{budget}")
    first = turn.learned.first_piece
    words = f"; first words after about {first:.1f} s" if first else ""
    lines.append(
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, "
        f"{usage.fresh:,} fresh; {dollars(turn.expected_price)} for the input{words}"
    )
    return [*lines, *cache_news(turn)]


def plan_data(turn: Exchange) -> dict[str, Any]:
    return {
        "provider": turn.client.provider,
        "model": turn.asked.model,
        "address": turn.client.address,
        "origins": {name: choice.source for name, choice in turn.selection.chosen.items()},
        "discussion": turn.request.discussion or DEFAULT,
        "tokens": turn.plan.total,
        "provider_tokens": turn.provider_tokens,
        "ratio": turn.client.ratio.value,
        "ratio_source": turn.client.ratio.source,
        "budget": turn.budget,
        "blocks": turn.blocks,
        "expected": _usage_data(turn.expected),
        "cost": _number(turn.expected_price),
        "first_words": round(turn.learned.first_piece, 1) or None,
        "prefix": turn.prefix.sentence if turn.prefix else None,
        "diffs": list(turn.ordered.older),
        "warnings": list(turn.warnings),
    }


def _usage_data(usage: Usage) -> dict[str, int]:
    return {"fresh": usage.fresh, "cache_write": usage.cache_write, "cache_read": usage.cache_read}


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def cache_news(turn: Exchange) -> list[str]:
    """Return sentences about files in older versions and the prefix shared with the last prompt."""
    older, extra = turn.ordered.older, turn.ordered.extra
    description = f"shown as the cache holds them, with diffs ({extra:+,} tokens)"
    diffs = [f"{description}: {short_list(older)}"] if older else []
    return [*diffs, *([turn.prefix.sentence] if turn.prefix else [])]


def turn_notes(turn: Exchange) -> Sequence[str]:
    name = turn.request.discussion
    is_first = name not in ("", NO_DISCUSSION) and len(turn.request.history) == 1
    return (*([f'the discussion "{name}" begins'] if is_first else []), *turn.looked)


def file_tokens(turn: Exchange) -> dict[str, int]:
    """Return the tokens of each file in the prompt, including its diffs."""
    tokens: dict[str, int] = {}
    for part in turn.ordered.prompt.parts:
        if part.section in ("files", "changed") and part.source:
            tokens[part.source] = tokens.get(part.source, 0) + part.tokens
    return tokens


def answer_data(turn: Exchange) -> dict[str, Any]:
    reply, bill = turn.reply, turn.bill
    return {
        "text": reply.text,
        "stop": reply.stop.value,
        "model": reply.model,
        "path": str(turn.path),
        "history": None if turn.history is None else str(turn.history),
        "answer": str(turn.answer),
        "warnings": [*turn.warnings, *turn.doubts],
        "usage": {**_usage_data(reply.usage), "output": reply.usage.output},
        "cost": _number(bill.price),
        "expected_cost": _number(bill.expected_price),
        "saved": _number(bill.saved),
        "prefix": turn.prefix.sentence if turn.prefix else None,
        "diffs": list(turn.ordered.older),
    }


def usage_sentence(turn: Exchange) -> str:
    usage = turn.reply.usage
    if not usage.input and not usage.output:
        return f"{turn.client.provider} reports no tokens; about {turn.plan.total:,} were sent"
    share = f"{usage.cache_share:.0%}"
    expected = turn.forecast.cache_read
    if usage.cache_read < expected * _NEARLY:
        share += f", about {expected:,} expected"
    hypothetical = " if it had been asked" if turn.client.provider == "scripted" else ""
    return (
        f"{usage.input:,} tokens in: {usage.cache_read:,} read from the cache ({share}), "
        f"{usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{usage.output:,} out; {turn.bill.sentence}{hypothetical}"
    )


def compaction_sentence(prepared: PreparedCompaction) -> str:
    amount, client = prepared.price, prepared.turn.client
    price = "price unknown" if amount is None else f"about ${amount:.4f}"
    return (
        f"{client.provider} {client.model} summarises {len(prepared.turns):,} turns ({prepared.tokens:,} tokens), "
        f"{price}; each further turn saves about {prepared.saved_tokens:,} tokens"
    )


def compaction_data(prepared: PreparedCompaction) -> dict[str, Any]:
    return {
        "provider": prepared.turn.client.provider,
        "model": prepared.turn.client.model,
        "discussion": prepared.name or DEFAULT,
        "turns": len(prepared.turns),
        "tokens": prepared.tokens,
        "kept_as": prepared.kept_as,
        "cost": _number(prepared.price),
        "warnings": list(prepared.turn.warnings),
    }
