"""Renewing what a cache holds of a discussion while its user thinks, before it would be forgotten.

A read renews an entry and costs a tenth of an input token for each of its tokens; writing it again costs more than
twelve times as much. So a process that stays open can send the last request once more, with an answer of one token,
shortly before the entries' lifetime ends, which counts from the request. The caller decides when: nothing here waits.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from aggregate.base.values import Usage
from aggregate.prompt import request_log_path
from aggregate.sending.cache.policy import CacheLookup
from aggregate.sending.clients.gemini_caches import Action
from aggregate.sending.clients.pricing import cost
from aggregate.sending.clients.protocol import RequestOptions
from aggregate.sending.prepared_turn import PreparedTurn

_EARLY = 0.1
"""The part of a lifetime that is left when it is renewed: half a minute of five, time for two attempts."""
_SHORTEST_ANSWER = 1
"""Tokens: what every provider accepts as a limit."""


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """The renewals of one turn's cache entries.

    Attributes:
        turn: The turn that was sent.
        prompt: The file of its prompt, whose record says when it was last sent.
        minutes: How long to go on after the turn.
        sent: When the turn was sent, in seconds of the caller's clock.
        used: When its entries were last used, by the same clock.
        has_ended: Whether a renewal has found nothing to read.
    """

    turn: PreparedTurn
    prompt: Path
    minutes: float
    sent: float = 0.0
    used: float = 0.0
    has_ended: bool = False

    @property
    def period(self) -> float | None:
        """Seconds between two renewals, ``None`` where there is nothing to renew or nothing to save."""
        plan = self.turn.plan
        policy = plan.policy
        decision = self.turn.explicit_cache
        if decision is not None and decision.action is not Action.NONE:
            return None  # that cache lives for as long as it was bought for
        if policy.lookup is CacheLookup.NONE or policy.read >= policy.write:
            return None
        lives = [block.lifetime for block in plan.blocks if block.has_breakpoint]
        if policy.lookup is CacheLookup.BREAKPOINTS and not lives:
            return None
        return (1 - _EARLY) * min(lives, default=policy.seconds)

    @property
    def renewals(self) -> int:
        """How many renewals there are in all."""
        return int(60 * self.minutes / self.period) if self.period else 0

    @property
    def price(self) -> Decimal | None:
        """What all renewals cost in US dollars, ``None`` where no price is known; to be said beforehand."""
        client = self.turn.client
        usage = Usage(cache_read=self.turn.provider_tokens, output=_SHORTEST_ANSWER)
        amount = cost(usage, client.model, provider=client.provider)
        return None if amount is None else amount * self.renewals

    def due_in(self, now: float) -> float | None:
        """Return in how many seconds to renew, ``None`` for never more."""
        if self.period is None or self.has_ended:
            return None
        due = self.used + self.period
        if due > self.sent + 60 * self.minutes or now >= due + _EARLY * self.period:
            return None  # the time is over, or nothing is left to renew
        return max(due - now, 0.0)

    def renew(self, now: float) -> tuple["KeepAlive", Usage]:
        """Send the last request once more for a shortest answer, and return what follows, and what it has cost.

        Raises:
            ClientError: The provider refused or failed: the entries may be lost, and nothing else is.
        """
        # The rest as it was: other settings of thinking end what a cache finds of the messages.
        options = RequestOptions(
            max_output=_SHORTEST_ANSWER,
            temperature=self.turn.temperature,
            effort=self.turn.effort,
        )
        begun = time.time()
        usage = self.turn.client.exchange(self.turn.plan, options=options).usage
        with suppress(OSError):  # then the next turn expects less of the cache than it holds
            os.utime(request_log_path(self.prompt), (begun, begun))
        return replace(self, used=now, has_ended=not usage.cache_read), usage


def renew_until(
    kept: KeepAlive,
    wait: Callable[[float], bool],
    clock: Callable[[], float],
    on_renewed: Callable[[KeepAlive, Usage], None],
) -> None:
    """Renew what a cache holds whenever that is due.

    Args:
        kept: What to renew.
        wait: Waits so many seconds, and tells whether to stop.
        clock: Returns the time in seconds.
        on_renewed: Called with what follows each renewal, and what it has cost.

    Raises:
        ClientError: The provider refused or failed.
    """
    while (due := kept.due_in(clock())) is not None and not wait(due):
        kept, usage = kept.renew(clock())
        on_renewed(kept, usage)
