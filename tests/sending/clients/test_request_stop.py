"""Ending a request from another thread."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

import pytest

from aggregate import Client, Prompt, ProviderError, Reply
from aggregate.base.concurrency import run_in_thread
from aggregate.sending.clients.client import RequestStop, Retry
from aggregate.sending.clients.protocol import ModelRequest, OnText

_Ts = TypeVarTuple("_Ts")


class Overloaded:
    """A provider that has no time."""

    def __init__(self) -> None:
        self.asked = 0

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Refuse for now."""
        self.asked += 1
        raise ProviderError("not now", status=429, retry_after=60, retryable=True)


def test_a_stop_ends_the_wait_for_another_attempt() -> None:
    """Whoever stops does not sit out the minute that the provider has asked for, and nothing is asked again."""
    transport, stop = Overloaded(), RequestStop()
    waits: list[float] = []

    def wait(seconds: float, _: ProviderError) -> None:
        waits.append(seconds)
        threading.Thread(target=stop.set).start()

    client = Client("openai", transport, "m", Retry(), wait, stop=stop)
    with pytest.raises(ProviderError, match=r"^the request was stopped$"):
        client.send(Prompt(()), "Hello?")
    assert (waits, transport.asked) == ([60], 1)


def test_a_stop_before_the_request_keeps_it_from_being_made() -> None:
    """Nothing goes out, however soon the stop comes."""
    transport, stop = Overloaded(), RequestStop()
    stop.set()
    stop.set()
    with pytest.raises(ProviderError, match="stopped"):
        Client("openai", transport, "m", stop=stop).send(Prompt(()), "Hello?")
    assert transport.asked == 0


class InterruptedLoop(asyncio.SelectorEventLoop):
    """A loop that is woken up while a signal's handler stops the same request once more."""

    def __init__(self, stop: RequestStop) -> None:
        super().__init__()
        self._stop, self._calls = stop, 0

    def call_soon_threadsafe(
        self, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Let the handler come first, the first time."""
        self._calls += 1
        if self._calls == 1:
            self._stop.set()
        return super().call_soon_threadsafe(callback, *args, context=context)


def test_a_stop_in_the_midst_of_a_stop() -> None:
    """Ctrl-C twice in a row, whose handlers run in one thread, does not wait for itself."""
    stop = RequestStop()

    async def request() -> None:
        run_in_thread("stopping", stop.set)
        await asyncio.sleep(30)

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: InterruptedLoop(stop)) as runner:
            runner.run(stop.guard(request()))

    with pytest.raises(ProviderError, match="stopped"):
        run_in_thread("asking", run).result(timeout=5)
