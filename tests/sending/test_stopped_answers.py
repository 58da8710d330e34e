"""Requests that end early are paid for all the same, and their cost is kept (rule S-13)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import click
import pytest

from aggregate import ChatRequest, ClientSetupError, ProviderError, Usage, load_config
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.send import AskedTurn
from aggregate.panel.sending import RequestStop
from aggregate.sending import Charge, Exchange, ModelSelection, charges, prepare_turn, send_turn
from aggregate.sending.clients import charged, open_client
from tests.cli.command_line import start
from tests.fakes.http_server import QuietHandler, serving
from tests.fakes.senders import event, typed
from tests.fakes.user_files import by_user
from tests.projects import project

MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-5.6", "gemini": "gemini-3.5-flash"}
FILES = {
    "a.py": "def f(value):\n    return value + 1\n" * 400,
    "manual_slop.toml": '[files]\npaths = ["a.py"]\n',
}
KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "none-needed")
_MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": [],
    "usage": {"input_tokens": 90_010, "output_tokens": 1},
}
_DELTA = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "text_delta", "text": "Half an "},
}
_BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
REPORTED = typed({"type": "message_start", "message": _MESSAGE})
BEGINNINGS = {
    "anthropic": REPORTED + typed(_BLOCK) + typed(_DELTA),
    "openai": event(
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "Half an "}}]}
    ),
    "gemini": event(
        {
            "candidates": [{"content": {"parts": [{"text": "Half an "}], "role": "model"}}],
            "usageMetadata": {"promptTokenCount": 90_010, "candidatesTokenCount": 2},
        }
    ),
}


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be of a user of its own."""
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server() -> Iterator[tuple[str, Callable[[str], None]]]:
    """Run a server that sends the beginning of an answer and then waits."""
    texts, goes_on = list[str](), Queue[None]()

    class Waits(QuietHandler):
        def take(self) -> None:
            self.body()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(texts[-1].encode())
            self.wfile.flush()
            goes_on.get(timeout=30)

    with serving(Waits) as port:
        yield f"http://127.0.0.1:{port}", texts.append
        for _ in range(9):
            goes_on.put(None)


def prepared(tmp_path: Path, provider: str, url: str) -> Exchange:
    folder = tmp_path / "p"
    config = folder / "manual_slop.toml"
    if not config.exists():
        project(folder, FILES)
    selection = ModelSelection(provider, MODELS[provider], base_url=url)
    return prepare_turn(load_config(config), "Why?", selection)


def stopped(turn: Exchange, *, on_text: Callable[[str], None] | None = None) -> str:
    """Send a turn, stop it when something has come, and return the error with its notes."""
    stop = RequestStop()
    client = turn.client.through(stop.guarded)

    def shown(piece: str) -> None:
        Thread(target=stop.set).start()

    with pytest.raises(ProviderError, match="stopped") as caught:
        send_turn(replace(turn, client=client), on_text=on_text or shown)
    return "; ".join((str(caught.value), *caught.value.__notes__))


@pytest.mark.parametrize("provider", MODELS)
def test_a_stopped_answer_is_paid_for(tmp_path: Path, server: Any, provider: str) -> None:
    """What the stream reported counts, the rest is estimated and called so, in every sum (S-13)."""
    url, send = server
    send(BEGINNINGS[provider])
    turn = prepared(tmp_path, provider, url)
    sentence = stopped(turn)
    (row,) = charges()
    reported = provider != "openai"
    assert row.input == (90_010 if reported else turn.provider_tokens)
    assert (row.requests, row.output >= 2, row.dollars > 0) == (1, True, True)
    assert bool(row.estimated) is (provider != "gemini")
    assert turn.stopped_bill is not None
    assert f"it cost {turn.stopped_bill.sentence}" in sentence
    assert ("estimated" in sentence) is bool(row.estimated)
    folder, state = tmp_path / "p", str(tmp_path / "state")
    shown = start(folder, "costs", AGGREGATE_STATE_DIR=state)
    assert shown.out.count("estimated") == shown.err.count("estimated") == row.estimated


def test_what_was_reported_before_any_text(tmp_path: Path, server: Any) -> None:
    """After the first event alone the input is known, and nothing is estimated (S-13)."""
    url, send = server
    send(REPORTED)
    client = replace(open_client("anthropic", model=MODELS["anthropic"], base_url=url))
    request = ChatRequest(message="Why?", seconds=1)
    with pytest.raises(ProviderError, match="did not answer within"):
        charged(client, tmp_path).send(request, lambda _: None)
    (row,) = charges()
    assert (row.input, row.output, row.estimated) == (90_010, 1, 0)


def test_a_request_that_is_not_streamed(tmp_path: Path, server: Any) -> None:
    """A provider that works on it when its time is over is paid: the input is estimated (S-13)."""
    url, send = server
    send("")
    client = open_client("anthropic", model=MODELS["anthropic"], base_url=url)
    with pytest.raises(ProviderError, match="did not answer within"):
        charged(client, tmp_path).send(ChatRequest(message="Why? " * 900, seconds=1))
    (row,) = charges()
    assert (row.input > 900, row.estimated) == (True, 1)


def test_a_request_that_nobody_took(tmp_path: Path) -> None:
    """A refusal and a server that cannot be reached cost nothing (S-13)."""

    class Refuses(QuietHandler):
        def take(self) -> None:
            self.body()
            self.answer(400, b'{"error": {"message": "no"}}', content_type="application/json")

    with serving(Refuses) as port:
        for url in (f"http://127.0.0.1:{port}", "http://127.0.0.1:9"):
            client = open_client("anthropic", model=MODELS["anthropic"], base_url=url)
            client = replace(client, retry=replace(client.retry, attempts=1))
            for on_text in (None, lambda _: None):
                with pytest.raises(ProviderError):
                    charged(client, tmp_path).send(ChatRequest(message="Why?"), on_text)
    assert charges() == []


def test_the_limit_of_a_day_counts_it(tmp_path: Path, server: Any) -> None:
    """The next request, which would exceed the limit, is refused (S-11, S-13)."""
    url, send = server
    send(BEGINNINGS["anthropic"])
    by_user("[send]\nmost_per_day = 0.9\n")
    stopped(prepared(tmp_path, "anthropic", url))
    assert charges()[0].dollars > Decimal("0.17")
    by_user("[send]\nmost_per_day = 0.3\n")
    with pytest.raises(ClientSetupError, match=r"were spent today; most_per_day is"):
        send_turn(prepared(tmp_path, "anthropic", url))


def test_chat_shows_it(tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of a session has the stopped request too, marked as estimated (S-13)."""
    url, send = server
    send(BEGINNINGS["anthropic"])
    prepared(tmp_path, "anthropic", url)
    selection = ModelSelection("anthropic", MODELS["anthropic"], base_url=url)
    session = ChatSession(
        AskedTurn(tmp_path / "p" / "manual_slop.toml", selection=selection, quiet=True)
    )
    monkeypatch.setattr("sys.stdout", Interrupted())
    with click.Context(click.Command("chat")), pytest.raises(KeyboardInterrupt):
        session.ask("Why?")
    assert (session.spent.input, session.spent.estimated) == (90_010, 1)
    assert session.spent.price.endswith(", estimated")


class Interrupted:
    """A terminal at which somebody presses Ctrl-C when the first words come."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise KeyboardInterrupt

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False


def test_sums_of_estimates() -> None:
    """A sum says whether it is estimated in part or as a whole (S-13)."""
    one = Charge(requests=1, dollars=Decimal(1), estimated=1)
    assert one.price == "$1.0000, estimated"
    assert one.plus(replace_estimated(one)).price == "$2.0000, in part estimated"


def replace_estimated(row: Charge) -> Charge:
    return row._replace(estimated=0)


def test_usage_of_an_answer_that_came(tmp_path: Path) -> None:
    """A whole answer is charged once, by what was reported (S-13)."""
    client = open_client("scripted")
    request = ChatRequest(message="Why?")
    reply = client.send(request)
    assert request.meter.usage == reply.usage != Usage()
