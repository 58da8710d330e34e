"""Asking again, and not asking any more: which failures, how often, how long between, and who may stop it."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from time import monotonic
from typing import Any, TypeVarTuple

import pytest

from aggregate import (
    ChatRequest,
    Client,
    ClientError,
    ClientSetupError,
    Prompt,
    PromptTooLongError,
    ProviderError,
    Reply,
    Usage,
    open_client,
)
from aggregate.panel.sending import RequestStop
from aggregate.sending import cost
from aggregate.sending.clients import Retry
from aggregate.sending.clients.connection import retry_after
from tests.fakes.http_server import QuietHandler, serving
from tests.fakes.prompts import state
from tests.fakes.transports import QUICK, BreaksOff, scripted

PROMPT = state({"a.py": ("A", 0)}, []).prompt
OVERLOADED = ProviderError("x answered 529: overloaded", status=529, retryable=True)


@pytest.mark.parametrize(
    ("failed", "error", "least", "most"),
    [
        (1, OVERLOADED, 0.75, 1.0),
        (2, OVERLOADED, 1.5, 2.0),
        (4, OVERLOADED, 6.0, 8.0),
        (1, ProviderError("x", retry_after=17.5, retryable=True), 17.5, 17.5),
    ],
)
def test_waits_grow_and_follow_the_provider(
    failed: int, error: ProviderError, least: float, most: float
) -> None:
    """Each wait is twice the one before, a little less by chance; what the provider asks for is kept exactly."""
    assert least <= Retry().wait(failed, error) <= most


@pytest.mark.parametrize(
    ("failed", "error"),
    [
        (5, OVERLOADED),
        (1, ProviderError("x answered 400", status=400)),
        (1, ProviderError("x", retry_after=3600, retryable=True)),
    ],
)
def test_when_to_give_up(failed: int, error: ProviderError) -> None:
    """After five exchanges, for what will not pass, and where the provider asks for more than two minutes."""
    with pytest.raises(ProviderError, match=str(error)):
        Retry().wait(failed, error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20.0),
        ("0.5", 0.5),
        ("-1", None),
        ("inf", None),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_the_header(header: str, seconds: float | None) -> None:
    """``retry-after`` is understood in seconds; of what means nothing the own backoff is used (S-15)."""
    assert retry_after({"retry-after": header}) == seconds
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, [], 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, [], 2.0),
        ({}, [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"}], 38.0),
        ({}, [{"links": []}, {"retryDelay": "0.5s"}], 0.5),
        ({"retry-after": "3"}, [{"retryDelay": "38s"}], 3.0),
        ({}, [{"retryDelay": None}, {"retryDelay": "soon"}], None),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, [], 0.0),
        ({"retry-after": "Sun, 99 Nov 1994 08:49:37 GMT"}, [], None),
    ],
)
def test_each_form_of_a_wait(
    headers: dict[str, str], details: list[dict[str, Any]], seconds: float | None
) -> None:
    """Milliseconds, seconds, a date and Google's ``RetryInfo``; a date that is over is no wait (S-15)."""
    assert retry_after(headers, details) == seconds


def test_a_wait_until_a_date() -> None:
    """The wait ends at that moment, whatever the zone (S-15)."""
    later = datetime.now(UTC) + timedelta(seconds=90)
    for zone in (UTC, timezone(timedelta(hours=-5))):
        seconds = retry_after({"retry-after": format_datetime(later.astimezone(zone))})
        assert seconds is not None
        assert 85 < seconds <= 90


def test_no_wait_beyond_the_time_limit() -> None:
    """With ten seconds left a wait of twenty fails at once, and says when to come back (S-15)."""
    slow = ProviderError("x answered 429", status=429, retry_after=20, retryable=True)
    client = replace(scripted([slow, "Yes."]), retry=Retry())
    begun = monotonic()
    with pytest.raises(
        ProviderError, match="asks to wait 20 s, longer than the limit of 10 s: try again after 20"
    ) as caught:
        client.send(ChatRequest(PROMPT, "Why?", seconds=10))
    assert monotonic() - begun < 5
    assert (caught.value.retry_after, caught.value.retryable) == (20, False)


def body_of(message: str, kind: str = "", **more: object) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": kind, **more}}


ZERO = [
    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaValue": "0"}]}
]
SOON = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}]


@pytest.mark.parametrize(
    ("provider", "status", "headers", "body", "is_retried"),
    [
        ("openai", 429, {}, body_of("slow down", "rate_limit_exceeded"), True),
        ("openai", 429, {"x-should-retry": "false"}, body_of("slow down"), False),
        ("anthropic", 529, {"x-should-retry": "false"}, body_of("overloaded", "overloaded_error"), False),
        ("openai", 400, {"x-should-retry": "true"}, body_of("a race"), True),
        ("openai", 429, {}, body_of("You exceeded your current quota", "insufficient_quota"), False),
        ("openai", 429, {}, body_of("Suspended", "exceeded_current_quota_error"), False),
        ("openai", 429, {}, body_of("Hard limit", "billing_hard_limit_reached"), False),
        ("openai", 500, {}, body_of("m:latest does not support tools"), False),
        ("gemini", 429, {}, body_of("Quota", status="RESOURCE_EXHAUSTED", details=SOON), True),
        ("gemini", 429, {}, body_of("Quota exceeded for metric: x, limit: 0", status="RESOURCE_EXHAUSTED", details=SOON), False),
        ("gemini", 429, {}, body_of("Quota", status="RESOURCE_EXHAUSTED", details=[*ZERO, *SOON]), False),
    ],
)  # fmt: skip
def test_what_is_tried_again(
    provider: str, status: int, headers: dict[str, str], body: dict[str, Any], is_retried: bool
) -> None:
    """Not where the server says no, where nothing is left to pay with, nor where the quota is 0 (S-15)."""
    asked = 0

    class Refuses(QuietHandler):
        def take(self) -> None:
            nonlocal asked
            asked += 1
            self.body()
            given = {name.replace("-", "_"): value for name, value in headers.items()}
            self.answer(status, json.dumps(body).encode(), content_type="application/json", **given)

    with serving(Refuses) as port:
        url, keys = (
            f"http://127.0.0.1:{port}",
            dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "k"),
        )
        client = open_client(provider, model="m", base_url=url, environ=keys, retry=Retry(2, 0.01))
        with pytest.raises(ProviderError, match=f"{provider} answered {status}"):
            client.send(ChatRequest(PROMPT, "Why?"))
    assert asked == 1 + is_retried


def test_a_longer_wish_than_the_limit_is_said() -> None:
    """Who is refused for an hour is told so, and not only that the limit of requests is reached."""
    client = replace(
        scripted([ProviderError("x answered 429: slow down", retry_after=3600, retryable=True)]),
        retry=QUICK,
    )
    said = "x answered 429: slow down; it asks to wait 3,600 s, longer than the limit of 120 s: try again after 20.*"
    with pytest.raises(ProviderError, match=f"^{said}$") as caught:
        client.send(ChatRequest(PROMPT, "Why?"))
    assert caught.value.retry_after == 3600


def test_a_failure_that_passes_is_tried_again() -> None:
    """Two overloads, then the answer; the caller is told of each wait."""
    waits: list[tuple[float, str]] = []
    quick = ProviderError("x answered 429: slow down", status=429, retry_after=0.01, retryable=True)
    client = replace(
        scripted([quick, quick, "Yes."]),
        retry=QUICK,
        on_wait=lambda *wait: waits.append((wait[0], str(wait[1]))),
    )
    assert client.send(ChatRequest(PROMPT, "Why?")).text == "Yes."
    assert waits == [(0.01, "x answered 429: slow down")] * 2


def test_what_was_passed_on_is_not_repeated() -> None:
    """Once a piece of the answer has been shown, a failure is final: else its beginning would be shown twice."""
    transport, shown = BreaksOff("The first", OVERLOADED), list[str]()
    with pytest.raises(ProviderError, match="529"):
        Client("x", transport, "m", QUICK).send(ChatRequest(PROMPT, "Why?"), shown.append)
    assert (transport.asked, shown) == (1, ["The first"])


def test_a_request_can_be_cancelled() -> None:
    """Cancelling the task ends the wait between two exchanges."""

    async def cancelled() -> bool:
        slow = ProviderError("x", retry_after=60, retryable=True)
        client = replace(scripted([slow, "Yes."]), retry=QUICK)
        task = asyncio.create_task(client.exchange(ChatRequest(PROMPT, "Why?")))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_send_works_inside_a_running_loop() -> None:
    """The blocking call may be made where a loop runs already."""

    async def inside() -> str:
        return scripted(["Yes."]).send(ChatRequest(PROMPT, "Why?")).text

    assert asyncio.run(inside()) == "Yes."


TOO_LONG = "the request is 16,0.. tokens too long for MiniMax-M2.7: 204,8.. tokens .o200k. and 16,000 for the answer"


def test_a_prompt_that_is_too_long_is_not_sent() -> None:
    """The error says by how many tokens, and how many would fit (the window is 204,800)."""
    long = state({"a.py": ("word " * 204_799, 0)}, []).prompt
    client = scripted(["Yes."], model="MiniMax-M2.7")
    with pytest.raises(PromptTooLongError, match=f"{TOO_LONG} .*; at most 188,800 would fit"):
        client.send(ChatRequest(long))
    assert client.send(ChatRequest(long, "", model="unheard-of")).text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": "anthropic"}, "anthropic needs a key: set the environment variable ANTHROPIC_API_KEY"),
        ({"provider": "gemini"}, "set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"),
        ({"provider": "deepseek"}, "set the environment variable DEEPSEEK_API_KEY"),
        ({"provider": "minimax"}, "set the environment variable MINIMAX_API_KEY"),
        ({"provider": "openai"}, "set the environment variable OPENAI_API_KEY"),
        ({"provider": "compatible"}, "compatible needs the server's address: add --base-url"),
        ({"provider": "anthropc"}, "no such provider: 'anthropc': use one of anthropic, gemini"),
        ({}, "no provider is set: use one of anthropic, gemini"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(options: dict[str, str], message: str) -> None:
    """Which variable, which option, which names there are."""
    with pytest.raises(ClientSetupError) as caught:
        open_client(**options, environ={})  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "package"),
    [("anthropic", "anthropic"), ("gemini", "google-genai"), ("openai", "openai")],
)
def test_a_missing_sdk_is_named(
    monkeypatch: pytest.MonkeyPatch, provider: str, package: str
) -> None:
    """Where an SDK is not installed, the error names it and the extra that brings it."""
    for module in ("anthropic", "google.genai.errors", "openai"):
        monkeypatch.setitem(sys.modules, module, None)
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"), "k")
    # The advice depends on how the program is installed.
    said = rf"^{provider} needs the package {package}: .*install.*\[ai\]"
    with pytest.raises(ClientSetupError, match=said):
        open_client(provider, environ=keys).send(ChatRequest(Prompt(()), "Why?"))


def test_an_empty_request_is_refused() -> None:
    """Without a prompt and a message there is nothing to send; without a model nobody to ask."""
    with pytest.raises(ClientError, match="there is nothing to send"):
        scripted([]).send(ChatRequest(type(PROMPT)(())))
    with pytest.raises(ClientError, match="no model is set"):
        open_client(base_url="http://127.0.0.1:1", environ={}).send(ChatRequest(PROMPT, "Why?"))


def test_costs_come_from_the_price_list() -> None:
    """Written tokens cost 1.25 of an input token, read ones a tenth; a model that is not listed has no price."""
    prices = [cost(usage, "claude-sonnet-4-0", provider="anthropic") for usage in (Usage(10_000), Usage(0, 10_000), Usage(0, 0, 10_000))]  # fmt: skip
    fresh, write, read = (float(price) for price in prices if price is not None)
    assert [write / fresh, read / fresh] == pytest.approx([1.25, 0.1])
    assert cost(Usage(1), "unheard-of", provider="anthropic") is None


_Ts = TypeVarTuple("_Ts")


class Overloaded:
    def __init__(self) -> None:
        self.asked = 0

    async def exchange(self, request: object, on_text: object) -> Reply:
        self.asked += 1
        raise ProviderError("not now", status=429, retry_after=60, retryable=True)


def test_a_stop_ends_the_wait_for_another_attempt() -> None:
    """Whoever stops does not sit out the minute that the provider has asked for, and nothing is asked again."""
    transport, stop = Overloaded(), RequestStop()
    waits: list[float] = []

    def wait(seconds: float, _: ProviderError) -> None:
        waits.append(seconds)
        threading.Thread(target=stop.set).start()

    client = Client("openai", transport, "m", Retry(), wait).through(stop.guarded)
    with pytest.raises(ProviderError, match=r"^the request was stopped$"):
        client.send(ChatRequest(Prompt(()), "Hello?"))
    assert (waits, transport.asked) == ([60], 1)


def test_a_stop_before_the_request_keeps_it_from_being_made() -> None:
    """Nothing goes out, however soon the stop comes."""
    transport, stop = Overloaded(), RequestStop()
    stop.set()
    stop.set()
    client = Client("openai", transport, "m").through(stop.guarded)
    with pytest.raises(ProviderError, match="stopped"):
        client.send(ChatRequest(Prompt(()), "Hello?"))
    assert transport.asked == 0


class InterruptedLoop(asyncio.SelectorEventLoop):
    """A loop that is woken up while a signal's handler stops the same request once more."""

    def __init__(self, stop: RequestStop) -> None:
        super().__init__()
        self._stop, self._calls = stop, 0

    def call_soon_threadsafe(
        self, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self._calls += 1
        if self._calls == 1:
            self._stop.set()
        return super().call_soon_threadsafe(callback, *args, context=context)


def test_a_stop_in_the_midst_of_a_stop() -> None:
    """Ctrl-C twice in a row, whose handlers run in one thread, does not wait for itself."""
    stop = RequestStop()

    async def ask(_: object, on_text: object) -> Reply:
        threading.Thread(target=stop.set).start()
        await asyncio.sleep(30)
        raise AssertionError

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: InterruptedLoop(stop)) as runner:
            runner.run(stop.guarded(ask, ChatRequest(), None))

    with ThreadPoolExecutor(1) as pool, pytest.raises(ProviderError, match="stopped"):
        pool.submit(run).result(timeout=5)
