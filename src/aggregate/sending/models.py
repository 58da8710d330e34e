"""Models: what their names tell, what a request has cost, and what was answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

# The clouds that serve models of other makers: their caches, prices and limits go by the maker.
AZURE, BEDROCK, VERTEX = "azure", "bedrock", "vertex"


CLOUDS: Final = frozenset({AZURE, BEDROCK, VERTEX})


_MOST_TOKENS: Final = 10**12  # no request has more: a server that reports more reports nonsense


def bare_model_name(model: str) -> str:
    """Return a model's name in small letters, without a vendor, a region or a version of the one who serves it.

    ``us.anthropic.claude-opus-5-v1:0`` and ``publishers/anthropic/models/claude-opus-5@20260301`` begin like
    ``claude-opus-5``.
    """
    name = model.lower().rsplit("/", 1)[-1]
    return name.rpartition("anthropic.")[2] or name


def api_family(provider: str, model: str) -> str:
    """Return the provider whose rules hold for a cloud's model, the provider itself where it is no cloud."""
    if provider == VERTEX:
        return "anthropic" if bare_model_name(model).startswith("claude") else "gemini"
    return {AZURE: "openai", BEDROCK: "anthropic"}.get(provider, provider)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests; every input token is in exactly one of the first three fields."""

    fresh: int = 0  # input that was neither read from a cache nor written to one
    cache_write: int = 0  # input that was written to a cache and is charged for it
    cache_read: int = 0  # input that was read from a cache
    output: int = 0  # what the model wrote, its thoughts included
    # The part of ``cache_write`` that was written for the longer of two lifetimes, at its price.
    cache_write_long: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.cache_write + self.cache_read

    @property
    def cache_share(self) -> float:
        return self.cache_read / self.input if self.input else 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def reported_tokens(value: object) -> int:
    """Return a number of tokens as a server reports it; none for what is no such number: no answer is lost by it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= _MOST_TOKENS else 0


def reported_fields(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


class FinishReason(StrEnum):
    """Why a model stopped writing."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    text: str  # what the model wrote, without its thoughts
    usage: Usage  # tokens, in the one form of all providers; zeros where the provider reports none
    stop: FinishReason = FinishReason.END
    model: str = ""  # the model that answered, as the provider calls it
    # The provider's own account of usage and stop, for what the other fields do not say.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
