"""Anthropic's Messages API, through its SDK; MiniMax speaks it too."""

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aggregate.sending.cache.request_plan import BlockRole, Message, RequestBlock, messages_of
from aggregate.sending.clients.connection import SdkApi, finish_reason
from aggregate.sending.clients.protocol import ChatRequest, OnText
from aggregate.sending.models import (
    LONG_LIFETIME,
    FinishReason,
    Reply,
    Usage,
    read_call,
    reported_fields,
    reported_tokens,
)

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

PROVIDERS = frozenset({"anthropic", "minimax"})  # who speaks it
_STOPS = {
    "end_turn": FinishReason.END,
    "stop_sequence": FinishReason.END,
    "tool_use": FinishReason.END,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
}


class AnthropicApi(SdkApi):
    __slots__ = ()
    sdk = package = "anthropic"
    error, class_name = "APIError", "AsyncAnthropic"
    headers = ("ANTHROPIC_CUSTOM_HEADERS",)

    async def ask(
        self, client: "AsyncAnthropic", request: ChatRequest, on_text: OnText | None
    ) -> Reply:
        body = request_body(request)
        if on_text is None:
            return parse_reply((await client.messages.create(**body)).model_dump(warnings=False))
        async with client.messages.stream(**body) as stream:
            async for piece in stream.text_stream:
                on_text(piece)
            if not stream.response.num_bytes_downloaded:
                # Not an answer of another form: worth another try.
                raise ValueError("it broke off before its end")
            return parse_reply((await stream.get_final_message()).model_dump(warnings=False))


def request_body(request: ChatRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_output}
    if request.temperature is not None:
        # MiniMax knows it, the SDK does not.
        body["extra_body"] = {"temperature": request.temperature}
    output: dict[str, Any] = {}
    if request.schema:
        output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
    if request.effort:
        output["effort"] = request.effort.value
    if output:
        body["output_config"] = output
    instructions = [block for block in request.plan.blocks if block.role is BlockRole.SYSTEM]
    if instructions:
        body["system"] = [_part(block) for block in instructions]
    if request.tools:
        body["tools"] = [tool.declared("input_schema") for tool in request.tools]
    body["messages"] = [
        {
            "role": "assistant" if message.is_assistant else "user",
            "content": _content(message, in_loop=bool(request.tools)),
        }
        for message in messages_of(request.plan)
    ]
    return body


def _content(message: Message, *, in_loop: bool) -> list[dict[str, Any]]:
    turn = message.turn if in_loop else None
    if turn is None:
        return list(map(_part, message.parts))
    if message.is_assistant:
        text = [{"type": "text", "text": turn.text}] if turn.text else []
        calls = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
            for call in turn.calls
        ]
        return list(turn.native or [*text, *calls])
    parts: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": result.call.id, "content": result.text}
        for result in turn.results
    ]
    if turn.note:
        parts.append({"type": "text", "text": turn.note})
    return [*parts[:-1], parts[-1] | _mark(message.parts[-1])]


def parse_reply(message: Mapping[str, Any]) -> Reply:
    text = "".join(block["text"] for block in message["content"] if block.get("type") == "text")
    stop = finish_reason(message.get("stop_reason"), _STOPS)
    used, model = reported_fields(message.get("usage")), str(message.get("model") or "")
    raw = {"usage": used, "stop_reason": message["stop_reason"]}
    calls = tuple(
        read_call(block.get("id"), block.get("name"), block.get("input"))
        for block in message["content"]
        if block.get("type") == "tool_use"
    )
    # With what it thought, which it wants back.
    native = [
        {key: value for key, value in block.items() if value is not None}
        for block in message["content"]
    ]
    return Reply(text, parse_usage(used), stop, model, raw, calls, native if calls else None)


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the usage; ``input_tokens`` excludes what was read from the cache and written to it."""
    return Usage(
        reported_tokens(usage.get("input_tokens")),
        reported_tokens(usage.get("cache_creation_input_tokens")),
        reported_tokens(usage.get("cache_read_input_tokens")),
        reported_tokens(usage.get("output_tokens")),
        reported_tokens(
            reported_fields(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")
        ),
    )


def _part(block: RequestBlock) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": block.text}
    if block.image:
        data = b64encode(block.image.data).decode()
        source = {"type": "base64", "media_type": block.image.media_type, "data": data}
        part = {"type": "image", "source": source}
    return part | _mark(block)


def _mark(block: RequestBlock) -> dict[str, Any]:
    return cache_control(block.lifetime) if block.has_breakpoint else {}


def cache_control(lifetime: int) -> dict[str, Any]:
    """Return a breakpoint whose entry lives for so many seconds."""
    # Five minutes need no word, and a request without one keeps its bytes.
    ttl = {"ttl": "1h"} if lifetime >= LONG_LIFETIME else {}
    return {"cache_control": {"type": "ephemeral"} | ttl}
