"""Anthropic's Messages API, through its SDK; MiniMax speaks it too."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aggregate.base.values import FinishReason, Reply, Usage, reported_fields, reported_tokens
from aggregate.sending.cache.policy import LONG_LIFETIME
from aggregate.sending.cache.request_plan import BlockRole, RequestBlock
from aggregate.sending.clients.connection import (
    DEFAULT_LIMITS,
    ConnectionLimits,
    http_client_options,
)
from aggregate.sending.clients.credentials import ApiKey, auth_headers
from aggregate.sending.clients.messages import Message, messages_of
from aggregate.sending.clients.protocol import ModelRequest, OnText
from aggregate.sending.clients.sdk_errors import SdkErrorTranslator, finish_reason, missing_sdk

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

PROVIDERS = frozenset({"anthropic", "minimax"})
"""Who speaks it."""
_AMBIENT: tuple[str, tuple[str, ...]] = ("ANTHROPIC_CUSTOM_HEADERS", ())
"""What the SDK takes from the environment by itself: headers from a variable, and others that it makes."""
_STOPS = {
    "end_turn": FinishReason.END,
    "stop_sequence": FinishReason.END,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
}


@dataclass(frozen=True, slots=True)
class AnthropicApi:
    """The adapter.

    Attributes:
        provider: Named in errors.
        key: The key.
        base_url: Where the API is, ``None`` for Anthropic's own.
        limits: How long to wait for the server.
        connect: Makes the SDK's client from the SDK and the client's arguments; by default that of the API itself.
    """

    provider: str
    key: ApiKey
    base_url: str | None = None
    limits: ConnectionLimits = DEFAULT_LIMITS
    connect: Callable[[Any, dict[str, Any]], Any] | None = field(default=None, repr=False)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send a request and return the answer."""
        try:
            import anthropic
        except ImportError:
            raise missing_sdk(self.provider, "anthropic") from None
        body = request_body(request)
        with SdkErrorTranslator(self.provider, self.key, anthropic.APIError):
            async with self._client(anthropic) as client:
                return parse_reply(await _ask(client, body, on_text))

    def _client(self, sdk: Any) -> Any:  # noqa: ANN401 - the module, loaded when it is needed
        """Return the SDK's client; the key is left in no variable of a frame that an error passes through."""
        options = {
            "api_key": self.key.value or "none",
            "base_url": self.base_url,
            "http_client": sdk.DefaultAsyncHttpxClient(**http_client_options(self.limits)),
            "max_retries": 0,
            "timeout": self.limits.read,  # else it refuses long answers that are not streamed
            "default_headers": self._headers(sdk.omit),
        }
        return self.connect(sdk, options) if self.connect else sdk.AsyncAnthropic(**options)

    def _headers(self, omit: object) -> dict[str, Any] | None:
        """Return headers for another provider: those that the environment names are meant for Anthropic alone."""
        if self.provider == "anthropic":
            return None
        return auth_headers(None if self.connect else self.key, *_AMBIENT, omit)


async def _ask(
    client: "AsyncAnthropic", body: dict[str, Any], on_text: OnText | None
) -> dict[str, Any]:
    if on_text is None:
        return (await client.messages.create(**body)).model_dump(warnings=False)  # type: ignore[no-any-return]
    async with client.messages.stream(**body) as stream:
        async for piece in stream.text_stream:
            on_text(piece)
        if not stream.response.num_bytes_downloaded:
            raise ValueError(
                "it broke off before its end"
            )  # not of another form: worth another try
        return (await stream.get_final_message()).model_dump(warnings=False)


def request_body(request: ModelRequest) -> dict[str, Any]:
    """Return the JSON of a request: a text part per block of the plan, with ``cache_control`` at breakpoints."""
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
        body["system"] = [_part(block.text, block) for block in instructions]
    return {**body, "messages": [_message(message) for message in messages_of(request.plan)]}


def parse_reply(message: Mapping[str, Any]) -> Reply:
    """Return the answer in a message's JSON; thinking is left out."""
    text = "".join(block["text"] for block in message["content"] if block.get("type") == "text")
    stop = finish_reason(message.get("stop_reason"), _STOPS)
    usage = reported_fields(message.get("usage"))
    raw = {"usage": usage, "stop_reason": message["stop_reason"]}
    return Reply(text, parse_usage(usage), stop, str(message.get("model") or ""), raw)


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


def _message(message: Message) -> dict[str, Any]:
    role = "assistant" if message.is_assistant else "user"
    return {"role": role, "content": [_part(part.text, part.block) for part in message.parts]}


def _part(text: str, block: RequestBlock) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "text", "text": text}
    if block.image:
        data = b64encode(block.image.data).decode()
        source = {"type": "base64", "media_type": block.image.media_type, "data": data}
        part = {"type": "image", "source": source}
    if block.has_breakpoint:
        part["cache_control"] = _cache_control(block.lifetime)
    return part


def _cache_control(lifetime: int) -> dict[str, str]:
    """Return a breakpoint; five minutes need no word, and a request without one keeps its bytes."""
    control = {"type": "ephemeral"}
    return control | {"ttl": "1h"} if lifetime >= LONG_LIFETIME else control
