"""When to send a failed request again, and how long to wait."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ferry.errors import GaveUpError
from ferry.transport import Response, Timeout, Transport

BUSY = frozenset({429, 502, 503, 504})
"""Answers of a server that is busy for a moment."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a request is sent again.

    Attributes:
        attempts: The most requests for one file.
        first_wait: Seconds before the second attempt; each further wait is twice as long.
        longest_wait: Seconds that no wait exceeds.
        timeout: Seconds that one attempt may take.
    """

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 30.0
    timeout: float = 10.0

    def waits(self) -> Iterator[float]:
        """Yield the seconds to wait before each further attempt."""
        wait = self.first_wait
        for _ in range(self.attempts - 1):
            yield min(wait, self.longest_wait)
            wait *= 2


def with_retries(
    transport: Transport,
    address: str,
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Response:
    """Send a request until it is answered, or the policy's attempts are used up.

    Raises:
        GaveUpError: No attempt was answered.
    """
    waits = policy.waits()
    while True:
        response = _attempt(transport, address, policy.timeout)
        if response is not None and response.status not in BUSY:
            return response
        wait = next(waits, None)
        if wait is None:
            raise GaveUpError(address, policy.attempts)
        sleep(retry_after(response) or wait)


def _attempt(transport: Transport, address: str, timeout: float) -> Response | None:
    try:
        return transport.get(address, timeout=timeout)
    except Timeout:
        return None


def retry_after(response: Response | None) -> float | None:
    """Return the seconds that the server asks to wait, if it names any."""
    if response is None:
        return None
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdigit() else None
