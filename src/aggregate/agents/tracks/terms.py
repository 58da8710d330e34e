"""What the user allows a run's workers: whom they ask, which tools they have, and how much one attempt may use."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.agents.goals import EngineLimits
from aggregate.agents.tools import ToolRegistry, standard_tools
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.errors import ConfigError
from aggregate.base.text import did_you_mean
from aggregate.project.configuration import user_config
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import PROVIDERS

_USUAL = EngineLimits()


class Recipient(NamedTuple):
    """Whom to ask; empty where the worker's own client is meant.

    Attributes:
        base_url: Where it is reached, ``""`` for its own address.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


OWN: Final = Recipient()
"""Whoever the worker was started for; of the scripted worker nobody."""


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

    def lowered(
        self,
        max_tokens: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
    ) -> "TicketLimits":
        """Return these limits, lowered to those that a project or a ticket names; none is ever raised."""
        seconds = [each for each in (self.max_seconds, max_seconds) if each is not None]
        return TicketLimits(
            min(self.max_tokens, max_tokens or self.max_tokens),
            min(seconds, default=None),
            min(self.max_steps, max_steps or self.max_steps),
        )

    def changed(
        self,
        *,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_steps: int | None = None,
    ) -> "TicketLimits":
        """Return these limits with those that the user names in their place."""
        return TicketLimits(
            max_tokens or self.max_tokens,
            self.max_seconds if max_seconds is None else max_seconds,
            max_steps or self.max_steps,
        )


USUAL = TicketLimits()
"""What is allowed where nobody said otherwise."""


def _usual_tools() -> ToolRegistry:
    return standard_tools(roots=(Path(),))


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """What the user allows the workers of a run.

    Attributes:
        provider: Who is asked where a ticket's persona names nobody.
        model: Which of the provider's models, ``""`` for its usual one.
        base_url: Where the provider is reached, ``""`` for its own address.
        tools: What tickets may name, and what these tools may do.
        limits: What one attempt at a ticket may use.
    """

    provider: str = SCRIPTED
    model: str = ""
    base_url: str = ""
    tools: ToolRegistry = field(default_factory=_usual_tools)
    limits: TicketLimits = USUAL

    @property
    def recipient(self) -> Recipient:
        """Whom tickets ask whose personas name nobody; no model for the scripted worker."""
        if self.provider == SCRIPTED:
            return Recipient()
        model = self.model or PROVIDERS[self.provider].model
        return Recipient(self.provider, model, self.base_url)


def user_limits() -> TicketLimits:
    """Return what the user's own configuration allows, else the usual limits.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    table = user_config().conduct
    return TicketLimits().changed(
        max_tokens=table.max_tokens, max_seconds=table.max_seconds, max_steps=table.max_steps
    )


def check_tools(ticket: Ticket, tools: ToolRegistry) -> None:
    """Make sure that a ticket's tools exist and may do what they do.

    Raises:
        ConfigError: There is no such tool, or it needs a permission that the user has not given.
    """
    for name in ticket.tools:
        if name not in tools:
            raise ConfigError(
                f'the ticket "{ticket.id}" names the tool {name!r}: {did_you_mean(name, tools.names)}'
            )
        lacking = sorted(tools.get(name).permissions - tools.permissions)
        if lacking:
            options = " ".join(f"--allow {permission}" for permission in lacking)
            raise ConfigError(
                f'the ticket "{ticket.id}" names the tool {name!r}, which needs more than you have allowed: '
                f"add {options}"
            )
