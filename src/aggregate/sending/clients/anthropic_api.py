"""Anthropic's Messages API, through its SDK; also for MiniMax."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aggregate.sending.cache.request_plan import BlockRole, Message, RequestBlock, messages_of
from aggregate.sending.clients.client import ChatRequest, Meter
from aggregate.sending.clients.connection import SdkApi, finish_reason
from aggregate.sending.models import (
    LONG_LIFETIME,
    FinishReason,
    LoopTurn,
    Reply,
    Usage,
    read_calls,
    reported_fields,
    reported_tokens,
    without_nulls,
)

PROVIDERS = frozenset({"anthropic", "minimax"})


@dataclass(slots=True)
class _StreamedMessage:
    head: dict[str, Any] = field(default_factory=dict)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    by_index: dict[object, dict[str, Any]] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    def add(self, fields: dict[str, Any], meter: Meter) -> str:
        delta = reported_fields(fields.get("delta"))
        if str(fields.get("type")).startswith("content_block_"):
            kind, text = self._add_to_block(fields, delta)
            meter.add(text)
            return text if kind == "text" else ""
        start = reported_fields(fields.get("message"))
        for part in (start, delta):
            self.head |= {key: part[key] for key in ("model", "stop_reason") if part.get(key)}
        if reported := reported_fields(start.get("usage") or fields.get("usage")):
            # Servers that count only once send 0 later.
            self.usage |= {key: value for key, value in reported.items() if value}
            meter.report(parse_usage(self.usage))
        return ""

    def _add_to_block(self, fields: Mapping[str, Any], delta: dict[str, Any]) -> tuple[str, str]:
        """Add a received piece to its block.

        Return the type of the block and the text of the piece. A piece without a beginning or an index continues the
        last block of the same type.
        """
        start = reported_fields(fields.get("content_block"))
        piece = start or delta
        kind = str(piece.pop("type", ""))
        if not start:
            kind = "tool_use" if "partial_json" in piece else "thinking"
            kind = "text" if "text" in piece or "citation" in piece else kind
        index = fields["index"] if type(fields.get("index")) in (int, str) else None
        candidates = [] if start else [self.by_index.get(index), *self.blocks[-1:]]
        block = next((block for block in candidates if block and block["type"] == kind), None)
        if block is None and piece:
            block = self.by_index[index] = {"type": kind}
            self.blocks.append(block)
        return (kind, "") if block is None else (block["type"], _add_piece(block, piece))

    def rest(self) -> str:
        if not (self.blocks or self.head):
            # A ValueError, so that the request is retried.
            raise ValueError("the answer broke off before its end")
        return ""

    @property
    def whole(self) -> dict[str, Any]:
        """The message; fields that the server omits are absent."""
        return {**self.head, "content": self.blocks, "usage": self.usage}


def _add_piece(block: dict[str, Any], piece: dict[str, Any]) -> str:
    added = ""
    if isinstance(citation := piece.pop("citation", None), dict):
        block.setdefault("citations", []).append(citation)
    for name, value in piece.items():
        field_name = "input" if name == "partial_json" else name
        if name not in ("text", "thinking", "partial_json"):
            block[name] = value or block.get(name, value)
        elif isinstance(value, str):
            earlier = block.get(field_name)
            block[field_name] = (earlier if isinstance(earlier, str) else "") + value
            added += value
    return added


def request_body(request: ChatRequest) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_output}
    if request.temperature is not None:
        # MiniMax supports it, the SDK does not.
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
        {"role": "assistant" if message.is_assistant else "user", "content": _content(message)}
        for message in messages_of(request.plan, has_tools=bool(request.tools))
    ]
    return body


def _content(message: Message) -> list[dict[str, Any]]:
    turn = message.turn
    if turn is None:
        return list(map(_part, message.parts))
    if message.is_assistant:
        return _assistant_blocks(turn)
    parts: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": result.call.id, "content": result.output}
        for result in turn.results
    ]
    if turn.note.strip():
        parts.append({"type": "text", "text": turn.note})
    return [*parts[:-1], parts[-1] | _mark(message.parts[-1])]


def _assistant_blocks(turn: LoopTurn) -> list[dict[str, Any]]:
    """Return the blocks of a model's message to send back, without blank texts."""
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in turn.calls
    ]
    if not turn.native:
        text = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        return [*text, *calls]
    remaining = iter(calls)
    blocks = (
        block | next(remaining, {}) if block.get("type") == "tool_use" else block
        for block in turn.native
    )
    return [block for block in blocks if block.get("type") != "text" or _text_of(block).strip()]


def _text_of(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def parse_reply(answer: Mapping[str, Any]) -> Reply:
    content = answer["content"]
    content = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [reported_fields(block) for block in content]
    texts = [_text_of(block) for block in blocks if block.get("type") == "text"]
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    if blocks and not (uses or "".join(texts)) and not all(map(_is_known, blocks)):
        raise TypeError("a content block has no text")
    reason = answer.get("stop_reason")
    stop = finish_reason(reason, has_answer=bool(uses or "".join(texts)))
    is_cut = stop is FinishReason.LENGTH or not reason
    calls = read_calls(
        ((block.get("id"), block.get("name"), block.get("input")) for block in uses),
        may_be_cut=is_cut and bool(uses) and blocks[-1] is uses[-1],
    )
    used, model = reported_fields(answer.get("usage")), str(answer.get("model") or "")
    raw = {"usage": used, "stop_reason": reason}
    # Thoughts are sent back with the results; null fields come from the SDK.
    native = list(map(without_nulls, blocks))
    text = "".join(texts)
    return Reply(text, parse_usage(used), stop, model, raw, calls, native if calls else None)


def _is_known(block: Mapping[str, Any]) -> bool:
    return isinstance(block.get("text"), str) or block.get("type") not in (None, "text")


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Parse the usage that Anthropic reports; its ``input_tokens`` excludes cache reads and writes."""
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
    """Return the marker of a cache breakpoint for an entry that lives ``lifetime`` seconds."""
    # Five minutes are the default.
    ttl = {"ttl": "1h"} if lifetime >= LONG_LIFETIME else {}
    return {"cache_control": {"type": "ephemeral"} | ttl}


class AnthropicApi(SdkApi):
    __slots__ = ()
    sdk = package = "anthropic"
    error, class_name = "APIError", "AsyncAnthropic"
    headers = ("ANTHROPIC_CUSTOM_HEADERS",)
    body, begin, parse = staticmethod(request_body), _StreamedMessage, staticmethod(parse_reply)

    async def call(self, client: Any, body: dict[str, Any], *, is_streamed: bool) -> Any:  # noqa: ANN401
        more = {"stream": True} if is_streamed else {}
        return await client.messages.create(**body, **more)
