"""One turn of a discussion: plan, cost and answer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from aggregate.base.messages import short_list
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.prompt import Composition, Request
from aggregate.prompt.document import Prompt, Section
from aggregate.prompt.output.numbered_output import request_log_path
from aggregate.sending.bills import Bill
from aggregate.sending.cache.file_order import OrderedPrompt
from aggregate.sending.cache.fingerprint import PrefixReport, PromptFingerprint
from aggregate.sending.cache.request_plan import BlockRole, RequestPlan, role_and_words
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.learned import NOTHING, Endpoint, Kinds, Learned
from aggregate.sending.clients.own_models import cost
from aggregate.sending.clients.protocol import ChatRequest
from aggregate.sending.model_selection import ModelSelection
from aggregate.sending.models import LONG_LIFETIME, NO_REPLY, SCRIPTED, Reply, Usage, dollars
from aggregate.sending.request_log import LoggedRequest

_CODE = (Section.FILES.value, Section.CHANGED.value)  # sections that are mostly code


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of a discussion: the composed prompt, the request, and later the answer."""

    project: Project
    client: Client
    selection: ModelSelection
    asked: ChatRequest  # with its plan, without secrets
    request: Request  # its history ends with the user's message
    composition: Composition  # in the order of the configuration
    ordered: OrderedPrompt  # in the order for sending
    expected: Usage  # expected cache reads and writes
    record: LoggedRequest
    prefix: PrefixReport | None  # shared with the last prompt, ``None`` for the first one
    budget: int | None  # of the whole request by the provider's count, ``None`` for no limit
    warnings: tuple[str, ...]
    replaces: tuple[Mapping[str, Any], ...] = ()  # last turns to replace after the answer
    looked: tuple[str, ...] = ()  # picks and price of a second look (T-10)
    learned: Learned = NOTHING
    begun: float = field(default_factory=time.time)  # planning time, seconds since the epoch
    reply: Reply = NO_REPLY
    # ``None`` outside of all discussions and without a project file
    history: Path | None = None
    answer: Path | None = None  # the file of the answer
    doubts: tuple[str, ...] = ()  # about the answer

    @property
    def plan(self) -> RequestPlan:
        return self.asked.plan

    @property
    def provider(self) -> str:
        return self.client.provider

    @property
    def model(self) -> str:
        return self.asked.model

    @property
    def path(self) -> Path:
        return self.record.path

    @property
    def provider_tokens(self) -> int:
        """Input tokens of the request, estimated as the provider counts them (B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def news(self) -> list[str]:
        older, extra = self.ordered.older, self.ordered.extra
        description = f"shown as the cache holds them, with diffs ({extra:+,} tokens)"
        diffs = [f"{description}: {short_list(older)}"] if older else []
        return [*diffs, *([self.prefix.sentence] if self.prefix else [])]

    @property
    def notes(self) -> Sequence[str]:
        name = self.request.discussion
        is_first = name not in ("", NO_DISCUSSION) and len(self.request.history) == 1
        begins = f'the discussion "{name}" begins' if is_first else ""
        return tuple(filter(None, (begins, *self.looked)))

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.provider, self.model, self.client.address)

    @property
    def kinds(self) -> Kinds:
        code = sum(part.tokens for part in self.fingerprint.segments if part.section in _CODE)
        return Kinds(code, self.plan.total - code)

    @property
    def forecast(self) -> Usage:
        """Expected usage of the request in the provider's tokens."""
        if self.provider == SCRIPTED:
            return self.expected
        ratios, kinds = self.learned.ratios(self.endpoint), self.kinds
        counted = ratios[0] * kinds.code + ratios[1] * kinds.words
        return self.expected.scaled(counted / sum(kinds)) if sum(kinds) else self.expected

    @property
    def expected_price(self) -> Decimal | None:
        """Expected price of the input; part of the expected cache reads may fail."""
        forecast, lost = self.forecast, Decimal(str(self.learned.miss_share))
        price, missed = self.price(forecast), self.price(self._all_anew(forecast))
        if price is None or missed is None or not forecast.cache_read:
            return price
        return price * (1 - lost) + missed * lost

    def _all_anew(self, usage: Usage) -> Usage:
        layout, usual = self.plan.layout, self.plan.policy.seconds
        if not layout.breakpoints:
            return Usage(fresh=usage.input)
        is_long = any(lives > usual for lives in layout.lifetimes)
        return Usage(cache_write=usage.input, cache_write_long=usage.input * is_long)

    @property
    def most_it_costs(self) -> Decimal | None:
        """Price of the request if the cache holds nothing and the answer has its maximum length."""
        anew = self._all_anew(self.forecast)
        return self.price(replace(anew, output=self.asked.max_output))

    @property
    def stopped_bill(self) -> Bill | None:
        """Cost of the request if it failed or was stopped, ``None`` if it was free."""
        return Bill.of_stopped(self.client, self.asked, self.forecast)

    @property
    def bill(self) -> Bill:
        return Bill.of(self.provider, self.model, self.forecast, self.reply.usage)

    def price(self, usage: Usage) -> Decimal | None:
        return cost(usage, self.model, provider=self.provider)

    @property
    def warmth(self) -> str:
        """How long the provider's cache holds the prompt, in words; ``""`` if it has no cache."""
        log = request_log_path(self.path)
        return self.plan.warmth(time.time() - log.stat().st_mtime) if log.is_file() else ""

    @property
    def file_tokens(self) -> dict[str, int]:
        """Tokens of each file in the prompt, including its diffs."""
        tokens: dict[str, int] = {}
        for segment in self.fingerprint.segments:
            if segment.section in _CODE and segment.source:
                tokens[segment.source] = tokens.get(segment.source, 0) + segment.tokens
        return tokens

    @property
    def prompt(self) -> Prompt:
        return self.ordered.prompt.prompt

    @property
    def fingerprint(self) -> PromptFingerprint:
        return self.ordered.prompt.fingerprint

    @property
    def lines(self) -> list[str]:
        """The plan of the request as lines to print."""
        data = self.data
        lines = [f"{'tokens':>10} {'segments':>9}  {'role':9}  block"]
        for block in data["blocks"]:
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
        client, usage, total = self.client, self.expected, self.plan.total
        model = f"{client.provider} {client.model}".strip()
        address = f" at {client.address}" if client.address else ""
        sizes = f"{total:>10,} {len(self.prompt.segments):>9,}"
        lines.append(f"{sizes}  {'':9}  in all, to {model}{address}")
        chosen = self.selection.chosen.items()
        choices = (f"{choice.of(name)} ({choice.source})" for name, choice in chosen)
        lines.append(f"chosen: {', '.join(choices)}")
        if self.budget is not None or self.provider_tokens != total:  # rule B-10
            counted = (
                f"about {self.provider_tokens:,} tokens by {client.provider}'s count, {total:,} by o200k "
                f"({client.ratio.value:g} per token, {client.ratio.source})"
            )
            budget = "" if self.budget is None else f"; the budget is {self.budget:,}"
            lines.append(f"{counted}{budget}")
        first = self.learned.first_piece
        words = f"; first words after about {first:.1f} s" if first else ""
        lines.append(
            f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, "
            f"{usage.fresh:,} fresh; {dollars(self.expected_price)} for the input{words}"
        )
        return [*lines, *self.news]

    @property
    def data(self) -> dict[str, Any]:
        usage, amount = self.expected, self.expected_price
        return {
            "provider": self.provider,
            "model": self.model,
            "address": self.client.address,
            "origins": {name: choice.source for name, choice in self.selection.chosen.items()},
            "discussion": self.request.discussion or DEFAULT,
            "tokens": self.plan.total,
            "provider_tokens": self.provider_tokens,
            "ratio": self.client.ratio.value,
            "ratio_source": self.client.ratio.source,
            "budget": self.budget,
            "blocks": _blocks(self),
            "expected": {
                "fresh": usage.fresh,
                "cache_write": usage.cache_write,
                "cache_read": usage.cache_read,
            },
            "cost": None if amount is None else float(amount),
            "first_words": round(self.learned.first_piece, 1) or None,
            "prefix": self.prefix.sentence if self.prefix else None,
            "diffs": list(self.ordered.older),
            "warnings": list(self.warnings),
        }


def _blocks(turn: Exchange) -> list[dict[str, Any]]:
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
