"""Cache policies, usage, tool calls and replies, independent of providers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

COMPATIBLE, SCRIPTED = "compatible", "scripted"  # the user's own server, and no model
GATEWAY: Final = "gateway"  # a compatible server with Anthropic's breakpoints

LARGEST_IMAGE: Final = 20_000_000  # bytes; no provider accepts a larger image in a request
# Lifetime in seconds of Anthropic's entries after their last use, without and with ``"ttl": "1h"``.
SHORT_LIFETIME, LONG_LIFETIME = 300, 3600


class CacheLookup(StrEnum):
    BREAKPOINTS = "breakpoints"  # entries end at the request's breakpoints
    PREFIX = "prefix"  # any prefix of an earlier request
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """The rules of a provider's prompt cache; its prices are relative to an input token."""

    lookup: CacheLookup
    max_breakpoints: int = 0
    look_back: int = 1  # blocks searched for an entry, the breakpoint's included
    minimum: int = 1024  # tokens of the shortest cacheable prefix
    step: int = 1  # prefixes are cached in multiples of so many tokens
    seconds: int = SHORT_LIFETIME  # lifetime of an entry after its last use
    write: float = 1.0
    read: float = 0.1
    long_seconds: int = 0  # the longer lifetime, 0 if there is none
    long_write: float = 2.0


NO_CACHE = CachePolicy(CacheLookup.NONE, read=1.0)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of requests; each input token counts in one of the first three fields."""

    fresh: int = 0  # input neither read from a cache nor written to one
    cache_write: int = 0  # input written to a cache and charged for it
    cache_read: int = 0  # input read from a cache
    output: int = 0  # thoughts included
    cache_write_long: int = 0  # the part of ``cache_write`` with the longer lifetime

    @property
    def input(self) -> int:
        return self.fresh + self.cache_write + self.cache_read

    @property
    def cache_share(self) -> float:
        return self.cache_read / self.input if self.input else 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


_MOST_TOKENS: Final = 10**12  # larger reports are nonsense


def reported_tokens(value: object) -> int:
    """Return a number of tokens that a provider reports, 0 if it is not a valid number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= _MOST_TOKENS else 0


def reported_fields(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class OfferedTool:
    name: str
    description: str
    parameters: Mapping[str, Any]  # the JSON Schema of an object

    def declared(self, schema_key: str) -> dict[str, Any]:
        """Return a provider's definition of the tool.

        ``schema_key`` is the provider's name for the parameters.
        """
        return {"name": self.name, "description": self.description, schema_key: self.parameters}


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str  # the provider's, repeated in the result
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""  # the reason why its arguments are unreadable


CUT_CALL: Final = "the token limit cut it off: write less in one call"


def read_calls(
    calls: Iterable[tuple[object, object, object]], *, may_be_cut: bool = False
) -> tuple[ToolCall, ...]:
    """Parse tool calls from their ids, names and arguments.

    Arguments are an object or its JSON text. If the answer may be cut, the last call's must be a whole JSON text: an
    SDK may have closed a cut object.
    """
    read = [_read_call(number, *call) for number, call in enumerate(calls, start=1)]
    if read and may_be_cut and not read[-1][1]:
        read[-1] = replace(read[-1][0], arguments={}, fault=CUT_CALL), True
    return tuple(call for call, _ in read)


def _read_call(
    number: int, identity: object, name: object, arguments: object
) -> tuple[ToolCall, bool]:
    """Parse a tool call; return also whether its arguments are a whole JSON text."""
    fault, values, is_text = "", arguments, isinstance(arguments, str) and bool(arguments.strip())
    if isinstance(arguments, str):
        try:
            values = json.loads(arguments.strip() or "{}")
        except (ValueError, RecursionError) as error:
            fault = f"its arguments are not JSON ({error})"
    if not fault and not isinstance(values, Mapping | None):
        fault = "its arguments are not an object"
    values = dict(values) if isinstance(values, Mapping) and not fault else {}
    # Some servers send no id, and Mistral requires nine letters and digits.
    call = ToolCall(str(identity or f"call{number:05}"), str(name or "unnamed"), values, fault)
    return call, is_text and not fault


NO_OUTPUT: Final = "(no output)"


@dataclass(frozen=True, slots=True)
class CallResult:
    call: ToolCall
    text: str

    @property
    def output(self) -> str:
        """The result as text; not blank, since providers refuse that."""
        return self.text if self.text.strip() else NO_OUTPUT


@dataclass(frozen=True, slots=True)
class LoopTurn:
    """A model's message with its calls, and their results."""

    text: str = ""  # the model's
    results: tuple[CallResult, ...] = ()  # one per call, in order
    note: str = ""  # text sent beside the results
    native: Any = None  # the provider's message, sent back with its signatures

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(result.call for result in self.results)

    @property
    def response(self) -> str:
        """The results and the note as one text."""
        parts = (*(result.output for result in self.results), self.note)
        return "\n\n".join(part for part in parts if part.strip())


class FinishReason(StrEnum):
    """Why a model stopped writing."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    text: str  # without thoughts
    usage: Usage  # zeros if the provider reports nothing
    stop: FinishReason = FinishReason.END
    model: str = ""  # the provider's name of the model
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)  # the provider's own report
    calls: tuple[ToolCall, ...] = ()  # tools to call before the answer
    native: Any = field(default=None, repr=False)  # the message to send back with the results
    price: Decimal | None = None  # US dollars, ``None`` if unknown
    first_piece: float | None = None  # seconds until the first piece, ``None`` without streaming


NO_REPLY: Final = Reply("", Usage())
