"""Keys: a key in the environment reaches the provider and nothing else."""

import logging
import pickle
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from aggregate import ChatRequest, ProviderError, open_client
from aggregate.sending.clients import PROVIDERS
from aggregate.sending.clients.connection import ApiKey
from tests.cli.command_line import aggregate
from tests.fakes.prompts import state
from tests.fakes.tattler import tattling
from tests.projects import project

SECRET = "sk-planted-8f3a61c0d2"  # noqa: S105 - it opens nothing
PROMPT = state({"a.py": ("A", 0)}, []).prompt
PLANTED = {provider.keys[0]: SECRET for provider in PROVIDERS.values()}
every_protocol = pytest.mark.parametrize(
    "provider", ["anthropic", "minimax", "openai", "deepseek", "gemini"]
)


@every_protocol
def test_no_error_log_or_repr_shows_the_key(
    provider: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even where the provider repeats it, every log is on, and a traceback shows the values of its variables."""
    caplog.set_level(logging.DEBUG)
    with tattling() as server:
        client = open_client(provider, model="some-model", base_url=server.url, environ=PLANTED)
        with pytest.raises(ProviderError, match="who are you") as caught:
            client.send(ChatRequest(PROMPT, "Why?"))
    shown = [
        str(caught.value),
        repr(caught.value),
        repr(vars(caught.value)),
        repr(client),
        repr(client.transport),
    ]
    shown += traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    shown += [record.getMessage() for record in caplog.records]
    shown += [*capsys.readouterr()]
    assert "(hidden)?" in shown[0]
    assert SECRET not in "".join(shown)


def test_a_key_shows_itself_to_nobody() -> None:
    """Neither as text nor as a representation; in a text that holds it, it is replaced."""
    key = ApiKey(SECRET)
    assert SECRET not in f"{key} {key!r}"
    assert key.hide(f"Bearer {SECRET}!") == "Bearer (hidden)!"
    assert ApiKey("").hide("abc") == "abc"
    with pytest.raises(TypeError, match="a key is not stored"):
        pickle.dumps(key)
    transport: Any = open_client("anthropic", environ=PLANTED).transport
    with pytest.raises(TypeError, match="a key is not stored"):
        asdict(transport)


ENVIRONMENT = {
    "OPENAI_API_KEY": SECRET, "OPENAI_ADMIN_KEY": SECRET, "OPENAI_ORG_ID": SECRET, "OPENAI_PROJECT_ID": SECRET,
    "OPENAI_CUSTOM_HEADERS": f"X-Gateway: {SECRET}\nauthorization: Bearer {SECRET}",
    "ANTHROPIC_API_KEY": SECRET, "ANTHROPIC_AUTH_TOKEN": SECRET,
    "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway: {SECRET}\nAuthorization: Bearer {SECRET}",
}  # fmt: skip


def test_what_an_sdk_finds_in_the_environment_goes_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keys, accounts and headers for OpenAI and Anthropic do not reach those who speak their protocols."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AGGREGATE_API_KEY", raising=False)
    asked = [("minimax", "MINIMAX_API_KEY"), ("deepseek", "DEEPSEEK_API_KEY"), ("compatible", "AGGREGATE_API_KEY"), ("compatible", "UNSET")]  # fmt: skip
    with tattling() as server:
        for provider, variable in asked:
            with monkeypatch.context() as own:
                own.setenv(variable, "its-own-key")
                with pytest.raises(ProviderError):
                    open_client(provider, model="m", base_url=server.url).send(
                        ChatRequest(PROMPT, "Why?")
                    )
    assert [headers["authorization"] for headers in server.headers] == [
        *["Bearer its-own-key"] * 3,
        "Bearer none",
    ]
    assert SECRET not in str(server.headers)


def test_the_command_line_and_its_files_show_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A send that fails leaves the prompt and one line, and no key in either."""
    folder = project(
        tmp_path, {"a.py": "A = 1\n", "manual_slop.toml": '[files]\npaths = ["a.py"]\n'}
    )
    monkeypatch.chdir(folder)
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    with tattling() as server:
        code, out, err = aggregate(
            "send", "Why?", "--provider", "deepseek", "--base-url", server.url
        )
    assert (code, out) == (1, "")
    assert err.startswith(
        "aggregate: deepseek answered 401: check the key: who are you, Bearer (hidden)?"
    )
    assert SECRET not in err
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert all(SECRET.encode() not in path.read_bytes() for path in files)
