"""OpenAI's Chat Completions API, through its SDK; DeepSeek and most servers on one's own machine speak it too."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aggregate.clients.capabilities import ResponseFormat
from aggregate.clients.connection import DEFAULT_LIMITS, ConnectionLimits, settings
from aggregate.clients.credentials import ApiKey, auth_headers
from aggregate.clients.protocol import ModelRequest, OnText
from aggregate.clients.sdk_errors import SdkErrorTranslator, finish_reason, missing_sdk
from aggregate.models.reply import FinishReason, Reply
from aggregate.models.usage import Usage, reported_fields, reported_tokens
from aggregate.prompt_cache.request_plan import BlockRole

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_AMBIENT = ("OPENAI_CUSTOM_HEADERS", ("OpenAI-Organization", "OpenAI-Project"))
_STOPS = {"stop": FinishReason.END, "length": FinishReason.LENGTH, "content_filter": FinishReason.REFUSED}


@dataclass(frozen=True, slots=True)
class OpenAiApi:
    """The adapter.

    Attributes:
        provider: Named in errors.
        key: The key.
        base_url: Where the API is, ``None`` for OpenAI's own.
        limit: The name of the field that limits the answer.
        limits: How long to wait for the server.
    """

    provider: str
    key: ApiKey
    base_url: str | None = None
    limit: str = "max_tokens"
    limits: ConnectionLimits = DEFAULT_LIMITS

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send a request and return the answer."""
        try:
            import openai
        except ImportError:
            raise missing_sdk(self.provider, "openai") from None
        body = request_body(request, limit=self.limit)
        with SdkErrorTranslator(self.provider, self.key, openai.OpenAIError):
            async with openai.AsyncOpenAI(
                api_key=self.key.value or "none",
                base_url=self.base_url,
                http_client=openai.DefaultAsyncHttpxClient(**settings(self.limits)),
                max_retries=0,
                default_headers=None if self.provider == "openai" else auth_headers(self.key, *_AMBIENT, openai.omit),
            ) as client:
                return parse_reply(await _ask(client, body, on_text))


async def _ask(client: "AsyncOpenAI", body: dict[str, Any], on_text: OnText | None) -> dict[str, Any]:
    """Return the answer as the JSON of an unstreamed one."""
    if on_text is None:
        return (await client.chat.completions.create(**body)).model_dump(warnings=False)  # type: ignore[no-any-return]
    pieces: list[str] = []
    refusal: list[str] = []
    whole: dict[str, Any] = {"usage": None, "model": "", "choices": [{"finish_reason": None, "message": {}}]}
    stream = await client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True})
    async for event in stream:
        whole["model"] = event.model or whole["model"]
        if event.usage:
            whole["usage"] = event.model_dump(warnings=False)["usage"]  # the event's own may be anything
        for choice in event.choices[:1]:
            whole["choices"][0]["finish_reason"] = choice.finish_reason or whole["choices"][0]["finish_reason"]
            if choice.delta and choice.delta.content:
                pieces.append(choice.delta.content)
                on_text(choice.delta.content)
            if choice.delta and choice.delta.refusal:
                refusal.append(choice.delta.refusal)
    whole["choices"][0]["message"] = {"content": "".join(pieces), "refusal": "".join(refusal)}
    return whole


def request_body(request: ModelRequest, *, limit: str = "max_tokens") -> dict[str, Any]:
    """Return the JSON of a request: plain texts, or content parts where breakpoints are set."""
    plan, ending = request.plan, _ending(request)
    body: dict[str, Any] = {"model": request.model, limit: request.max_output, **_format(request)}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if not plan.layout.breakpoints:
        system = [{"role": "system", "content": plan.system}] if plan.system else []
        return {**body, "messages": [*system, {"role": "user", "content": plan.text + ending}]}
    parts = [
        (block.role is BlockRole.SYSTEM, _part(block.text, breakpoint_behind=block.has_breakpoint))
        for block in plan.blocks
    ]
    if ending:
        parts.append((False, _part(ending, breakpoint_behind=False)))
    roles = [("system", [part for is_system, part in parts if is_system])] if plan.system else []
    roles.append(("user", [part for is_system, part in parts if not is_system]))
    messages = [{"role": role, "content": content} for role, content in roles]
    # Without this the last message is a breakpoint too and takes one of the four.
    return {**body, "messages": messages, "prompt_cache_options": {"mode": "explicit"}}


def _format(request: ModelRequest) -> dict[str, Any]:
    """Return the field that binds an answer to a schema."""
    match request.response_format:
        case ResponseFormat.TEXT:
            return {}
        case ResponseFormat.OBJECT:
            return {"response_format": {"type": "json_object"}}
        case ResponseFormat.SCHEMA:
            schema = {"name": "answer", "schema": request.schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _ending(request: ModelRequest) -> str:
    """Return the schema as words, where the provider promises an object and must be told which one."""
    if request.response_format is not ResponseFormat.OBJECT:
        return ""
    return f"\n\nAnswer with one JSON object of this schema:\n{json.dumps(request.schema)}"


def parse_reply(answer: Mapping[str, Any]) -> Reply:
    """Return the answer in a completion's JSON; a refusal has a field of its own and ends like an answer."""
    choice = answer["choices"][0]
    usage = reported_fields(answer.get("usage"))
    refusal = choice["message"].get("refusal")
    stop = FinishReason.REFUSED if refusal else finish_reason(choice.get("finish_reason"), _STOPS)
    raw = {"usage": usage, "finish_reason": choice.get("finish_reason")}
    if refusal:
        raw["refusal"] = refusal
    text = choice["message"].get("content") or ""
    if not isinstance(text, str):
        raise TypeError("content is no text")
    return Reply(text, parse_usage(usage), stop, str(answer.get("model") or ""), raw)


def parse_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the usage; ``prompt_tokens`` includes what was read and written; DeepSeek names its reads otherwise."""
    details = reported_fields(usage.get("prompt_tokens_details"))
    hit = reported_tokens(usage.get("prompt_cache_hit_tokens"))
    read = hit or reported_tokens(details.get("cached_tokens"))
    write = reported_tokens(details.get("cache_write_tokens"))
    fresh = max(reported_tokens(usage.get("prompt_tokens")) - read - write, 0)
    return Usage(fresh, write, read, reported_tokens(usage.get("completion_tokens")))


def _part(text: str, *, breakpoint_behind: bool) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": text}
    return part | {"prompt_cache_breakpoint": {"mode": "explicit"}} if breakpoint_behind else part
