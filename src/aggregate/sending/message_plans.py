"""Breakpoints for messages of a host's own, with tool calls, results and images, where they pay.

A request is read as its provider's cache sees it, piece by piece: tools, instructions, then what each message holds.
The places are chosen as for a discussion: in a loop the instructions are marked, then the first message, and two
breakpoints follow what each step adds: where the last request has ended, if the search does not reach back so far, and
where this one does. A breakpoint that the host has set stays where it is and counts.

Messages are in Anthropic's form, or in OpenAI's, which LiteLLM and OpenRouter take for all models.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aggregate.base.errors import ClientSetupError
from aggregate.base.text import common_prefix
from aggregate.base.tokens import count
from aggregate.sending.bills import Bill
from aggregate.sending.cache.breakpoints import (
    EarlierRequest,
    Outline,
    layout_with_breakpoints,
    with_pause,
)
from aggregate.sending.cache.fingerprint import BlockLayout, digest
from aggregate.sending.cache.request_plan import RequestPlan, SimulatedCache, charge
from aggregate.sending.clients.anthropic_api import cache_control
from aggregate.sending.clients.learned import token_ratio
from aggregate.sending.clients.openai_api import BREAKPOINT, cache_key
from aggregate.sending.clients.own_models import cache_policy
from aggregate.sending.clients.providers import provider_of_model
from aggregate.sending.exchange import Exchange
from aggregate.sending.host_requests import body_of, usage_of
from aggregate.sending.models import CacheLookup, CachePolicy, Usage

_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")
_IMAGES: Final = frozenset({"image", "image_url", "document", "file"})
_IMAGE_TOKENS: Final = 1_600  # of an image whose size is not looked at: what most count at most
_OPAQUE: Final = frozenset({"input_schema", "parameters", "input", "arguments"})
_UNMARKABLE: Final = frozenset({"thinking", "redacted_thinking", "tool_calls"})


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a request: of the tools, the instructions, or a message, there one part of it."""

    place: tuple[str, int, int]
    value: Mapping[str, Any]
    role: str = ""

    @property
    def mark(self) -> Mapping[str, Any] | None:
        holder = next(_marked(self.value), {})
        return next((holder[name] for name in _MARKS if holder.get(name)), None)

    @property
    def bare(self) -> dict[str, Any]:
        return {name: value for name, value in self.value.items() if name not in _MARKS}

    @property
    def is_markable(self) -> bool:
        kind = self.value.get("type")
        is_blank = kind == "text" and not str(self.value.get("text") or "").strip()
        # Neither a tool in OpenAI's form nor one that is loaded later carries a breakpoint.
        is_tool = "function" in self.value or self.value.get("defer_loading") is True
        return not (kind in _UNMARKABLE or is_blank or is_tool)


@dataclass(frozen=True, slots=True)
class PlannedMessages:
    """Messages with their breakpoints, which a host sends.

    Attributes:
        arguments: What a call of the SDK takes: ``messages``, and ``tools`` and ``system`` as far as there are any,
            with whatever else the breakpoints need.
        expected: What the provider's cache is expected to read and write, in tokens of o200k.
        plan: The pieces with their tokens and breakpoints.
    """

    provider: str
    model: str
    arguments: Mapping[str, Any] = field(repr=False)
    plan: RequestPlan = field(repr=False)
    expected: Usage
    own: frozenset[int]  # places of all breakpoints so far that the host has not set
    cache: SimulatedCache = field(repr=False)  # behind this request
    at: float  # when it is sent, in seconds since the epoch
    pauses: tuple[float, ...] = ()  # seconds between the requests before


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
    """Return a host's messages with the breakpoints that pay; nothing is sent, and no argument is changed.

    Args:
        messages: As the host sends them; an SDK's own objects among them count as what they hold.
        model: The provider's name of the model, also with a gateway's before it, such as ``openrouter/anthropic/…``.
        tools: What the model may call, as it is sent.
        system: The instructions, where they are no message (Anthropic's form).
        earlier: The plan of the loop's last request, whose breakpoints may move. Without one that is taken to have
            ended before the last answer, and every breakpoint to be the host's.
        provider: Whose cache it is; by default that of the model's maker.
        at: When it is sent, in seconds since the epoch; by default now.

    Raises:
        ClientSetupError: There is no message to plan, or an item of OpenAI's Responses API.
    """
    name, now = provider or provider_of_model(model), time.time() if at is None else at
    policy = cache_policy(name, model)
    tools, system, messages = _plain(tools), _plain(system), _plain(messages)
    _check_form(messages)
    pieces = list(_pieces(tools, system, messages))
    if not any(piece.place[0] == "messages" for piece in pieces):
        raise ClientSetupError("there is nothing to plan: the messages are empty")
    begun = _begun(earlier, tools, policy) if isinstance(earlier, Exchange) else earlier
    digests, tokens = _measured(pieces, begun)
    shared = common_prefix(digests, begun.plan.layout.digests) if begun else 0
    own = frozenset(place for place in begun.own if place <= shared) if begun else frozenset()
    # The request that ``plan_for`` has planned is sent with these breakpoints instead.
    is_first = begun is not earlier and shared == len(digests)
    sent = None if is_first else begun
    policy = _without_surplus((tools, system, messages), pieces, own, policy)
    outline = _outline(pieces, digests, tokens, own)
    before = _before(sent, outline, pieces, policy, now)
    layout = _layout(outline, pieces, policy, before)
    plan = RequestPlan((), layout, tokens, 0, policy)
    expected, cache = charge(plan, sent.cache if sent else SimulatedCache(), at=now)
    chosen = frozenset(layout.breakpoints) - outline.fixed
    given = {"tools": tools, "system": system, "messages": messages}
    arguments = {key: value for key, value in given.items() if value}
    is_openai = name == "openai"
    marks = {
        place: dict(BREAKPOINT) if is_openai else cache_control(layout.lifetime(place, 0))
        for place in chosen
    }
    # Those of earlier plans that do not stay are taken away.
    _set_marks(arguments, pieces, {place: {} for place in own} | marks)
    if is_openai and chosen:
        # Without this the last message is a breakpoint too and takes one of the four.
        arguments["prompt_cache_options"] = {"mode": "explicit"}
    if is_openai and (key := cache_key(plan)):
        arguments["prompt_cache_key"] = key
    own |= chosen
    return PlannedMessages(name, model, arguments, plan, expected, own, cache, now, before.pauses)


def bill_for(planned: PlannedMessages, usage: object) -> Bill:
    """Return what a planned request was expected to use and cost, beside what the SDK has reported of it.

    ``usage`` is the SDK's object, a mapping, or a ``Usage``.
    """
    ratio = token_ratio(planned.provider, planned.model).value
    expected = planned.expected.scaled(ratio)
    return Bill.of(planned.provider, planned.model, expected, usage_of(usage))


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a host hands over
    """Return tables and lists of what SDKs have made objects of."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else value


def _check_form(messages: Sequence[Mapping[str, Any]]) -> None:
    """Refuse items of OpenAI's Responses API, which no provider's cache has breakpoints for."""
    for number, message in enumerate(messages, start=1):
        kinds = [str(part.get("type")) for part in _parts(message.get("content"))]
        kind = next((kind for kind in kinds if kind.startswith(("input_", "output_"))), "")
        if kind or "role" not in message:
            raise ClientSetupError(
                f"message {number} is an item of OpenAI's Responses API "
                f"({kind or message.get('type', 'without a role')}): plan messages in the form of "
                "Chat Completions or of Anthropic's Messages"
            )


def _marked(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Yield all mappings with a breakpoint, at any depth; a schema or arguments may have such a name."""
    if isinstance(value, dict):
        if any(value.get(name) for name in _MARKS):
            yield value
        value = [inner for name, inner in value.items() if name not in _OPAQUE]
    for inner in value if isinstance(value, list) else ():
        yield from _marked(inner)


def _without_surplus(
    parts: Sequence[Any], pieces: Sequence[_Piece], own: frozenset[int], policy: CachePolicy
) -> CachePolicy:
    """Take the first breakpoints of a host that has set too many; return the policy with what is left to set.

    A host may set several within one piece, where each counts.
    """
    if policy.lookup is not CacheLookup.BREAKPOINTS:
        return policy
    planned = [pieces[place - 1].value for place in own]
    holders = [
        holder
        for part in parts
        for holder in _marked(part)
        if not any(holder is value for value in planned)
    ]
    surplus = max(len(holders) - policy.max_breakpoints, 0)
    for holder in holders[:surplus]:
        for name in _MARKS:
            holder.pop(name, None)
    places = [place for place, piece in enumerate(pieces, start=1) if piece.mark]
    within = len(holders) - surplus - len(set(places) - own)
    return replace(policy, max_breakpoints=policy.max_breakpoints - within)


def _unmarked(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON without breakpoints: caches do not see them."""
    if isinstance(value, Mapping):
        return {name: _unmarked(inner) for name, inner in value.items() if name not in _MARKS}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value


def _pieces(tools: Any, system: Any, messages: Any) -> Iterator[_Piece]:  # noqa: ANN401
    for number, tool in enumerate(tools or ()):
        yield _Piece(("tools", number, 0), tool)
    for part, block in enumerate(_parts(system)):
        yield _Piece(("system", 0, part), block)
    for number, message in enumerate(messages):
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
    """Return the digests of pieces, and the tokens up to and with each; what was counted before is not anew."""
    digests = tuple(
        digest(
            json.dumps(
                [piece.place[0], piece.role, _unmarked(piece.value)], sort_keys=True, default=str
            )
        )
        for piece in pieces
    )
    same = common_prefix(digests, earlier.plan.layout.digests) if earlier else 0
    sums = list(earlier.plan.tokens[:same]) if earlier else []
    for piece in pieces[same:]:
        words, images = _content(piece.bare)
        sums.append((sums[-1] if sums else 0) + count("\n".join(words)) + images * _IMAGE_TOKENS)
    return digests, tuple(sums)


def _content(value: Any) -> tuple[list[str], int]:  # noqa: ANN401 - JSON
    """Return the texts in a piece, and how many images it holds, whose data are no texts."""
    if isinstance(value, Mapping):
        if value.get("type") in _IMAGES:
            return [], 1
        value = [*value.values()]
    if isinstance(value, list):
        found = [_content(item) for item in value]
        return [text for texts, _ in found for text in texts], sum(images for _, images in found)
    return [str(value)], 0


def _outline(
    pieces: Sequence[_Piece], digests: tuple[str, ...], tokens: tuple[int, ...], own: frozenset[int]
) -> Outline:
    numbered = list(enumerate(pieces, start=1))
    markable = [place for place, piece in numbered if piece.is_markable]
    fixed = frozenset(place for place, piece in numbered if piece.mark and place not in own)
    instructions = ("system", "developer")
    said = [place for place, piece in numbered if piece.place[0] == "messages"]
    said = [place for place in said if pieces[place - 1].role not in instructions]
    first = pieces[said[0] - 1].place[:2] if said else None
    body = [place for place in markable if first is None or pieces[place - 1].place[:2] == first]
    before = [place for place in markable if not said or place < said[0]]
    places = frozenset(range(1, len(pieces) + 1))
    last, head = max(body, default=1), max(before, default=0)
    return Outline(digests, tokens, places, last, markable, head, fixed)


def _before(
    earlier: PlannedMessages | None,
    outline: Outline,
    pieces: Sequence[_Piece],
    policy: CachePolicy,
    now: float,
) -> EarlierRequest:
    """Return what a cache holds; steps of a loop follow quickly unless pauses between them were seen."""
    pauses = with_pause(earlier.pauses, now - earlier.at) if earlier else ()
    is_slow = any(pause > policy.seconds for pause in pauses)
    last = max(outline.markable, default=len(pieces))
    if earlier is not None:
        age = max(now - earlier.at, 0.0)
        return EarlierRequest(earlier.plan.layout, age, is_slow, pauses, replaced=last)
    answers = [place for place, piece in enumerate(pieces) if piece.role == "assistant"]
    if not answers:
        return EarlierRequest(replaced=last)
    # The last answer with all its parts: the request that it answers has ended before.
    answer = pieces[answers[-1]].place[1]
    end = next(place for place in answers if pieces[place].place[1] == answer)
    ended = max((place for place in outline.markable if place <= end), default=0)
    marks = {place for place in (outline.head, outline.body, ended) if 0 < place <= ended}
    layout = BlockLayout(outline.digests[:end], tuple(range(1, end + 1)), tuple(sorted(marks)))
    return EarlierRequest(layout, replaced=last)


def _begun(planned: Exchange, tools: Any, policy: CachePolicy) -> PlannedMessages:  # noqa: ANN401
    """Return the request that began a loop, sent with the loop's tools: all its breakpoints may move."""
    body = _plain(body_of(planned))
    pieces = list(_pieces(tools, body.get("system"), body["messages"]))
    digests, tokens = _measured(pieces, None)
    marks = {place: piece.mark for place, piece in enumerate(pieces, start=1) if piece.mark}
    lifetimes = tuple(_seconds(mark, policy) for mark in marks.values())
    layout = BlockLayout(digests, tuple(range(1, len(digests) + 1)), tuple(marks), lifetimes)
    plan = RequestPlan((), layout, tokens, 0, policy)
    usage, cache = charge(plan, SimulatedCache(), at=planned.begun)
    own = frozenset(marks)
    return PlannedMessages(
        planned.provider, planned.model, body, plan, usage, own, cache, planned.begun
    )


def _seconds(mark: Mapping[str, Any] | None, policy: CachePolicy) -> int:
    is_long = policy.long_seconds and mark is not None and mark.get("ttl") == "1h"
    return policy.long_seconds if is_long else policy.seconds


def _layout(
    outline: Outline, pieces: Sequence[_Piece], policy: CachePolicy, before: EarlierRequest
) -> BlockLayout:
    """Return the layout with the lifetimes that the host has set, and no longer one behind a shorter one."""
    layout, fixed = layout_with_breakpoints(outline, policy, before), outline.fixed
    if not fixed or not policy.long_seconds:
        return layout
    hosts = {place: _seconds(pieces[place - 1].mark, policy) for place in fixed}
    lifetimes = []
    for place, seconds in zip(layout.breakpoints, layout.lifetimes, strict=True):
        least = max((lives for other, lives in hosts.items() if other > place), default=0)
        most = min((lives for other, lives in hosts.items() if other < place), default=seconds)
        lifetimes.append(hosts.get(place) or max(least, min(seconds, most)))
    return replace(layout, lifetimes=tuple(lifetimes))


def _set_marks(
    arguments: dict[str, Any], pieces: Sequence[_Piece], marks: Mapping[int, dict[str, Any]]
) -> None:
    for place, mark in marks.items():
        kind, number, part = pieces[place - 1].place
        block = pieces[place - 1].bare | mark
        if kind == "tools":
            arguments["tools"][number] = block
            continue
        holder, key = arguments, "system"
        if kind == "messages":
            holder, key = arguments[kind][number], "content"
        holder[key] = list(_parts(holder[key]))
        holder[key][part] = block
