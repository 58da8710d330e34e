"""Who is to be asked, as the user says it, and who is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aggregate.base.values import Amount
from aggregate.project.configuration import PersonaTable
from aggregate.sending.clients.capabilities import Effort
from aggregate.sending.clients.client import Client

USUAL_MAX_OUTPUT: Final = 16_000
"""Tokens of the longest answer that is asked for by default: all models can write as many, and few need more."""


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Who is asked; empty fields are taken from the persona, then from ``[send]``, then from the provider.

    Attributes:
        provider: One of ``aggregate.sending.clients.providers.NAMES``.
        model: The provider's name of the model, or an alias of ``[send.aliases]``.
        persona: The name of a persona in the configuration.
        base_url: Where the provider is reached.
        max_output: The most tokens that the model may write; ``None`` leaves it to the configuration.
        redact: Whether secrets are replaced; ``None`` leaves it to the user's configuration.
        budget: The most tokens of the whole request by the provider's count, or ``"auto"``; ``None`` leaves it to the
            persona, then to the configuration.
        cache: How long the provider's cache is to keep what is sent: ``auto``, ``5m``, ``1h`` or ``off``; ``""`` leaves
            it to the configuration.
        effort: How long the model thinks before it answers; ``None`` leaves it to the model.
        temperature: How freely it chooses its words; ``None`` leaves it to the model.
        system: The instructions, ``""`` for the persona's.
        discussion: Which discussion goes on, ``""`` for the default one, or for that of the scripted client where it is
            asked; a new name begins one, and ``"none"`` is a question outside of all.
    """

    provider: str = ""
    model: str = ""
    persona: str = ""
    base_url: str = ""
    max_output: int | None = None
    redact: bool | None = None
    budget: Amount | str | None = None
    cache: str = ""
    effort: Effort | None = None
    temperature: float | None = None
    system: str = ""
    discussion: str = ""


@dataclass(frozen=True, slots=True)
class SelectedModel:
    """Who is asked.

    Attributes:
        client: Reaches the model.
        persona: Has the instructions.
        address: Where it is sent, ``""`` for the provider's own address.
        warnings: What of the persona is not used, and what its project has named.
        max_output: The most tokens that the model may write.
        effort: How long the model thinks, ``None`` for its own choice.
        temperature: How freely it chooses its words, ``None`` for its own choice.
        discussion: Which discussion goes on, ``""`` for the default one.
        origins: Where each choice is from: ``provider``, ``model``, and what else is no usual one: ``persona``,
            ``max_output``, ``effort``, ``temperature``.
    """

    client: Client
    persona: PersonaTable
    address: str = ""
    warnings: tuple[str, ...] = ()
    max_output: int = USUAL_MAX_OUTPUT
    effort: Effort | None = None
    temperature: float | None = None
    discussion: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
