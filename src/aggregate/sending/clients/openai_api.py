"""OpenAI's Chat Completions API, through its SDK; also for DeepSeek and most local servers."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, repeat
from typing import Any

from aggregate.sending.cache.request_plan import (
    BlockRole,
    Message,
    RequestBlock,
    RequestPlan,
    messages_of,
)
from aggregate.sending.clients.anthropic_api import cache_control
from aggregate.sending.clients.client import ChatRequest, Meter
from aggregate.sending.clients.connection import SdkApi, finish_reason, mappings
from aggregate.sending.clients.deltas import LeadingThoughts, add_delta, content_text
from aggregate.sending.known_models import ResponseFormat, known_model
from aggregate.sending.models import (
    COMPATIBLE,
    GATEWAY,
    SHORT_LIFETIME,
    FinishReason,
    LoopTurn,
    Reply,
    ToolCall,
    Usage,
    read_calls,
    reported_fields,
    reported_tokens,
)

PROVIDERS = frozenset({"openai", "deepseek", COMPATIBLE, GATEWAY})
BREAKPOINT: Mapping[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
# Fields of the model's message to send back with the results of its calls, thoughts included.
_NATIVE = ("content", "tool_calls", "reasoning_content", "reasoning_details", "thinking_blocks")


class OpenAiApi(SdkApi):
    __slots__ = ()
    sdk = package = "openai"
    error, class_name = "OpenAIError", "AsyncOpenAI"
    headers = ("OPENAI_CUSTOM_HEADERS", "OpenAI-Organization", "OpenAI-Project")

    @property
    def _may_think(self) -> bool:
        # OpenAI sends no thoughts, so a <think> tag in its answer is text.
        return self.provider != "openai"

    def body(self, request: ChatRequest) -> dict[str, Any]:
        return request_body(request, provider=self.provider)

    async def call(self, client: Any, body: dict[str, Any], *, is_streamed: bool) -> Any:  # noqa: ANN401
        more = {"stream": True, "stream_options": {"include_usage": True}} if is_streamed else {}
        return await client.chat.completions.create(**body, **more)

    def begin(self) -> "_StreamedCompletion":
        return _StreamedCompletion(LeadingThoughts(is_open=not self._may_think))

    def parse(self, answer: Mapping[str, Any]) -> Reply:
        return parse_reply(answer, may_think=self._may_think)


@dataclass(slots=True)
class _StreamedCompletion:
    thoughts: LeadingThoughts
    message: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    reason: object = None

    def add(self, fields: dict[str, Any], meter: Meter) -> str:
        choice = next(iter(mappings(fields.get("choices"))), {})
        self.model = fields.get("model") or self.model
        self.reason = choice.get("finish_reason") or self.reason
        delta = reported_fields(choice.get("delta") or choice.get("message"))
        meter.add(add_delta(self.message, delta))
        for holder in (choice, fields, reported_fields(fields.get("x_groq"))):
            if reported := reported_fields(holder.get("usage")):
                self.usage = reported
                meter.report(parse_usage(reported))
        return self.thoughts.without(content_text(delta.get("content")))

    def rest(self) -> str:
        stop = finish_reason(self.reason, has_answer=True)
        return self.thoughts.rest(is_cut=stop is FinishReason.LENGTH)

    @property
    def whole(self) -> dict[str, Any]:
        """The completion; fields omitted by the server are absent."""
        choice = {"finish_reason": self.reason, "message": self.message}
        return {"usage": self.usage, "model": self.model, "choices": [choice]}


def request_body(request: ChatRequest, *, provider: str = COMPATIBLE) -> dict[str, Any]:
    """Return the body of a request.

    Fields supported only by OpenAI are left out for other servers.
    """
    plan = request.plan
    is_openai = provider == "openai"
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    body: dict[str, Any] = {"model": request.model, limit: request.max_output}
    form = known_model(provider, request.model).response_format
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
    for message in messages_of(plan, has_tools=bool(request.tools)):
        if message.turn:
            messages += _loop_messages(message, message.turn, mark)
        else:
            role = "assistant" if message.is_assistant else "user"
            content = _content(message.parts, mark, in_parts=in_parts)
            messages.append({"role": role, "content": content})
    if request.tools:
        declared = [tool.declared("parameters") for tool in request.tools]
        body["tools"] = [{"type": "function", "function": tool} for tool in declared]
    if is_object:
        # The provider takes no schema, so it goes into the text.
        instruction = (
            f"\n\nAnswer with one JSON object of this schema:\n{json.dumps(request.schema)}"
        )
        last = messages[-1]
        if isinstance(last["content"], str):
            last["content"] += instruction
        else:
            last["content"].append({"type": "text", "text": instruction})
    if plan.system:
        system = [block for block in plan.blocks if block.role is BlockRole.SYSTEM]
        content = _content(system, mark, in_parts=in_parts)
        messages.insert(0, {"role": "system", "content": content})
    if in_parts and mark is BREAKPOINT:
        # Otherwise the last message takes one of the four breakpoints.
        body["prompt_cache_options"] = {"mode": "explicit"}
    return {**body, "messages": messages}


def cache_key(plan: RequestPlan) -> str:
    """Return the routing key of equal prefixes.

    OpenAI sends equal keys to one machine. The key is a hash of the segments in the shortest cacheable prefix, ``""``
    if the request is shorter.
    """
    sizes = enumerate(plan.tokens, start=1)
    end = next((index for index, size in sizes if size >= plan.policy.minimum), 0)
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
        return [_assistant_message(turn)]
    replies: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call.id, "content": result.output}
        for result in turn.results
    ]
    if turn.note.strip():
        replies.append({"role": "user", "content": turn.note})
    if message.parts[-1].has_breakpoint:
        replies[-1]["content"] = [{"type": "text", "text": replies[-1]["content"], **mark}]
    return replies


def _assistant_message(turn: LoopTurn) -> dict[str, Any]:
    """Return the model's own message, without blank texts and with valid arguments."""
    native = reported_fields(turn.native)
    originals = chain(native.get("tool_calls") or (), repeat({}))
    calls = [_valid_call(*pair) for pair in zip(turn.calls, originals, strict=False)]
    content = native.get("content", turn.text)
    if isinstance(content, list):
        content = [part for part in content if content_text([part]).strip()]
    elif not content_text(content).strip():
        content = None
    return {"role": "assistant", **native, "content": content or None, "tool_calls": calls}


def _valid_call(call: ToolCall, original: Mapping[str, Any]) -> dict[str, Any]:
    """Return the original call, with arguments parseable by servers."""
    more = {key: value for key, value in original.items() if key != "index" and value is not None}
    function = reported_fields(original.get("function"))
    arguments = function.get("arguments")
    if not (call.arguments and isinstance(arguments, str)):
        arguments = json.dumps(dict(call.arguments))
    function |= {"name": call.name, "arguments": arguments}
    return {**more, "id": call.id, "type": "function", "function": function}


def parse_reply(answer: Mapping[str, Any], *, may_think: bool = True) -> Reply:
    """Parse a completion; a refusal is in a field of its own, without a finish reason."""
    choice, used = answer["choices"][0], reported_fields(answer.get("usage"))
    message, reason = choice["message"], choice.get("finish_reason")
    raw = {"usage": used, "finish_reason": reason}
    if refusal := message.get("refusal"):
        raw["refusal"] = refusal
    content, model = message.get("content"), str(answer.get("model") or "")
    raw_calls = [call for call in message.get("tool_calls") or () if isinstance(call, Mapping)]
    raw_calls = [call for call in raw_calls if isinstance(call.get("function"), Mapping)]
    text = content_text(content)
    if not (text or raw_calls) and not isinstance(content, str | list | None):
        raise TypeError("content is not text")
    has_answer = bool(refusal or text.strip() or raw_calls)
    stop = finish_reason(reason, has_answer=has_answer)
    is_cut = stop is FinishReason.LENGTH or not reason
    thoughts = LeadingThoughts(is_open=not may_think)
    text = thoughts.without(text) + thoughts.rest(is_cut=stop is FinishReason.LENGTH)
    functions = ((call.get("id"), call["function"]) for call in raw_calls)
    calls = read_calls(
        ((key, function.get("name"), function.get("arguments")) for key, function in functions),
        may_be_cut=is_cut,
    )
    native = {key: message[key] for key in _NATIVE if message.get(key)}
    if raw_calls:
        native["tool_calls"] = raw_calls
    stop = FinishReason.REFUSED if refusal else stop
    return Reply(text, parse_usage(used), stop, model, raw, calls, native if calls else None)


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Parse the usage that OpenAI reports; its ``prompt_tokens`` includes cache reads and writes."""
    details = reported_fields(
        usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    )
    hit = reported_tokens(usage.get("prompt_cache_hit_tokens"))
    read = hit or reported_tokens(details.get("cached_tokens"))
    written = details.get("cache_write_tokens") or usage.get("cache_creation_input_tokens")
    write = reported_tokens(written)
    sent, output = (
        reported_tokens(usage.get(name) or usage.get(other))
        for name, other in (
            ("prompt_tokens", "input_tokens"),
            ("completion_tokens", "output_tokens"),
        )
    )
    return Usage(max(sent - read - write, 0), write, read, output)


def _part(block: RequestBlock, mark: Mapping[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": block.text}
    if block.image:
        data = b64encode(block.image.data).decode()
        url = f"data:{block.image.media_type};base64,{data}"
        part = {"type": "image_url", "image_url": {"url": url}}
    return {**part, **mark} if block.has_breakpoint else part
