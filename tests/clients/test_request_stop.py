"""Ending a request from another thread."""

import subprocess
import sys
import threading

import pytest

from aggregate.clients.client import Client
from aggregate.clients.protocol import ModelRequest, OnText
from aggregate.clients.request_stop import RequestStop
from aggregate.clients.retry import Retry
from aggregate.errors import ProviderError
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply


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


_SIGNALLED = """
import signal
from aggregate.clients.request_stop import RequestStop
stop, calls = RequestStop(), 0
def interrupt(number, frame):
    global calls
    calls += 1
    stop.set()
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while calls < 200:
    stop.set()
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_signal_in_the_middle_of_a_stop_does_not_hang() -> None:
    """Ctrl-C stops from its handler, and a second one may come in the middle of the first."""
    subprocess.run([sys.executable, "-c", _SIGNALLED], check=True, timeout=30)
