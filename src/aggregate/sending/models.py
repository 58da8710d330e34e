"""Models: what their names tell, how a cache works, what a request has used, what is called, and what was answered.

What a model is offered, calls and is told of it is in no provider's form.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final


def bare_model_name(model: str) -> str:
    """Return a model's name in small letters, without a vendor, a region or a version of the one who serves it.

    ``us.anthropic.claude-opus-5-v1:0`` and ``publishers/anthropic/models/claude-opus-5@20260301`` begin like
    ``claude-opus-5``.
    """
    name = model.lower().rsplit("/", 1)[-1]
    return name.rpartition("anthropic.")[2] or name


COMPATIBLE, SCRIPTED = "compatible", "scripted"  # no companies: a server of one's own, and no model
GATEWAY: Final = "gateway"  # a compatible server of others' models, which takes Anthropic's breakpoints for these

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


NO_CACHE = CachePolicy(CacheLookup.NONE, read=1.0)


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

    def scaled(self, factor: float) -> "Usage":
        """Return so many times the tokens, rounded; what is none stays so."""
        return Usage(*(round(getattr(self, name) * factor) for name in self.__slots__))

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def dollars(amount: Decimal | None) -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


def saving(amount: Decimal) -> str:
    """Say what a cache has saved; at first it costs more, since what is written is read later."""
    return (
        f"{dollars(amount)} saved" if amount >= 0 else f"{dollars(-amount)} of it for later reads"
    )


_MOST_TOKENS: Final = 10**12  # no request has more: a server that reports more reports nonsense


def reported_tokens(value: object) -> int:
    """Return a number of tokens as a server reports it; none for what is no such number: no answer is lost by it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= _MOST_TOKENS else 0


def reported_fields(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class OfferedTool:
    name: str
    description: str
    parameters: Mapping[str, Any]  # the JSON Schema of an object

    def declared(self, schema_key: str) -> dict[str, Any]:
        """Return the tool as providers take it, who differ in what they call its schema."""
        named = {"name": self.name, "description": self.description}
        return {**named, schema_key: self.parameters}


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str  # the provider's, which the result must name; some have none
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""  # why its arguments could not be read


CUT_CALL: Final = "the token limit cut it off: write less in one call"


def read_calls(
    calls: Iterable[tuple[object, object, object]], *, may_be_cut: bool = False
) -> tuple[ToolCall, ...]:
    """Return the calls of a message from their ids, names and arguments as a provider reports them.

    Arguments are an object, or the text of one. If the answer ended too early behind the last call, its arguments count
    only as a whole JSON text: an SDK may have closed an object that was cut.
    """
    read = [_read_call(number, *call) for number, call in enumerate(calls, start=1)]
    if read and may_be_cut and not read[-1][1]:
        read[-1] = replace(read[-1][0], arguments={}, fault=CUT_CALL), True
    return tuple(call for call, _ in read)


def _read_call(
    number: int, identity: object, name: object, arguments: object
) -> tuple[ToolCall, bool]:
    """Return a call, and whether its arguments are a whole JSON text."""
    fault, values, is_text = "", arguments, isinstance(arguments, str) and bool(arguments.strip())
    if isinstance(arguments, str):
        try:
            values = json.loads(arguments.strip() or "{}")
        except (ValueError, RecursionError) as error:
            fault = f"its arguments are not JSON ({error})"
    if not fault and not isinstance(values, Mapping | None):
        fault = "its arguments are not an object"
    values = dict(values) if isinstance(values, Mapping) and not fault else {}
    # Some servers give no id, and Mistral takes ids of nine letters and digits only.
    call = ToolCall(str(identity or f"call{number:05}"), str(name or "unnamed"), values, fault)
    return call, is_text and not fault


NO_OUTPUT: Final = "(no output)"


@dataclass(frozen=True, slots=True)
class CallResult:
    call: ToolCall
    text: str

    @property
    def output(self) -> str:
        """The text as it is sent: providers refuse blank ones."""
        return self.text if self.text.strip() else NO_OUTPUT


@dataclass(frozen=True, slots=True)
class LoopTurn:
    """What a model said and called, and what it was told then."""

    text: str = ""  # what it said
    results: tuple[CallResult, ...] = ()  # one for each of its calls, in order
    note: str = ""  # what it is told besides
    # Its message as the provider gave it, which some want back with the results, signatures included
    native: Any = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(result.call for result in self.results)

    @property
    def told(self) -> str:
        """What the model was told, as one text."""
        return "\n\n".join(
            part for part in (*(one.output for one in self.results), self.note) if part.strip()
        )


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
    price: Decimal | None = None  # US dollars, ``None`` where that is not known
    first_piece: float | None = None  # seconds until the first piece came, ``None`` where none did


NO_REPLY: Final = Reply("", Usage())  # of a request that was not answered yet
