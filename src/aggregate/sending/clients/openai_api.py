"""OpenAI's Chat Completions API, through its SDK; DeepSeek and most servers on one's own machine speak it too."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from aggregate.sending.cache.request_plan import (
    BlockRole,
    Message,
    RequestBlock,
    RequestPlan,
    messages_of,
)
from aggregate.sending.clients.anthropic_api import cache_control
from aggregate.sending.clients.connection import SdkApi, finish_reason
from aggregate.sending.clients.protocol import ChatRequest, OnText
from aggregate.sending.known_models import ResponseFormat, known_model
from aggregate.sending.models import (
    COMPATIBLE,
    GATEWAY,
    SHORT_LIFETIME,
    FinishReason,
    LoopTurn,
    Reply,
    Usage,
    read_call,
    reported_fields,
    reported_tokens,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PROVIDERS = frozenset({"openai", "deepseek", COMPATIBLE, GATEWAY})  # who speaks it
BREAKPOINT: Mapping[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_NATIVE = ("content", "tool_calls", "reasoning_content")
_STOPS = {
    "stop": FinishReason.END,
    "tool_calls": FinishReason.END,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
}


class OpenAiApi(SdkApi):
    __slots__ = ()
    sdk = package = "openai"
    error, class_name = "OpenAIError", "AsyncOpenAI"
    headers = ("OPENAI_CUSTOM_HEADERS", "OpenAI-Organization", "OpenAI-Project")

    async def ask(
        self, client: "AsyncOpenAI", request: ChatRequest, on_text: OnText | None
    ) -> Reply:
        body = request_body(request, provider=self.provider)
        if on_text is None:
            completion = await client.chat.completions.create(**body)
            return parse_reply(completion.model_dump(warnings=False))
        return parse_reply(await _streamed(client, body, on_text))


async def _streamed(client: "AsyncOpenAI", body: dict[str, Any], on_text: OnText) -> dict[str, Any]:
    message: dict[str, Any] = {}
    usage: dict[str, Any] | None = None
    model, reason = "", None
    stream = await client.chat.completions.create(
        **body, stream=True, stream_options={"include_usage": True}
    )
    async for event in stream:
        model = event.model or model
        if event.usage:
            usage = event.model_dump(warnings=False)["usage"]  # the event's own may be anything
        for choice in event.choices[:1]:
            reason = choice.finish_reason or reason
            if choice.delta and choice.delta.content:
                on_text(choice.delta.content)
            if choice.delta:
                _add_delta(message, choice.delta.model_dump(exclude_none=True, warnings=False))
    return {
        "usage": usage,
        "model": model,
        "choices": [{"finish_reason": reason, "message": message}],
    }


def _add_delta(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a piece to the message that comes in pieces: texts grow, and calls are told apart by their numbers."""
    for name in ("content", "refusal", "reasoning_content"):
        if piece := delta.get(name):
            message[name] = message.get(name, "") + piece
    for part in delta.get("tool_calls", ()):
        calls = message.setdefault("tool_calls", [])
        if part["index"] == len(calls):
            calls.append({"type": "function", "function": {"arguments": ""}})
        call, said = calls[part["index"]], part.get("function", {})
        call |= {"id": part["id"]} if part.get("id") else {}
        call["function"] |= {"name": said["name"]} if said.get("name") else {}
        call["function"]["arguments"] += said.get("arguments", "")


def request_body(request: ChatRequest, *, provider: str = COMPATIBLE) -> dict[str, Any]:
    """Only OpenAI itself knows its newer fields."""
    plan = request.plan
    is_openai = provider == "openai"
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    body: dict[str, Any] = {"model": request.model, limit: request.max_output}
    form = known_model(provider, request.model).takes.response_format
    is_object = request.schema is not None and form is ResponseFormat.OBJECT
    if is_object:
        body["response_format"] = {"type": "json_object"}
    elif request.schema is not None:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if is_openai and (key := cache_key(plan)):
        body["prompt_cache_key"] = key
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.effort:
        body["reasoning_effort"] = request.effort.value
    in_parts = bool(plan.layout.breakpoints)
    mark = cache_control(SHORT_LIFETIME) if provider == GATEWAY else BREAKPOINT
    messages: list[dict[str, Any]] = []
    for message in messages_of(plan):
        if request.tools and message.turn:
            messages += _loop_messages(message, message.turn, mark)
        else:
            role = "assistant" if message.is_assistant else "user"
            content = _content(message.parts, mark, in_parts=in_parts)
            messages.append({"role": role, "content": content})
    if request.tools:
        declared = [tool.declared("parameters") for tool in request.tools]
        body["tools"] = [{"type": "function", "function": tool} for tool in declared]
    if is_object:
        # The provider promises an object and must be told which one.
        words = f"\n\nAnswer with one JSON object of this schema:\n{json.dumps(request.schema)}"
        last = messages[-1]
        if isinstance(last["content"], str):
            last["content"] += words
        else:
            last["content"].append({"type": "text", "text": words})
    if plan.system:
        system = [block for block in plan.blocks if block.role is BlockRole.SYSTEM]
        content = _content(system, mark, in_parts=in_parts)
        messages.insert(0, {"role": "system", "content": content})
    if in_parts and mark is BREAKPOINT:
        # Without this the last message is a breakpoint too and takes one of the four.
        body["prompt_cache_options"] = {"mode": "explicit"}
    return {**body, "messages": messages}


def cache_key(plan: RequestPlan) -> str:
    """Return what leads requests with the same beginning to the same machine, ``""`` where nothing can be cached.

    It is a hash of the segments that fill the shortest prefix that is cached: where these change nothing can be read.
    """
    sizes = enumerate(plan.tokens, start=1)
    end = next((place for place, size in sizes if size >= plan.policy.minimum), 0)
    text = "\n".join(plan.layout.digests[:end])
    return blake2b(text.encode(), digest_size=16).hexdigest() if end else ""


def _content(
    blocks: Sequence[RequestBlock], mark: Mapping[str, Any], *, in_parts: bool
) -> str | list[dict[str, Any]]:
    if in_parts or any(block.image for block in blocks):
        return [_part(block, mark) for block in blocks]
    return "".join(block.text for block in blocks)


def _loop_messages(
    message: Message, turn: LoopTurn, mark: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if message.is_assistant:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in turn.calls
        ]
        said = turn.native or {"content": turn.text or None, "tool_calls": calls}
        return [{"role": "assistant", **said}]
    told: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call.id, "content": result.text}
        for result in turn.results
    ]
    if turn.note:
        told.append({"role": "user", "content": turn.note})
    if message.parts[-1].has_breakpoint:
        told[-1]["content"] = [{"type": "text", "text": told[-1]["content"], **mark}]
    return told


def parse_reply(answer: Mapping[str, Any]) -> Reply:
    """Return the answer in a completion's JSON; a refusal has a field of its own and ends like an answer."""
    choice, used = answer["choices"][0], reported_fields(answer.get("usage"))
    message, reason = choice["message"], choice.get("finish_reason")
    raw = {"usage": used, "finish_reason": reason}
    if refusal := message.get("refusal"):
        raw["refusal"] = refusal
    stop = FinishReason.REFUSED if refusal else finish_reason(reason, _STOPS)
    text, model = message.get("content") or "", str(answer.get("model") or "")
    if not isinstance(text, str):
        raise TypeError("content is no text")
    calls = tuple(
        read_call(call.get("id"), call["function"].get("name"), call["function"].get("arguments"))
        for call in message.get("tool_calls") or []
        if isinstance(call.get("function"), Mapping)
    )
    # With what it thought, which some want back.
    native = {key: message[key] for key in _NATIVE if message.get(key)}
    return Reply(text, parse_usage(used), stop, model, raw, calls, native if calls else None)


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the usage; ``prompt_tokens`` includes what was read and written, which some name otherwise."""
    details = reported_fields(usage.get("prompt_tokens_details"))
    hit = reported_tokens(usage.get("prompt_cache_hit_tokens"))
    read = hit or reported_tokens(details.get("cached_tokens"))
    written = details.get("cache_write_tokens") or usage.get("cache_creation_input_tokens")
    write = reported_tokens(written)
    fresh = max(reported_tokens(usage.get("prompt_tokens")) - read - write, 0)
    return Usage(fresh, write, read, reported_tokens(usage.get("completion_tokens")))


def _part(block: RequestBlock, mark: Mapping[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": block.text}
    if block.image:
        data = b64encode(block.image.data).decode()
        url = f"data:{block.image.media_type};base64,{data}"
        part = {"type": "image_url", "image_url": {"url": url}}
    return {**part, **mark} if block.has_breakpoint else part
