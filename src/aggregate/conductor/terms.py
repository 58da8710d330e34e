"""What the user allows a run's workers: whom they ask, which tools they have, and how much one attempt may use."""

from dataclasses import dataclass, field, replace

from aggregate.agent import EngineLimits
from aggregate.conductor.tickets import Ticket
from aggregate.config.schema import ConductTable
from aggregate.prompt_cache.policy import SCRIPTED
from aggregate.tools import ToolRegistry, standard_tools

_USUAL = EngineLimits()


@dataclass(frozen=True, slots=True)
class TicketLimits:
    """What one attempt at a ticket may use at most.

    Attributes:
        max_tokens: Of all its requests and answers together; the usual number is the agent's.
        max_seconds: Wall time; ``None`` for what the ticket says.
        max_steps: Of a ticket with tools.
    """

    max_tokens: int = _USUAL.tokens
    max_seconds: float | None = None
    max_steps: int = _USUAL.steps

    def lowered(self, table: ConductTable | Ticket) -> "TicketLimits":
        """Return these limits, lowered to those of a project's configuration or a ticket; none is ever raised."""
        seconds = [each for each in (self.max_seconds, table.max_seconds) if each is not None]
        return TicketLimits(
            min(self.max_tokens, table.max_tokens or self.max_tokens),
            min(seconds, default=None),
            min(self.max_steps, table.max_steps or self.max_steps),
        )

    def changed(
        self,
        *,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_steps: int | None = None,
    ) -> "TicketLimits":
        """Return these limits with those that the user names in their place."""
        named = {"max_tokens": max_tokens, "max_seconds": max_seconds, "max_steps": max_steps}
        return replace(self, **{name: value for name, value in named.items() if value is not None})


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """What the user allows the workers of a run.

    Attributes:
        provider: Who is asked where a ticket's persona names nobody.
        model: Which of the provider's models, ``""`` for its usual one.
        tools: What tickets may name, and what these tools may do.
        limits: What one attempt at a ticket may use.
    """

    provider: str = SCRIPTED
    model: str = ""
    tools: ToolRegistry = field(default_factory=standard_tools)
    limits: TicketLimits = TicketLimits()
