"""Cache breakpoints for a host program's own messages.

The messages may contain tool calls, results and images. A request is split into pieces in the order of the provider's
cache: tools, instructions, parts of messages. Positions are chosen as for a discussion. A tool loop gets breakpoints
after the instructions and the first message, and two that move along: at the end of this request, and of the last one
if the provider's search does not reach it. Breakpoints that the host has set stay and count.

Messages have Anthropic's format, or OpenAI's, which LiteLLM and OpenRouter accept for all models.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aggregate.base.errors import ClientSetupError
from aggregate.base.text import common_prefix
from aggregate.base.tokens import count
from aggregate.sending.cache.breakpoints import (
    REMEMBERED_PAUSES,
    EarlierRequest,
    Outline,
    layout_with_breakpoints,
)
from aggregate.sending.cache.hashed_prompt import BlockLayout, digest
from aggregate.sending.cache.request_plan import RequestPlan, SimulatedCache, charge
from aggregate.sending.clients.anthropic_api import cache_control
from aggregate.sending.clients.openai_api import BREAKPOINT, cache_key
from aggregate.sending.clients.providers import provider_of_model
from aggregate.sending.host_requests import body_of, usage_of
from aggregate.sending.learned_models import token_ratio
from aggregate.sending.models import CacheLookup, CachePolicy, Usage
from aggregate.sending.prices import Bill, cache_policy
from aggregate.sending.turn import Exchange

_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")
_IMAGES: Final = frozenset({"image", "image_url", "document", "file"})
_IMAGE_TOKENS: Final = 1_600  # an upper bound for most models; the size of images is not read
_OPAQUE: Final = frozenset({"input_schema", "parameters", "input", "arguments"})
_NONE: Final = frozenset[int]()
_UNMARKABLE: Final = frozenset({"thinking", "redacted_thinking", "tool_calls"})


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a request.

    It is a tool, or a part of the instructions or of a message.
    """

    address: tuple[str, int, int]  # argument, number in it, part
    value: Mapping[str, Any]
    role: str = ""

    @property
    def mark(self) -> Mapping[str, Any] | None:
        holder = next(_marked(self.value), {})
        return next((holder[name] for name in _MARKS if holder.get(name)), None)

    @property
    def is_talk(self) -> bool:
        """Whether it belongs to a message after the instructions."""
        return self.address[0] == "messages" and self.role not in ("system", "developer")

    @property
    def bare(self) -> dict[str, Any]:
        return {name: value for name, value in self.value.items() if name not in _MARKS}

    @property
    def is_markable(self) -> bool:
        kind = self.value.get("type")
        is_blank = kind == "text" and not str(self.value.get("text") or "").strip()
        # Tools in OpenAI's format and deferred tools cannot have a breakpoint.
        is_tool = "function" in self.value or self.value.get("defer_loading") is True
        return not (kind in _UNMARKABLE or is_blank or is_tool)


@dataclass(frozen=True, slots=True)
class PlannedMessages:
    """Messages with breakpoints, to be sent by the host.

    Attributes:
        arguments: Arguments for the SDK's call: ``messages``, ``tools``, ``system``, and options that breakpoints need.
        expected: Expected usage in o200k tokens.
        plan: The pieces with their tokens and breakpoints.
    """

    provider: str
    model: str
    arguments: Mapping[str, Any] = field(repr=False)
    plan: RequestPlan = field(repr=False)
    expected: Usage
    movable: frozenset[int]  # breakpoints so far, except the host's
    cache: SimulatedCache = field(repr=False)  # after this request
    at: float  # time of sending, in seconds since the epoch
    pauses: tuple[float, ...] = ()  # seconds between earlier requests


def plan_messages(
    messages: Sequence[Any],
    *,
    model: str,
    tools: Sequence[Any] | None = None,
    system: str | Sequence[Any] | None = None,
    earlier: PlannedMessages | Exchange | None = None,
    provider: str = "",
    at: float | None = None,
) -> PlannedMessages:
    """Add cache breakpoints to a host's messages; nothing is sent.

    The arguments stay unchanged.

    Args:
        messages: In the format of the API; may contain objects of the SDK.
        model: The provider's name of the model, also with a gateway's prefix, such as ``openrouter/anthropic/…``.
        tools: Definitions of tools in the format of the API.
        system: Instructions outside of the messages (Anthropic's format).
        earlier: The plan of the loop's last request, whose breakpoints may move. Without it, the last request is
            assumed to end before the last answer, and all breakpoints to be the host's.
        provider: The cache's provider; by default the model's maker.
        at: Time of sending, in seconds since the epoch; by default now.

    Raises:
        ClientSetupError: There are no messages, or one is an item of OpenAI's Responses API.
    """
    name, now = provider or provider_of_model(model), time.time() if at is None else at
    policy = cache_policy(name, model)
    arguments = {"tools": _plain(tools), "system": _plain(system), "messages": _plain(messages)}
    arguments = {key: value for key, value in arguments.items() if value}
    _check_form(arguments.get("messages", ()))
    pieces = list(_pieces(arguments))
    if not any(piece.address[0] == "messages" for piece in pieces):
        raise ClientSetupError("the messages are empty")
    previous = _first_plan(earlier, tools, policy) if isinstance(earlier, Exchange) else earlier
    digests, tokens = _measured(pieces, previous)
    shared = common_prefix(digests, previous.plan.layout.digests) if previous else 0
    movable = frozenset(end for end in previous.movable if end <= shared) if previous else _NONE
    # The first request of a loop replaces the plan of ``plan_for``, which is not sent.
    is_first = previous is not earlier and shared == len(digests)
    sent = None if is_first else previous
    policy = _without_surplus(arguments, pieces, movable, policy)
    outline = _outline(pieces, digests, tokens, movable)
    before = _before(sent, outline, pieces, policy, now)
    plan = RequestPlan((), _layout(outline, pieces, policy, before), tokens, 0, policy)
    expected, cache = charge(plan, sent.cache if sent else SimulatedCache(), at=now)
    breakpoints = frozenset(plan.layout.breakpoints) - outline.fixed
    # An empty mark removes a breakpoint of an earlier plan.
    marks = {end: dict[str, Any]() for end in movable}
    for end in breakpoints:
        is_openai = name == "openai"
        marks[end] = dict(BREAKPOINT) if is_openai else cache_control(plan.layout.lifetime(end, 0))
    _set_marks(arguments, pieces, marks)
    if name == "openai" and breakpoints:
        # Without this the last message is a breakpoint too and uses one of the four.
        arguments["prompt_cache_options"] = {"mode": "explicit"}
    if name == "openai" and (key := cache_key(plan)):
        arguments["prompt_cache_key"] = key
    movable |= breakpoints
    return PlannedMessages(
        name, model, arguments, plan, expected, movable, cache, now, before.pauses
    )


def bill_for(planned: PlannedMessages, usage: object) -> Bill:
    """Return the bill of a planned request, expected and actual.

    ``usage`` is the SDK's object, a mapping, or a ``Usage``.
    """
    expected = token_ratio(planned.provider, planned.model).provider_usage(planned.expected)
    return Bill.of(planned.provider, planned.model, expected, usage_of(usage))


def _plain(value: Any) -> Any:  # noqa: ANN401 - SDKs differ
    """Convert objects of an SDK to mappings and lists."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else value


def _check_form(messages: Sequence[Mapping[str, Any]]) -> None:
    """Refuse items of OpenAI's Responses API, which has no cache breakpoints."""
    for number, message in enumerate(messages, start=1):
        kinds = [str(part.get("type")) for part in _parts(message.get("content"))]
        kind = next((kind for kind in kinds if kind.startswith(("input_", "output_"))), "")
        if kind or "role" not in message:
            raise ClientSetupError(
                f"message {number} is an item of OpenAI's Responses API "
                f"({kind or message.get('type', 'without a role')}): pass messages in the format of "
                "Chat Completions or of Anthropic's Messages API"
            )


def _marked(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Yield all mappings that have a cache breakpoint, at any depth outside of schemas and arguments."""
    if isinstance(value, dict):
        if any(value.get(name) for name in _MARKS):
            yield value
        value = [inner for name, inner in value.items() if name not in _OPAQUE]
    for inner in value if isinstance(value, list) else ():
        yield from _marked(inner)


def _without_surplus(
    arguments: Mapping[str, Any],
    pieces: Sequence[_Piece],
    movable: frozenset[int],
    policy: CachePolicy,
) -> CachePolicy:
    """Remove the first breakpoints if the host set too many.

    Return the cache policy with the remaining number of breakpoints.
    """
    if policy.lookup is not CacheLookup.BREAKPOINTS:
        return policy
    planned = {id(pieces[end - 1].value) for end in movable}
    holders = [
        holder
        for part in arguments.values()
        for holder in _marked(part)
        if id(holder) not in planned
    ]
    surplus = max(len(holders) - policy.max_breakpoints, 0)
    for holder in holders[:surplus]:
        for name in _MARKS:
            holder.pop(name, None)
    own = sum(bool(piece.mark) for end, piece in enumerate(pieces, 1) if end not in movable)
    nested = len(holders) - surplus - own
    return replace(policy, max_breakpoints=policy.max_breakpoints - nested)


def _unmarked(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return {name: _unmarked(inner) for name, inner in value.items() if name not in _MARKS}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value


def _pieces(arguments: Mapping[str, Any]) -> Iterator[_Piece]:
    for number, tool in enumerate(arguments.get("tools", ())):
        yield _Piece(("tools", number, 0), tool)
    for part, block in enumerate(_parts(arguments.get("system"))):
        yield _Piece(("system", 0, part), block)
    for number, message in enumerate(arguments.get("messages", ())):
        role = str(message.get("role", ""))
        if answered := message.get("tool_call_id"):
            role = f"{role} {answered}"
        for part, block in enumerate(_parts(message.get("content"))):
            yield _Piece(("messages", number, part), block, role)
        for call in message.get("tool_calls") or ():
            yield _Piece(("messages", number, -1), {"type": "tool_calls", "call": call}, role)


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:  # noqa: ANN401
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def _measured(
    pieces: Sequence[_Piece], earlier: PlannedMessages | None
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the pieces' hashes and cumulative tokens.

    Tokens counted by the ``earlier`` plan are not counted again.
    """
    contents = ([piece.address[0], piece.role, _unmarked(piece.value)] for piece in pieces)
    digests = tuple(
        digest(json.dumps(content, sort_keys=True, default=str)) for content in contents
    )
    same = common_prefix(digests, earlier.plan.layout.digests) if earlier else 0
    sums = list(earlier.plan.tokens[:same]) if earlier else []
    for piece in pieces[same:]:
        texts = list(_contents(piece.bare))
        size = count("\n".join(text for text in texts if text is not None))
        size += texts.count(None) * _IMAGE_TOKENS
        sums.append((sums[-1] if sums else 0) + size)
    return digests, tuple(sums)


def _contents(value: Any) -> Iterator[str | None]:  # noqa: ANN401 - JSON
    """Yield the texts of a piece, and ``None`` for each image."""
    if isinstance(value, Mapping):
        if value.get("type") in _IMAGES:
            yield None
            return
        value = [*value.values()]
    if not isinstance(value, list):
        yield str(value)
        return
    for item in value:
        yield from _contents(item)


def _outline(
    pieces: Sequence[_Piece],
    digests: tuple[str, ...],
    tokens: tuple[int, ...],
    movable: frozenset[int],
) -> Outline:
    numbered = list(enumerate(pieces, start=1))
    markable = [end for end, piece in numbered if piece.is_markable]
    fixed = frozenset(end for end, piece in numbered if piece.mark and end not in movable)
    # The first message after the instructions.
    first = next((end for end, piece in numbered if piece.is_talk), len(pieces) + 1)
    message = pieces[first - 1].address[:2] if first <= len(pieces) else None
    body = [end for end in markable if message in (None, pieces[end - 1].address[:2])]
    head = max((end for end in markable if end < first), default=0)
    ends = frozenset(range(1, len(pieces) + 1))
    return Outline(digests, tokens, ends, max(body, default=1), markable, head, fixed)


def _before(
    earlier: PlannedMessages | None,
    outline: Outline,
    pieces: Sequence[_Piece],
    policy: CachePolicy,
    now: float,
) -> EarlierRequest:
    """Return the last request and its cached part.

    Without an ``earlier`` plan both are assumed from the messages. Steps of a loop are taken to follow each other
    quickly until there was a long pause.
    """
    pauses = (*earlier.pauses, now - earlier.at)[-REMEMBERED_PAUSES:] if earlier else ()
    is_slow = any(pause > policy.seconds for pause in pauses)
    last = max(outline.markable, default=len(pieces))
    if earlier is not None:
        age = max(now - earlier.at, 0.0)
        return EarlierRequest(earlier.plan.layout, age, is_slow, pauses, replaced=last)
    answers = [end for end, piece in enumerate(pieces) if piece.role == "assistant"]
    if not answers:
        return EarlierRequest(replaced=last)
    # The last request ended before the first part of the last answer.
    answer = pieces[answers[-1]].address[1]
    request_end = next(end for end in answers if pieces[end].address[1] == answer)
    last_mark = max((end for end in outline.markable if end <= request_end), default=0)
    marks = {end for end in (outline.head, outline.body, last_mark) if 0 < end <= last_mark}
    ends = tuple(range(1, request_end + 1))
    layout = BlockLayout(outline.digests[:request_end], ends, tuple(sorted(marks)))
    return EarlierRequest(layout, replaced=last)


def _first_plan(planned: Exchange, tools: Any, policy: CachePolicy) -> PlannedMessages:  # noqa: ANN401
    """Return the first request of a loop as a plan; all its breakpoints may move."""
    body = _plain(body_of(planned))
    pieces = list(_pieces({**body, "tools": _plain(tools) or ()}))
    digests, tokens = _measured(pieces, None)
    marks = {end: piece.mark for end, piece in enumerate(pieces, start=1) if piece.mark}
    lifetimes = tuple(_seconds(mark, policy) for mark in marks.values())
    layout = BlockLayout(digests, tuple(range(1, len(digests) + 1)), tuple(marks), lifetimes)
    plan = RequestPlan((), layout, tokens, 0, policy)
    usage, cache = charge(plan, SimulatedCache(), at=planned.begun)
    movable = frozenset(marks)
    return PlannedMessages(
        planned.client.provider,
        planned.asked.model,
        body,
        plan,
        usage,
        movable,
        cache,
        planned.begun,
    )


def _seconds(mark: Mapping[str, Any] | None, policy: CachePolicy) -> int:
    is_long = policy.long_seconds and mark is not None and mark.get("ttl") == "1h"
    return policy.long_seconds if is_long else policy.seconds


def _layout(
    outline: Outline, pieces: Sequence[_Piece], policy: CachePolicy, before: EarlierRequest
) -> BlockLayout:
    """Choose breakpoints and the lifetimes of their cache entries.

    No lifetime is longer than the lifetime of a breakpoint set by the host earlier in the request.
    """
    layout, fixed = layout_with_breakpoints(outline, policy, before), outline.fixed
    if not fixed or not policy.long_seconds:
        return layout
    host_seconds = {end: _seconds(pieces[end - 1].mark, policy) for end in fixed}
    lifetimes = []
    for end, seconds in zip(layout.breakpoints, layout.lifetimes, strict=True):
        lower = max((value for later, value in host_seconds.items() if later > end), default=0)
        upper = min(
            (value for earlier, value in host_seconds.items() if earlier < end), default=seconds
        )
        lifetimes.append(host_seconds.get(end) or max(lower, min(seconds, upper)))
    return replace(layout, lifetimes=tuple(lifetimes))


def _set_marks(
    arguments: dict[str, Any], pieces: Sequence[_Piece], marks: Mapping[int, dict[str, Any]]
) -> None:
    for end, mark in marks.items():
        kind, number, part = pieces[end - 1].address
        block = pieces[end - 1].bare | mark
        if kind == "tools":
            arguments["tools"][number] = block
            continue
        holder, key = arguments, "system"
        if kind == "messages":
            holder, key = arguments[kind][number], "content"
        holder[key] = list(_parts(holder[key]))
        holder[key][part] = block
