"""What the user allows a run's workers: whom they ask, which tools they have, and how much one attempt may use."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.agents.goals import EngineLimits
from aggregate.agents.tools import ToolRegistry, standard_tools
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.errors import ConfigError
from aggregate.base.text import did_you_mean
from aggregate.base.values import AUTO, Amount, Budget, FileOrder
from aggregate.project.configuration import BudgetTable, user_config
from aggregate.prompt import auto_budget
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import PROVIDERS, context_window, shipped_ratio

_USUAL = EngineLimits()
_ANSWER: Final = 16_000
"""Tokens that a model may write, which ``auto`` leaves free: as many as a request allows by default."""
_ONCE: Final = 0.8
"""The most that a context takes of the tokens of an attempt that sends it once: the answer has the others."""
_TWICE: Final = 0.4
"""The same of a ticket with tools, whose context is sent with the plan and with the answer."""
_AROUND_FILE = 200
"""More than a file's heading and its fences have beside its path, which may be escaped."""
_AROUND_ALL = 1_000
"""More than the headings of all sections, the note on turns that are left out, and separators have."""


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


class GrantedBudget(NamedTuple):
    """The budget of one ticket.

    Attributes:
        budget: The most tokens of all that its worker is shown.
        is_own: Whether the ticket or its persona named it: then files are chosen for this ticket alone.
        is_named: Whether anybody named it; else the focus files may exceed it.
    """

    budget: Budget
    is_own: bool = False
    is_named: bool = False


def grant_budget(
    ticket: Ticket,
    table: BudgetTable,
    *,
    persona: Amount | None,
    recipient: Recipient,
    max_tokens: int,
) -> GrantedBudget:
    """Return a ticket's budget: its own, else its persona's, else the configured one, else half of its model's window.

    Args:
        ticket: The ticket.
        table: What the configuration says of all prompts (rules B-1 and B-11).
        persona: What its persona says.
        recipient: Whose window; a model that is not known has none.
        max_tokens: What one attempt may use.
    """
    own = persona if ticket.budget is None else ticket.budget
    usual = table.tokens if table.tier3 is None else table.tier3
    named = usual if own is None else own
    if named is None:
        tokens = default_tokens(recipient, most=table.most)
    elif named == AUTO:
        tokens = auto_budget(window_of(recipient), _ANSWER, most=table.most)
    else:
        tokens = named
    share = _TWICE if ticket.tools else _ONCE
    ratio = shipped_ratio(recipient.provider, recipient.model)
    tokens = max(1, min(tokens, ratio.own_tokens(int(max_tokens * share))))
    budget = Budget(tokens, table.history, table.results, FileOrder(table.order))
    return GrantedBudget(budget, is_own=own is not None, is_named=named is not None)


def default_tokens(recipient: Recipient, *, most: int) -> int:
    """Return half of a model's window by our count, at most ``most``; without a known window what ``auto`` takes."""
    window = window_of(recipient)
    if window is None:
        return auto_budget(None, 0, most=most)
    ratio = shipped_ratio(recipient.provider, recipient.model)
    return max(1, min(ratio.own_tokens(window // 2), most))


def window_of(recipient: Recipient) -> int | None:
    """Return the context window of whom a ticket asks, ``None`` where it is not known."""
    return context_window(recipient.model) if recipient.model else None


def raised(granted: GrantedBudget, tokens: int) -> GrantedBudget:
    """Return a budget that nobody named, raised to what must be shown."""
    return granted._replace(budget=replace(granted.budget, tokens=tokens))


def fits_surely(
    budget: Budget, ticket: Ticket, base_dir: Path, *, message: str, persona: str, others: int
) -> bool:
    """Tell whether a budget exceeds all that must be shown by far, so that nothing needs to be composed to know it.

    A token has at least one byte. What is not known, as the size of a file that is named by a part of its path, makes
    it not sure.

    Args:
        budget: Of all that the worker is shown.
        ticket: Whose focus files.
        base_dir: Where their paths begin.
        message: The task, as it is put behind the context.
        persona: The instructions.
        others: Bytes of the other sections.
    """
    size = (
        others
        + _AROUND_ALL
        + sum(len(text.encode(errors="replace")) for text in (message, persona))
    )
    for focus in ticket.focus_files:
        try:
            size += (base_dir / focus).stat().st_size
        except (OSError, ValueError):
            return False
        size += _AROUND_FILE + 2 * len(focus.encode(errors="replace"))
    return size < budget.tokens
