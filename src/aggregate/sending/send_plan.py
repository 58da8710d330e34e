"""What ``send --dry-run`` shows: the blocks of the request, its breakpoints, and what the cache is expected to do."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

from aggregate.project.history import DEFAULT
from aggregate.sending.cache.policy import LONG_LIFETIME, SCRIPTED
from aggregate.sending.cache.request_plan import BlockRole, role_and_words
from aggregate.sending.model_selection import OPTION
from aggregate.sending.turn_composition import PreparedTurn


def plan_lines(turn: PreparedTurn) -> list[str]:
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
    client, usage, total = turn.client, turn.expected, turn.plan.total
    model = f"{client.provider} {client.model}".strip()
    address = f" at {turn.selected.address}" if turn.selected.address else ""
    segments = f"{len(turn.prompt.segments):>9,}"
    lines.append(f"{total:>10,} {segments}  {'':9}  in all, to {model}{address}")
    lines.append(_origins_sentence(turn))
    if turn.budget is not None or turn.provider_tokens != total:  # rule B-10
        counted = (
            f"about {turn.provider_tokens:,} tokens by {client.provider}'s count, {total:,} by o200k "
            f"({client.ratio.value:g} for each, {client.ratio.source})"
        )
        budget = "" if turn.budget is None else f"; the budget is {turn.budget:,}"
        lines.append(f"{counted}{budget}")
    lines.append(
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{dollars(turn.price(usage))} for the input"
    )
    return [*lines, *turn.news]


def plan_data(turn: PreparedTurn) -> dict[str, Any]:
    usage = turn.expected
    amount = turn.price(usage)
    return {
        "provider": turn.client.provider,
        "model": turn.client.model,
        "address": turn.selected.address,
        "origins": dict(turn.selected.origins),
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


def _origins_sentence(turn: PreparedTurn) -> str:
    options, client = turn.selected.options, turn.client
    chosen = {
        "provider": f"provider {client.provider}",
        "model": f"model {client.model or 'its own'}",
        "max_output": f"at most {options.max_output:,} tokens of answer",
        "effort": f"effort {options.effort}",
        "temperature": f"temperature {options.temperature or 0:g}",
    }
    parts = [
        f'persona "{source}"' if name == "persona" else f"{chosen[name]} ({source})"
        for name, source in turn.selected.origins.items()
    ]
    if turn.request.discussion:
        source = "its own" if turn.request.discussion == SCRIPTED else OPTION
        parts.append(f'discussion "{turn.request.discussion}" ({source})')
    return f"chosen: {', '.join(parts)}"


def _blocks(turn: PreparedTurn) -> list[dict[str, Any]]:
    plan, layout = turn.plan, turn.plan.layout
    blocks = []
    for start, end in pairwise((0, *layout.ends)):
        hashes = [part for part in turn.fingerprint.segments[start:end] if part.tokens]
        if not hashes:
            continue
        parts = turn.ordered.prompt.segments[max(start - 1, 0) : end - 1]
        role = role_and_words([part.segment for part in parts])[0] if parts else BlockRole.SYSTEM
        is_marked = end in layout.breakpoints
        blocks.append(
            {
                "role": role.value,
                "sources": [part.source or f"[{part.section}]" for part in hashes],
                "images": [image.path for part in parts for image in part.images],
                "segments": len(hashes),
                "tokens": sum(part.tokens for part in hashes),
                "up_to": plan.tokens[end - 1],
                "marked": is_marked,
                "lifetime": layout.lifetime(end, plan.policy.seconds) if is_marked else 0,
            }
        )
    return blocks


def dollars(amount: Decimal | None) -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"
