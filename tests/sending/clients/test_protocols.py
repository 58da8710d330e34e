"""The adapters against a server that speaks the providers' protocols and was written by others."""

import asyncio
import time
from typing import Any

import pytest

from aggregate import ChatRequest, Client, FinishReason, ProviderError, open_client
from aggregate.sending.clients import Retry
from tests.fakes.prompts import state
from tests.fakes.transports import QUICK
from tests.sending.clients.conftest import ANSWER, Aimock

PROMPT = state({"a.py": ("word " * 4000 + "ümlaut 🙂", 0)}, [("hello", 0)]).prompt
PATHS = {
    "anthropic": "",
    "minimax": "",
    "openai": "/v1",
    "deepseek": "/v1",
    "compatible": "/v1",
    "gemini": "/v1beta",
}
KEYS = dict.fromkeys(
    (
        "ANTHROPIC_API_KEY", "MINIMAX_API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY",
    ),
    "k",
)  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "boolean"}},
    "required": ["answer"],
    "additionalProperties": False,
}
every_provider = pytest.mark.parametrize("provider", PATHS)
every_protocol = pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])


def connect(aimock: Aimock, provider: str, **more: Any) -> Client:
    model = "some-model" if provider == "compatible" else ""
    return open_client(
        provider, model=model, base_url=aimock.url + PATHS[provider], environ=KEYS, **more
    )


def text_of(body: Any) -> str:
    """Return all text of a request in one string, whatever its protocol."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "".join(map(text_of, body))
    return "".join(
        text_of(body[key])
        for key in ("contents", "messages", "content", "parts", "text")
        if key in body
    )


@every_provider
def test_the_answer_comes_whole_and_the_prompt_arrives_whole(aimock: Aimock, provider: str) -> None:
    """The server's text to the byte, in one or in pieces, and the prompt but for the heading of the turn."""
    reply = connect(aimock, provider).send(ChatRequest(PROMPT, "Why?"))
    assert (reply.text, reply.stop) == (ANSWER, FinishReason.END)
    (entry,) = aimock.journal()
    sent = PROMPT.markdown.replace("### Discussion Excerpt 1\n\n", "")
    assert text_of(entry["body"]) == sent + "\n\nWhy?"
    pieces: list[str] = []
    reply = asyncio.run(
        connect(aimock, provider).exchange(ChatRequest(PROMPT, "Why?"), pieces.append)
    )
    assert "".join(pieces) == reply.text == ANSWER
    assert len(pieces) > 1


@every_provider
def test_a_schema_and_a_temperature_are_accepted(aimock: Aimock, provider: str) -> None:
    """The server understands the first request; what it shows of those in OpenAI's form has the wish in it."""
    reply = connect(aimock, provider).send(
        ChatRequest(PROMPT, "Why?", temperature=0.0, schema=SCHEMA)
    )
    assert (reply.text, reply.stop) == (ANSWER, FinishReason.END)
    (entry,) = aimock.journal()
    assert ("response_format" in entry["body"]) is (PATHS[provider] == "/v1")


@every_protocol
@pytest.mark.parametrize("status", [500, 529])
def test_failures_that_pass_are_tried_again(aimock: Aimock, provider: str, status: int) -> None:
    """One failure, then the answer; the caller is told why it waits."""
    aimock.call(
        "POST", "/__aimock/error", {"status": status, "body": {"message": "Not now", "type": "x"}}
    )
    waits: list[str] = []
    client = connect(
        aimock, provider, retry=QUICK, on_wait=lambda _, error: waits.append(str(error))
    )
    assert client.send(ChatRequest(PROMPT, "Why?"), lambda _: None).text == ANSWER
    assert waits == [f"{provider} answered {status}: Not now"]


@every_protocol
def test_a_refused_key_is_not_tried_again(aimock: Aimock, provider: str) -> None:
    """The error is one line that says what to check."""
    aimock.call(
        "POST",
        "/__aimock/error",
        {"status": 401, "body": {"message": "Bad key", "type": "authentication_error"}},
    )
    with pytest.raises(
        ProviderError, match=f"^{provider} answered 401: check the key: Bad key$"
    ) as caught:
        connect(aimock, provider).send(ChatRequest(PROMPT, "Why?"))
    assert "\n" not in str(caught.value)
    assert len(aimock.journal()) <= 1


@every_protocol
def test_the_wish_to_wait_is_understood(aimock: Aimock, provider: str) -> None:
    """``retry-after`` is read from every provider's answer; a longer wish than the patience ends it."""
    aimock.call("POST", "/__aimock/chaos", {"rateLimitRate": 1})
    with pytest.raises(ProviderError, match=f"{provider} answered 429") as caught:
        connect(aimock, provider, retry=Retry(patience=0.5)).send(ChatRequest(PROMPT, "Why?"))
    assert caught.value.retry_after == 1.0


def test_the_wish_to_wait_is_followed(aimock: Aimock) -> None:
    """The next request comes one second later, as the server asked, and not after the own backoff."""
    aimock.call("POST", "/__aimock/chaos", {"rateLimitRate": 1})
    waits: list[float] = []

    def recover(seconds: float, _: ProviderError) -> None:
        waits.append(seconds)
        aimock.call("DELETE", "/__aimock/chaos")

    start = time.monotonic()
    client = connect(aimock, "anthropic", retry=Retry(first=30.0), on_wait=recover)
    assert client.send(ChatRequest(PROMPT, "Why?")).text == ANSWER
    assert waits == [1.0]
    assert time.monotonic() - start >= 1.0


@every_protocol
def test_a_broken_connection_is_a_sentence(aimock: Aimock, provider: str) -> None:
    """A connection that ends early and an answer that is no JSON become one clear line, after all attempts."""
    for chaos in ({"disconnectRate": 1}, {"malformedRate": 1}):
        aimock.call("POST", "/__aimock/chaos", chaos)
        with pytest.raises(ProviderError, match=f"^{provider} ") as caught:
            connect(aimock, provider, retry=Retry(attempts=2, first=0.01)).send(
                ChatRequest(PROMPT, "Why?")
            )
        assert "\n" not in str(caught.value)
        assert caught.value.retryable
        aimock.call("DELETE", "/__aimock/chaos")


@every_protocol
def test_a_slow_request_can_be_cancelled(aimock: Aimock, provider: str) -> None:
    """Cancelling the task ends a request that the server holds back."""
    aimock.call("POST", "/__aimock/chaos", {"latencyMs": 20_000})

    async def cancelled() -> None:
        task = asyncio.create_task(connect(aimock, provider).exchange(ChatRequest(PROMPT, "Why?")))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
