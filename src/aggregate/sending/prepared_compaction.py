"""What is known of a compaction before it is paid for, and what became of it."""

from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import Any, Final

from aggregate.base.values import Usage
from aggregate.sending.clients.pricing import cost
from aggregate.sending.prepared_turn import PreparedTurn
from aggregate.sending.turn import CompletedTurn

SUMMARY_WORDS: Final = 600
"""The most that a summary is asked to have."""
_SUMMARY_TOKENS: Final = 800
"""What a summary of so many words has."""


@dataclass(frozen=True, slots=True)
class PreparedCompaction:
    """A compaction that can be paid for.

    Attributes:
        turn: The request for the summary.
        name: The discussion, ``""`` for the default one.
        turns: The turns that become a summary.
        tokens: Theirs, by o200k.
        staying_tokens: Those of the turns that stay.
        kept_as: The name of the discussion in which all turns are kept.
        is_whole_prompt: Whether the files are sent along, since a cache holds them.
    """

    turn: PreparedTurn
    name: str
    turns: tuple[Any, ...]
    tokens: int
    staying_tokens: int
    kept_as: str
    is_whole_prompt: bool

    @property
    def price(self) -> Decimal | None:
        """What the summary is expected to cost in US dollars, ``None`` where no price is known."""
        output = min(_SUMMARY_TOKENS, self.turn.max_output)
        return self._cost(replace(self.turn.expected, output=output))

    @property
    def saved(self) -> int:
        """How many tokens each further turn is expected to have less."""
        return self.tokens - _SUMMARY_TOKENS

    @property
    def pays_back_after(self) -> int | None:
        """After how many further turns that follow quickly it has cost less, ``None`` where no price is known.

        What stays of the discussion is written once more, and each turn reads less.
        """
        policy = self.turn.plan.policy
        price, token = self.price, self._cost(Usage(fresh=1_000_000))
        if price is None or not token or self.saved <= 0:
            return None
        token /= 1_000_000
        again = Decimal(str(policy.write - policy.read)) * (self.staying_tokens + _SUMMARY_TOKENS)
        return ceil((price + again * token) / (Decimal(str(policy.read)) * self.saved * token))

    @property
    def sentence(self) -> str:
        """What it costs and saves, to be said beforehand."""
        price = self.price
        costs = "at a price that is not known" if price is None else f"for about ${price:.4f}"
        what = "the prompt, which a cache holds" if self.is_whole_prompt else "these turns alone"
        sentence = (
            f"{len(self.turns):,} turns ({self.tokens:,} tokens) become a summary, {costs}, asked of "
            f"{self.turn.client.provider} {self.turn.client.model} behind {what}; "
            f"each further turn then has about {max(self.saved, 0):,} tokens less"
        )
        after = self.pays_back_after
        return sentence if after is None else f"{sentence}, which pays after {after:,} of them"

    def _cost(self, usage: Usage) -> Decimal | None:
        client = self.turn.client
        return cost(usage, client.model, provider=client.provider)


@dataclass(frozen=True, slots=True)
class CompletedCompaction:
    """What became of a discussion.

    Attributes:
        completed: The answer with the summary, and its files.
        history: The file of the discussion.
        kept: The file with all turns as they were.
        kept_as: The name of that discussion.
    """

    completed: CompletedTurn
    history: Path
    kept: Path
    kept_as: str

    @property
    def sentence(self) -> str:
        """What to do to go on from all turns."""
        return f"all turns are kept: --discussion {self.kept_as} goes on from them"
