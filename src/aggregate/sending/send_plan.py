"""What ``send --dry-run`` shows: the blocks of the request, its breakpoints, and what the cache is expected to do."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from aggregate.base.text import short_list
from aggregate.base.values import Segment, Usage
from aggregate.project.history import DEFAULT
from aggregate.sending.cache.policy import LONG_LIFETIME, SCRIPTED
from aggregate.sending.cache.request_plan import BlockRole, role_and_words
from aggregate.sending.clients.own_models import cost
from aggregate.sending.send_settings import OPTION
from aggregate.sending.turn_preparation import PreparedTurn


def plan_lines(turn: PreparedTurn) -> list[str]:
    """Return the plan as a person reads it."""
    data = plan_data(turn)
    lines = [f"{'tokens':>10} {'segments':>9}  {'role':9}  block"]
    for block in data["blocks"]:
        first, last = block["sources"][0], block["sources"][-1]
        sources = first if first == last else f"{first} … {last}"
        if images := len(block["images"]):
            sources += f", with {images:,} image{'s' * (images > 1)}"
        lines.append(
            f"{block['tokens']:>10,} {block['segments']:>9,}  {block['role']:9}  {sources}"
        )
        if block["marked"]:
            lives = ", kept for an hour" if block["lifetime"] >= LONG_LIFETIME else ""
            up_to = f"{block['up_to']:,} tokens{lives}"
            lines.append(f"{'':>10} {'':>9}  {'':9}  ── breakpoint, {up_to} ──")
    usage = turn.expected
    model = f"{turn.client.provider} {turn.client.model}".strip()
    address = f" at {turn.address}" if turn.address else ""
    lines.append(
        f"{turn.plan.total:>10,} {len(turn.prompt.segments):>9,}  {'':9}  in all, to {model}{address}"
    )
    lines.append(origins_sentence(turn))
    lines.extend(_counts(turn))
    lines.append(
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{dollars(price(turn, usage))} for the input"
    )
    if turn.ordered.older:
        lines.append(diffs_sentence(turn))
    if turn.report:
        lines.append(turn.report.sentence)
    return lines


def plan_data(turn: PreparedTurn) -> dict[str, Any]:
    """Return the plan as JSON data."""
    usage = turn.expected
    amount = price(turn, usage)
    return {
        "provider": turn.client.provider,
        "model": turn.client.model,
        "address": turn.address,
        "origins": dict(turn.origins),
        "discussion": turn.request.discussion or DEFAULT,
        "tokens": turn.plan.total,
        "provider_tokens": turn.provider_tokens,
        "ratio": turn.client.ratio.value,
        "ratio_source": turn.client.ratio.source,
        "budget": turn.budget,
        "blocks": _blocks(turn),
        "expected": {
            "fresh": usage.fresh,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
        },
        "cost": None if amount is None else float(amount),
        "prefix": turn.report.sentence if turn.report else None,
        "diffs": list(turn.ordered.older),
        "warnings": list(turn.warnings),
    }


def origins_sentence(turn: PreparedTurn) -> str:
    """Return where provider, model and what else was chosen are from."""
    chosen = {"provider": turn.client.provider, "model": turn.client.model or "its own"}
    chosen["max_output"] = f"at most {turn.max_output:,} tokens of answer"
    chosen["effort"] = str(turn.effort)
    chosen["temperature"] = "" if turn.temperature is None else f"{turn.temperature:g}"
    parts = []
    for name, source in turn.origins.items():
        value = chosen.get(name, "")
        parts.append(
            f'persona "{source}"' if name == "persona" else f"{_LABELS[name]}{value} ({source})"
        )
    if turn.request.discussion:
        source = "its own" if turn.request.discussion == SCRIPTED else OPTION
        parts.append(f'discussion "{turn.request.discussion}" ({source})')
    return f"chosen: {', '.join(parts)}"


_LABELS = {
    "provider": "provider ",
    "model": "model ",
    "max_output": "",
    "effort": "effort ",
    "temperature": "temperature ",
}


def _counts(turn: PreparedTurn) -> list[str]:
    """Return what the request has by the provider's own count, and by ours (rule B-10); none where both are one."""
    ratio, budget = turn.client.ratio, turn.budget
    if budget is None and turn.provider_tokens == turn.plan.total:
        return []
    counted = (
        f"about {turn.provider_tokens:,} tokens by {turn.client.provider}'s count, {turn.plan.total:,} by o200k "
        f"({ratio.value:g} for each, {ratio.source})"
    )
    return [f"{counted}; the budget is {budget:,}" if budget is not None else counted]


def _blocks(turn: PreparedTurn) -> list[dict[str, Any]]:
    """Return the blocks of the request that hold tokens."""
    layout, segments = turn.plan.layout, turn.fingerprint.segments
    blocks = []
    for start, end in zip((0, *layout.ends), layout.ends, strict=False):
        block = [segment for segment in segments[start:end] if segment.tokens]
        if not block:
            continue
        blocks.append(
            {
                "role": _role(turn.prompt.segments[max(start - 1, 0) : end - 1]).value,
                "sources": [segment.source or f"[{segment.section}]" for segment in block],
                "images": [
                    image.path
                    for part in turn.ordered.prompt.segments[max(start - 1, 0) : end - 1]
                    for image in part.images
                ],
                "segments": len(block),
                "tokens": sum(segment.tokens for segment in block),
                "up_to": turn.plan.tokens[end - 1],
                "marked": end in layout.breakpoints,
                "lifetime": layout.lifetime(end, turn.plan.policy.seconds)
                if end in layout.breakpoints
                else 0,
            }
        )
    return blocks


def _role(segments: Sequence[Segment]) -> BlockRole:
    """Return who says the segments of a block; the instructions are no segments of the prompt."""
    return role_and_words(segments)[0] if segments else BlockRole.SYSTEM


def diffs_sentence(turn: PreparedTurn) -> str:
    """Return which files are sent as the cache holds them, and what their diffs cost."""
    older, extra = turn.ordered.older, turn.ordered.extra
    return f"shown as the cache holds them, with diffs ({extra:+,} tokens): {short_list(older)}"


def price(turn: PreparedTurn, usage: Usage) -> Decimal | None:
    """Return what ``usage`` costs at the turn's provider in US dollars, ``None`` where no price is known."""
    return cost(usage, turn.client.model, provider=turn.client.provider)


def dollars(amount: Decimal | None) -> str:
    """Return an amount as a person reads it."""
    return "price unknown" if amount is None else f"${amount:.4f}"
