"""What is asked of a provider beside the text: only what it takes, and the text alone where it refuses more."""

import pytest

from aggregate import Client, ProviderError, RequestOptions
from aggregate.sending.clients.client import ScriptedTransport
from aggregate.sending.clients.protocol import ResponseFormat, capabilities_of
from tests.fakes.transports import Hangs, TakesTextAlone
from tests.sending.cache.prompts import state

PROMPT = state({"a.py": ("A", 0)}, []).prompt
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "boolean"}},
    "required": ["answer"],
    "additionalProperties": False,
}
TYPED = RequestOptions(temperature=0.0, schema=SCHEMA)

TABLE: list[tuple[str, str, float | None, ResponseFormat]] = [
    ("anthropic", "claude-sonnet-5", None, ResponseFormat.SCHEMA),
    ("openai", "gpt-5.6", None, ResponseFormat.SCHEMA),
    ("openai", "o4-mini", None, ResponseFormat.SCHEMA),
    ("openai", "gpt-4o-mini", 0.0, ResponseFormat.SCHEMA),
    ("gemini", "gemini-2.5-flash", 0.0, ResponseFormat.SCHEMA),
    ("gemini", "models/gemini-3.5-flash", None, ResponseFormat.SCHEMA),
    ("gemini-cli", "gemini-2.5-flash", None, ResponseFormat.TEXT),
    ("deepseek", "deepseek-flash", 0.0, ResponseFormat.OBJECT),
    ("minimax", "MiniMax-M2.7", 0.01, ResponseFormat.TEXT),
    ("compatible", "whatever", 0.0, ResponseFormat.SCHEMA),
    ("unheard-of", "whatever", None, ResponseFormat.TEXT),
]


@pytest.mark.parametrize(("provider", "model", "temperature", "form"), TABLE)
def test_a_request_holds_what_its_provider_takes(
    provider: str, model: str, temperature: float | None, form: ResponseFormat
) -> None:
    """Temperature 0 as each takes it, and how its answers are bound to a schema: nothing is left out (D-12)."""
    client = Client(provider, ScriptedTransport(iter(["yes"])), model)
    client.send(PROMPT, "Why?", options=TYPED)
    assert isinstance(client.transport, ScriptedTransport)
    (request,) = client.transport.requests
    schema = None if form is ResponseFormat.TEXT else SCHEMA
    asked = (request.temperature, request.schema, request.response_format)
    assert asked == (temperature, schema, form)
    assert capabilities_of(provider, model).temperature(None) is None


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_more_is_sent_the_text_alone(status: int) -> None:
    """Once, and without a wait; a plain request that is refused stays refused."""
    transport = TakesTextAlone(status)
    assert Client("compatible", transport, "m").send(PROMPT, "Why?", options=TYPED).text == "yes"
    assert [one.response_format for one in transport.requests] == [
        ResponseFormat.SCHEMA,
        ResponseFormat.TEXT,
    ]
    assert transport.requests[1].temperature is None


def test_a_turn_has_its_time() -> None:
    """The request is ended when it is over."""
    transport = Hangs()
    with pytest.raises(ProviderError, match=r"^compatible did not answer within 0\.05 s$"):
        Client("compatible", transport, "m").send(
            PROMPT, "Why?", options=RequestOptions(seconds=0.05)
        )
    assert transport.stopped.is_set()
