"""Models: what their names tell, what their providers' caches do, what a request has cost, and what was answered.

What caches do is one table with the date of what is known. Providers change minimum sizes monthly and their own pages
disagree, so an unknown model gets the strictest one of its provider, and what was really read is always taken from the
reply. Sources: the providers' documentation and the texts of their SDKs, as read in November 2026.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from aggregate.sending.calls import ToolCall

# The clouds that serve models of other makers: their caches, prices and limits go by the maker.
AZURE, BEDROCK, VERTEX = "azure", "bedrock", "vertex"
CLOUDS: Final = frozenset({AZURE, BEDROCK, VERTEX})


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


AS_OF = "2026-11-20"
COMPATIBLE, SCRIPTED = "compatible", "scripted"  # no companies: a server of one's own, and no model

# Seconds that Anthropic's entries live after their last use: without ``ttl``, and with ``"ttl": "1h"``.
SHORT_LIFETIME, LONG_LIFETIME = 300, 3600


class CacheLookup(StrEnum):
    BREAKPOINTS = "breakpoints"  # entries end at breakpoints that the request sets
    PREFIX = "prefix"  # any prefix of an earlier request
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """A prompt cache; prices are in those of an input token."""

    lookup: CacheLookup
    max_breakpoints: int = 0
    # blocks that are searched for an entry from a breakpoint on, that one included
    look_back: int = 1
    minimum: int = 1024  # tokens of the shortest prefix that is cached; shorter ones are passed over in silence
    step: int = 1  # prefixes are cached in multiples of so many tokens
    seconds: int = SHORT_LIFETIME  # how long an entry lives after its last use
    write: float = 1.0
    read: float = 0.1
    # the same where a breakpoint asks for the longer lifetime, 0 where none can
    long_seconds: int = 0
    long_write: float = 2.0


_ANTHROPIC = CachePolicy(
    CacheLookup.BREAKPOINTS,
    max_breakpoints=4,
    look_back=20,
    minimum=4096,
    write=1.25,
    long_seconds=LONG_LIFETIME,
)
_OPENAI = CachePolicy(CacheLookup.PREFIX, step=128)
# From 5.6 on a prefix is found at the request's own breakpoints only.
_OPENAI_BREAKPOINTS = CachePolicy(
    CacheLookup.BREAKPOINTS, max_breakpoints=4, seconds=1800, write=1.25
)
_GEMINI = CachePolicy(CacheLookup.PREFIX, minimum=4096)
_DEEPSEEK = CachePolicy(CacheLookup.PREFIX, minimum=64, step=64, seconds=3600, read=0.02)
_MINIMAX = CachePolicy(
    CacheLookup.BREAKPOINTS, max_breakpoints=4, look_back=20, minimum=512, write=1.25
)
NO_CACHE = CachePolicy(CacheLookup.NONE, read=1.0)
# What llama.cpp, vLLM and Ollama do: the longest common prefix stays in memory, at no price.
_LOCAL = CachePolicy(CacheLookup.PREFIX, minimum=1, seconds=3600, read=1.0)

_BY_PROVIDER = {
    "anthropic": _ANTHROPIC,
    "openai": _OPENAI,
    "gemini": _GEMINI,
    "gemini-cli": _GEMINI,
    "deepseek": _DEEPSEEK,
    "minimax": _MINIMAX,
    COMPATIBLE: _LOCAL,
    SCRIPTED: _ANTHROPIC,
}
# By the beginning of the model's name; the longest one that fits holds.
_BY_MODEL: dict[str, CachePolicy] = {
    "claude-opus-5": replace(_ANTHROPIC, minimum=512),
    "claude-opus-5-5": replace(_ANTHROPIC, minimum=512, read=0.05),
    "claude-fable-5": replace(_ANTHROPIC, minimum=512),
    "claude-mythos-5": replace(_ANTHROPIC, minimum=512),
    "claude-sonnet-5": replace(_ANTHROPIC, minimum=1024),
    "claude-sonnet-4": replace(_ANTHROPIC, minimum=1024),
    "claude-opus-4": replace(_ANTHROPIC, minimum=1024),
    "claude-opus-4-5": replace(_ANTHROPIC, minimum=4096),
    "claude-opus-4-6": replace(_ANTHROPIC, minimum=4096),
    "claude-opus-4-7": replace(_ANTHROPIC, minimum=2048),
    **dict.fromkeys(("gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9", "gpt-6"), _OPENAI_BREAKPOINTS),
    "gemini-3-flash": replace(_GEMINI, minimum=1024),
    "gemini-2.5-flash": replace(_GEMINI, minimum=2048),
    "deepseek-v4-pro": replace(_DEEPSEEK, read=0.033),
    "minimax-m2.7": replace(_MINIMAX, read=0.2),
}
# What a token costs that is read from the cache, and one that is written to it, in prices of an input token, for models
# that differ from the policies above. The price list is the source of all: a test compares each model that it names.
_PRICES: dict[str, tuple[float, float]] = {
    "claude-3-haiku": (0.12, 1.2),
    "claude-fable-5-1": (0.025, 1.25),
    "claude-fable-5-2": (0.025, 1.25),
    "claude-mythos-5-2": (0.025, 1.25),
    "claude-sonnet-5-5": (0.05, 1.25),
    "deepseek-chat": (0.26, 1.0),
    "deepseek-reasoner": (0.26, 1.0),
    "deepseek-v3.1": (0.48, 1.0),
    "gemini-1.5-flash": (0.25, 1.0),
    "gemini-2.0-flash": (0.25, 1.0),
    "gemini-flash-1.5": (0.25, 1.0),
    "gemini-flash-1.5-8b": (0.27, 1.0),
    "gemini-pro-1.5": (0.25, 1.0),
    "gemini-4-argon": (0.05, 1.0),
    "gpt-4.1": (0.25, 1.0),
    "gpt-4.5": (0.5, 1.0),
    "gpt-4o": (0.5, 1.0),
    "gpt-6.1-sol": (0.05, 1.25),
    "gpt-6.1-terra": (0.05, 1.25),
    "minimax-m2.1-highspeed": (0.05, 0.625),
    "minimax-m2.5-highspeed": (0.05, 0.625),
    "minimax-m2.7-highspeed": (0.1, 0.625),
    "minimax-m3": (0.2, 1.0),
    "minimax-m3.1-flash": (0.1, 1.0),
    "codex-mini": (0.25, 1.0),
    "o1": (0.5, 1.0),
    "o3": (0.25, 1.0),
    "o3-mini": (0.5, 1.0),
    "o4-mini": (0.25, 1.0),
}
# Context windows that the price list lacks or has wrong.
_WINDOWS = {
    "gemini-2.5": 1_048_576,
    "gemini-3": 1_048_576,
    "deepseek-chat": 131_072,
    "deepseek-reasoner": 131_072,
    "deepseek-flash": 1_000_000,
    "deepseek-v4": 1_000_000,
    "minimax-m2": 204_800,
}


def policy_for(provider: str, model: str) -> CachePolicy:
    base = _BY_PROVIDER.get(api_family(provider, model), NO_CACHE)
    if provider == COMPATIBLE or base is NO_CACHE:
        return base
    policy = _BY_MODEL.get(longest_start(model, _BY_MODEL), base)
    if prices := _PRICES.get(longest_start(model, _PRICES)):
        return replace(policy, read=prices[0], write=prices[1])
    return policy


def known_window(model: str) -> int | None:
    return _WINDOWS.get(longest_start(model, _WINDOWS))


def longest_start(model: str, table: Iterable[str]) -> str:
    """Return the longest key that the model's name begins with; a vendor's part before a slash does not count."""
    bare_name = bare_model_name(model)
    return max((name for name in table if bare_name.startswith(name)), key=len, default="")


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


def dollars(amount: Decimal | None) -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


_MOST_TOKENS: Final = 10**12  # no request has more: a server that reports more reports nonsense


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
    calls: tuple[ToolCall, ...] = ()  # the tools that the model wants called before it answers
    native: Any = field(default=None, repr=False)  # what a request with their results sends back
