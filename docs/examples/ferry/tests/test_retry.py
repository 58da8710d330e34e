"""Waiting and giving up."""

from ferry.retry import RetryPolicy, retry_after, with_retries
from ferry.transport import Response, Timeout


class Scripted:
    """A transport that returns these answers in order; None is a timeout."""

    def __init__(self, *answers: Response | None) -> None:
        self._answers = list(answers)

    def get(self, address: str, *, timeout: float) -> Response:
        """Return the next answer."""
        answer = self._answers.pop(0)
        if answer is None:
            raise Timeout(address)
        return answer


def test_waits_double() -> None:
    """Each wait is twice the one before, up to the longest."""
    assert list(RetryPolicy(longest_wait=3).waits()) == [0.5, 1.0, 2.0, 3]


def test_timeout_then_answer() -> None:
    """A request that timed out is sent again."""
    slept: list[float] = []
    transport = Scripted(None, Response(200, {}, b"data"))
    assert with_retries(transport, "a", RetryPolicy(), sleep=slept.append).body == b"data"
    assert slept == [0.5]


def test_the_server_names_a_time() -> None:
    """Retry-After overrides the policy."""
    assert retry_after(Response(503, {"retry-after": "7"}, b"")) == 7
