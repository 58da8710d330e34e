"""One turn of a discussion: plan, cost and answer."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from aggregate.project.configuration import Project
from aggregate.prompt import Composition
from aggregate.prompt.asking import Request
from aggregate.prompt.document import Prompt
from aggregate.sending.bills import Bill
from aggregate.sending.cache.file_order import OrderedPrompt
from aggregate.sending.cache.hashed_prompt import PrefixReport
from aggregate.sending.cache.request_plan import BlockRole, RequestPlan, role_and_words
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.model_prices import NOTHING, Learned, cost
from aggregate.sending.clients.protocol import ChatRequest
from aggregate.sending.model_selection import ModelSelection
from aggregate.sending.models import NO_REPLY, Reply, Usage
from aggregate.sending.request_log import LoggedRequest


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
    def prompt(self) -> Prompt:
        return self.ordered.prompt.prompt

    @property
    def provider_tokens(self) -> int:
        """Input tokens of the request, estimated as the provider counts them (B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def forecast(self) -> Usage:
        """Expected usage of the request in the provider's tokens."""
        return self.expected.scaled(self.client.ratio.value)

    @property
    def expected_price(self) -> Decimal | None:
        """Expected price of the input; part of the expected cache reads may fail."""
        forecast, lost = self.forecast, Decimal(str(self.learned.miss_share))
        price, missed = self.price(forecast), self.price(self._all_anew)
        if price is None or missed is None or not forecast.cache_read:
            return price
        return price * (1 - lost) + missed * lost

    @property
    def _all_anew(self) -> Usage:
        """Usage of the request if the cache holds nothing."""
        layout, tokens = self.plan.layout, self.forecast.input
        if not layout.breakpoints:
            return Usage(fresh=tokens)
        is_long = any(lives > self.plan.policy.seconds for lives in layout.lifetimes)
        return Usage(cache_write=tokens, cache_write_long=tokens * is_long)

    @property
    def most_it_costs(self) -> Decimal | None:
        """Price of the request if the cache holds nothing and the answer has its maximum length."""
        return self.price(replace(self._all_anew, output=self.asked.max_output))

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
    def blocks(self) -> list[dict[str, Any]]:
        """The planned blocks as JSON data, without the user's message after the prompt."""
        plan, layout, segments = self.plan, self.plan.layout, self.ordered.prompt.segments
        blocks = []
        for start, end in pairwise((0, *layout.ends)):
            parts = [part for part in segments[start:end] if part.tokens]
            if not parts:
                continue
            role = role_and_words([part.segment for part in segments[start:end]])[0]
            is_marked = end in layout.breakpoints
            blocks.append(
                {
                    "role": role.value if end > 1 else BlockRole.SYSTEM.value,
                    "sources": [part.source or f"[{part.section}]" for part in parts],
                    "images": [image.path for part in parts for image in part.images],
                    "segments": len(parts),
                    "tokens": sum(part.tokens for part in parts),
                    "up_to": plan.tokens[end - 1],
                    "marked": is_marked,
                    "lifetime": layout.lifetime(end, plan.policy.seconds) if is_marked else 0,
                }
            )
        return blocks
