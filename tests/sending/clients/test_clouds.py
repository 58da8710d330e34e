"""Clouds that serve other makers' models: their SDKs' own classes, configured by their own variables."""

from collections.abc import Iterator, Mapping

import pytest
from google.auth.exceptions import DefaultCredentialsError
from google.oauth2.credentials import Credentials

from aggregate import (
    ChatRequest,
    Client,
    ClientSetupError,
    open_client,
    plan_for,
    to_anthropic,
    to_gemini,
    to_openai,
)
from aggregate.sending.clients.providers import VertexApi
from aggregate.sending.known_models import known_model
from tests.fakes.chat_server import ANSWER, ChatServer, chat_server
from tests.fakes.prompts import state

PROMPT = state({"a.py": ("word " * 3000, 5000)}, [("User: hello", 20)]).prompt
SONNET = "us.anthropic.claude-sonnet-5-20260301-v1:0"
AZURE = {"AZURE_OPENAI_API_KEY": "azure-key", "OPENAI_API_VERSION": "2026-01-01"}
BEDROCK = {"AWS_BEARER_TOKEN_BEDROCK": "bedrock-key", "AWS_REGION": "eu-north-1"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _foreign_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set headers that are meant for the makers' own addresses."""
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway: secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: secret")


def test_azure(server: ChatServer) -> None:
    """The deployment is in the path, the version in the query, the key in a header of its own."""
    environ = AZURE | {"AZURE_OPENAI_ENDPOINT": server.url}
    reply = open_client("azure", model="gpt-5.6", environ=environ).send(ChatRequest(PROMPT, "Why?"))
    assert reply.text == ANSWER
    ((path, body),) = server.requests
    assert path == "/openai/deployments/gpt-5.6/chat/completions?api-version=2026-01-01"
    assert server.headers[0]["api-key"] == "azure-key"
    assert {"x-gateway", "authorization"}.isdisjoint(server.headers[0])
    assert body["max_completion_tokens"] == 16_000
    assert body["prompt_cache_options"] == {"mode": "explicit"}


def test_bedrock(server: ChatServer) -> None:
    """The model is in the path; the body is Anthropic's with its breakpoints."""
    client = open_client("bedrock", model=SONNET, base_url=server.url, environ=BEDROCK)
    reply = client.send(ChatRequest(PROMPT, "Why?"))
    assert (reply.text, reply.usage.cache_read) == (ANSWER, 1_100)
    ((path, body),) = server.requests
    assert path.replace("%3A", ":") == f"/model/{SONNET}/invoke"
    assert server.headers[0]["authorization"] == "Bearer bedrock-key"
    assert "x-gateway" not in server.headers[0]
    assert any("cache_control" in part for part in body["messages"][0]["content"])


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("claude-sonnet-5", "/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5:rawPredict"),
        ("gemini-3.5-flash", "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-3.5-flash:generateContent"),
    ],
)  # fmt: skip
def test_vertex(server: ChatServer, model: str, path: str) -> None:
    """Each maker's protocol by the model's name, and whoever is signed in."""
    transport = VertexApi("p", "global", server.url, Credentials(token="signed-in"))  # type: ignore[no-untyped-call] # noqa: S106
    reply = Client("vertex", transport, model).send(ChatRequest(PROMPT, "Why?"))
    assert reply.text == ANSWER
    ((asked, _),) = server.requests
    assert asked == path
    assert server.headers[0]["authorization"] == "Bearer signed-in"
    assert "x-gateway" not in server.headers[0]


def test_vertex_tells_who_is_not_signed_in() -> None:
    """One sentence with what to run, and no attempt after attempt."""

    class SignedOut(Credentials):
        token = None
        expired = True

        def __init__(self) -> None:
            """Hold nothing."""

        def refresh(self, _: object) -> None:
            raise DefaultCredentialsError("nobody is here")  # type: ignore[no-untyped-call]

    transport = VertexApi("p", "global", "http://127.0.0.1:9", SignedOut())
    with pytest.raises(ClientSetupError, match=r"vertex is not signed in .*gcloud auth"):
        Client("vertex", transport, "claude-sonnet-5").send(ChatRequest(PROMPT, "Why?"))


@pytest.mark.parametrize(
    ("provider", "environ", "missing"),
    [
        ("azure", {}, "azure needs a key: set the environment variable AZURE_OPENAI_API_KEY"),
        ("azure", {"AZURE_OPENAI_AD_TOKEN": "t"}, "azure needs the environment variable AZURE_OPENAI_ENDPOINT"),
        ("bedrock", {}, "bedrock needs the environment variable AWS_REGION or AWS_DEFAULT_REGION"),
        ("vertex", {}, "vertex needs the environment variable GOOGLE_CLOUD_PROJECT or"),
        ("vertex", {"GOOGLE_CLOUD_PROJECT": "p"}, "vertex needs the environment variable GOOGLE_CLOUD_LOCATION or"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(provider: str, environ: Mapping[str, str], missing: str) -> None:
    """Which variable to set; a client that only plans needs none."""
    with pytest.raises(ClientSetupError, match=missing):
        open_client(provider, model="m", environ=environ)
    assert open_client(provider, model="m", environ=environ, require_key=False).model == "m"


@pytest.mark.parametrize(
    ("provider", "model", "family", "own"),
    [
        ("azure", "gpt-5.6", "openai", "gpt-5.6"),
        ("bedrock", SONNET, "anthropic", "claude-sonnet-5"),
        ("vertex", "claude-opus-5@20260301", "anthropic", "claude-opus-5"),
        ("vertex", "gemini-2.5-flash", "gemini", "gemini-2.5-flash"),
    ],
)
def test_rules_are_the_makers(provider: str, model: str, family: str, own: str) -> None:
    """Cache, options, images and the form of hosts' requests go by who has made the model."""
    assert known_model(provider, model) == known_model(family, own)
    planned = plan_for(PROMPT, model, "Why?", provider=provider, options=ChatRequest())
    makers = plan_for(PROMPT, own, "Why?", provider=family, options=ChatRequest())
    assert planned.plan.policy == makers.plan.policy
    body = {"openai": to_openai, "anthropic": to_anthropic, "gemini": to_gemini}[family](planned)
    assert body["model"] == model
