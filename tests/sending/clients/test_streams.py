"""Streams that end badly, and answers of another form: what came is passed on, and the rest is one sentence."""

import logging

import pytest

from aggregate import ChatRequest, Client, FinishReason, Prompt, ProviderError, open_client
from tests.fakes.senders import BEGINNINGS, FAILURES, REFUSAL, sending
from tests.fakes.transports import ONCE

KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "none-needed")
every_protocol = pytest.mark.parametrize("provider", BEGINNINGS)


def connect(provider: str, url: str) -> Client:
    return open_client(provider, model="m", base_url=url, environ=KEYS)


@every_protocol
def test_a_stream_that_ends_badly(
    provider: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """An error in the middle: no answer, not asked again, nothing printed, no SDK's error kept."""
    pieces: list[str] = []
    with (
        sending(BEGINNINGS[provider] + FAILURES[provider]) as url,
        pytest.raises(ProviderError, match="fell over") as caught,
    ):
        connect(provider, url).send(ChatRequest(Prompt(()), "Hello?"), pieces.append)
    assert pieces == ["Hel"]
    assert caught.value.retryable
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr() == ("", "")


@every_protocol
def test_a_stream_without_an_end(provider: str) -> None:
    """The text that was shown is the answer, and its end is doubtful (S-14)."""
    pieces: list[str] = []
    with sending(BEGINNINGS[provider]) as url:
        reply = connect(provider, url).send(ChatRequest(Prompt(()), "Hello?"), pieces.append)
    assert (reply.text, pieces, reply.stop) == ("Hel", ["Hel"], FinishReason.OTHER)


@every_protocol
def test_a_connection_that_ends_in_an_answer(provider: str) -> None:
    """The server was reached: it is not called out of reach, and what came is passed on."""
    pieces: list[str] = []
    with sending(BEGINNINGS[provider], missing=99) as url, pytest.raises(ProviderError) as caught:
        connect(provider, url).send(ChatRequest(Prompt(()), "Hello?"), pieces.append)
    assert str(caught.value).startswith(f"{provider} broke off the connection at {url}: ")
    assert (pieces, caught.value.retryable) == (["Hel"], True)


@every_protocol
def test_a_stream_of_nothing(provider: str) -> None:
    """A server or a gateway that ends at once may answer the next time: it is no wrong address."""
    with sending("") as url:
        client = open_client(provider, model="m", base_url=url, environ=KEYS, retry=ONCE)
        with pytest.raises(ProviderError, match="the answer broke off before its end") as caught:
            client.send(ChatRequest(Prompt(()), "Hello?"), lambda _: None)
    assert caught.value.retryable


@every_protocol
def test_a_listener_that_fails_is_not_the_provider(provider: str) -> None:
    """A broken pipe of the caller's is raised as it is, and not as a connection to the provider."""
    broken = BrokenPipeError("no reader")

    def fail(_: str) -> None:
        raise broken

    with sending(BEGINNINGS[provider]) as url, pytest.raises(BrokenPipeError) as caught:
        connect(provider, url).send(ChatRequest(Prompt(()), "Hello?"), fail)
    assert caught.value is broken


def test_a_refusal_of_a_typed_answer() -> None:
    """OpenAI ends it like an answer, in a field of its own."""
    with sending(REFUSAL) as url:
        reply = connect("openai", url).send(ChatRequest(Prompt(()), "Hello?"), lambda _: None)
    assert (reply.text, reply.stop) == ("", FinishReason.REFUSED)


NO_ANSWERS = [
    "", "{}", "null", "[]", '"x"', "<html>Welcome</html>", '{"choices": []}', '{"error": {"message": "no"}}',
    '{"choices": [{"message": null, "finish_reason": "stop"}]}',
    '{"choices": [{"message": {"content": 5}, "finish_reason": "stop"}]}',
    '{"content": null, "stop_reason": "end_turn", "usage": {}}',
    '{"content": [null], "stop_reason": "end_turn", "usage": null}',
    '{"content": [{"type": "text"}], "stop_reason": "end_turn", "usage": {}}',
    '{"candidates": []}', '{"candidates": [{"content": {"parts": [{"text": 5}]}, "finishReason": "STOP"}]}',
]  # fmt: skip


@every_protocol
@pytest.mark.parametrize("body", NO_ANSWERS)
def test_an_answer_of_another_form(
    provider: str, body: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A page, another protocol's answer, fields of other types: one line, and neither a traceback nor a warning."""
    with sending(body, "application/json") as url, pytest.raises(ProviderError) as caught:
        open_client(provider, model="m", base_url=url, environ=KEYS, retry=ONCE).send(
            ChatRequest(Prompt(()), "Hello?")
        )
    assert str(caught.value).startswith(f"{provider} sent an ")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
