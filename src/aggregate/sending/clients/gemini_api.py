"""Google's Gemini API, through its SDK; its cache needs no breakpoints."""

import re
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aggregate.sending.cache.request_plan import Message, RequestBlock, messages_of
from aggregate.sending.clients.client import ChatRequest, Meter
from aggregate.sending.clients.connection import (
    SdkApi,
    certificates,
    finish_reason,
    http_client_options,
)
from aggregate.sending.models import (
    FinishReason,
    LoopTurn,
    Reply,
    Usage,
    read_calls,
    reported_fields,
    reported_tokens,
    without_nulls,
)

if TYPE_CHECKING:
    from google.genai.client import AsyncClient

PROVIDERS = frozenset({"gemini"})


@dataclass(slots=True)
class _StreamedParts:
    whole: list[dict[str, Any]] = field(default_factory=list)

    def add(self, fields: dict[str, Any], meter: Meter) -> str:
        self.whole.append(fields)
        text = parse_text(fields)
        meter.add(text)
        meter.report(parse_usage(reported_fields(fields.get("usage_metadata"))))
        return text

    def rest(self) -> str:
        return ""


def request_body(request: ChatRequest) -> dict[str, Any]:
    """Return the arguments of a request, with texts joined: the cache needs no breakpoints."""
    config: dict[str, Any] = {"max_output_tokens": request.max_output}
    if request.plan.system:
        config["system_instruction"] = request.plan.system
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.effort:
        config["thinking_config"] = {"thinking_level": request.effort.value.upper()}
    if request.schema:
        config |= {"response_mime_type": "application/json", "response_json_schema": request.schema}
    contents = [
        {
            "role": "model" if message.is_assistant else "user",
            "parts": _loop_parts(message, message.turn) if message.turn else _parts(message.parts),
        }
        for message in messages_of(request.plan, has_tools=bool(request.tools))
    ]
    if request.tools:
        declared = [tool.declared("parameters_json_schema") for tool in request.tools]
        config["tools"] = [{"function_declarations": declared}]
    return {"model": request.model, "contents": contents, "config": config}


def _loop_parts(message: Message, turn: LoopTurn) -> list[dict[str, Any]]:
    if message.is_assistant:
        return _assistant_parts(turn)
    parts: list[dict[str, Any]] = []
    for result in turn.results:
        answer = {"name": result.call.name, "response": {"result": result.output}}
        identity = {"id": result.call.id} if result.call.id else {}
        parts.append({"function_response": answer | identity})
    return [*parts, {"text": turn.note}] if turn.note.strip() else parts


def _assistant_parts(turn: LoopTurn) -> list[dict[str, Any]]:
    """Return the parts of a model's message to send back with their signatures, without blank texts."""
    calls = [{"name": call.name, "args": dict(call.arguments)} for call in turn.calls]
    if not turn.native:
        text = [{"text": turn.text}] if turn.text.strip() else []
        return [*text, *({"function_call": call} for call in calls)]
    parts, remaining = [], iter(calls)
    for original in turn.native:
        part = _with_bytes(original)
        if call := part.get("function_call"):
            identity = {"id": call["id"]} if call.get("id") else {}
            part["function_call"] = next(remaining, call) | identity
        is_signed = "thought_signature" in part and "function_call" not in part
        if not (part.get("text") or "").strip() and not is_signed:
            # A part has a single data field, so blank text beside a call is dropped.
            part.pop("text", None)
        if part.keys() - {"thought", "thought_signature"} or is_signed:
            parts.append(part)
    return parts


def _with_bytes(part: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the signature of a part from base64."""
    signature = part.get("thought_signature")
    if not isinstance(signature, str):
        return dict(part)
    return {**part, "thought_signature": urlsafe_b64decode(signature + "=" * (-len(signature) % 4))}


def _parts(pieces: Sequence[RequestBlock]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for image, run in groupby(pieces, key=lambda part: part.image):
        if image:
            parts.append({"inline_data": {"mime_type": image.media_type, "data": image.data}})
        else:
            parts.append({"text": "".join(part.text for part in run)})
    return parts


def parse_reply(answer: Mapping[str, Any] | list[dict[str, Any]]) -> Reply:
    parts = answer if isinstance(answer, list) else [answer]
    usage: dict[str, Any] = {}
    reason, model = "", ""
    for part in parts:
        usage = part.get("usage_metadata") or usage
        model = part.get("model_version") or model
        reason = str(_candidate(part).get("finish_reason") or reason)
        if (part.get("prompt_feedback") or {}).get("block_reason"):
            reason = "SAFETY"
    text = "".join(map(parse_text, parts))
    raw = {"usage": usage, "finish_reason": reason}
    pieces = [piece for part in parts for piece in _pieces(part)]
    raw_calls = [piece["function_call"] for piece in pieces if piece.get("function_call")]
    stop = finish_reason(reason, has_answer=bool(text.strip() or raw_calls))
    is_cut = stop is FinishReason.LENGTH or not reason
    calls = read_calls(
        ((call.get("id"), call.get("name"), call.get("args")) for call in raw_calls),
        may_be_cut=is_cut and bool(raw_calls and pieces[-1].get("function_call")),
    )
    return Reply(text, parse_usage(usage), stop, model, raw, calls, pieces if calls else None)


def parse_text(part: Mapping[str, Any]) -> str:
    return "".join(piece.get("text") or "" for piece in _pieces(part) if not piece.get("thought"))


def _pieces(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(map(without_nulls, (_candidate(part).get("content") or {}).get("parts") or []))


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Parse the usage that Gemini reports: prompt tokens include cache reads; thoughts count as output."""
    read = reported_tokens(usage.get("cached_content_token_count"))
    output = reported_tokens(usage.get("candidates_token_count"))
    output += reported_tokens(usage.get("thoughts_token_count"))
    return Usage(max(reported_tokens(usage.get("prompt_token_count")) - read, 0), 0, read, output)


def _candidate(part: Mapping[str, Any]) -> dict[str, Any]:
    return next(iter(part.get("candidates") or []), {})


class GeminiApi(SdkApi):
    """The adapter of Gemini; its ``base_url`` may end with a version of the API."""

    __slots__ = ()
    sdk, error, package = "google.genai.errors", "APIError", "google-genai"
    body, begin, parse = staticmethod(request_body), _StreamedParts, staticmethod(parse_reply)

    @asynccontextmanager
    async def open(self, _errors: object) -> "AsyncIterator[AsyncClient]":
        from google.genai import Client, types
        from httpx2 import AsyncClient as HttpClient

        # The SDK takes the address and the API's version separately.
        match = re.fullmatch(r"(.*?)/(v\d\w*)/?", self.base_url or "")
        address, version = (match[1], match[2]) if match else (self.base_url, None)
        # The SDK creates a second client and never uses it.
        for_unused = {"verify": certificates()}
        async with HttpClient(**http_client_options(self.limits)) as http:
            options = types.HttpOptions(
                base_url=address,
                api_version=version,
                httpx_async_client=http,
                client_args=for_unused,
                async_client_args=for_unused,
            )
            # No variable holds the key: tracebacks may print variables.
            client = Client(api_key=self.key.value or "none", vertexai=False, http_options=options)
            async with client.aio as session:
                yield session

    async def call(self, client: Any, body: dict[str, Any], *, is_streamed: bool) -> Any:  # noqa: ANN401
        if is_streamed:
            return await client.models.generate_content_stream(**body)
        return await client.models.generate_content(**body)

    def fields(self, event: Any) -> dict[str, Any]:  # noqa: ANN401
        fields: dict[str, Any] = event.model_dump(mode="json")
        return fields
