"""How every adapter reaches its server: certificates, time limits, and which answers are not those of an API.

A redirect is never followed: a server, or whoever stands between, could have the key and the whole prompt sent to
another host, or to the same one without encryption. Proxies are taken from the environment (``HTTPS_PROXY``,
``NO_PROXY``), which the user sets and a project cannot.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, cast

from aggregate.sending.clients.credentials import UNREADABLE, display_address

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Request, Response


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How long to wait for a server, in seconds, and how much to take from it.

    Attributes:
        connect: For the connection, the look-up of the host's name included: a server that is there accepts one within
            a second, also from the other side of the world.
        read: For the next bytes of the answer: models that think send none for minutes where it is not streamed.
        size: The most bytes of an answer: 128,000 tokens take 40 MB where each comes in an event of its own.
        event: The most bytes of a line of an answer that comes in events: an SDK takes minutes for 100 MB of them.
    """

    connect: float = 10.0
    read: float = 600.0
    size: int = 100_000_000
    event: int = 10_000_000


DEFAULT_LIMITS: Final = ConnectionLimits()


class WrongAddressError(Exception):
    """What answers is not the API that is asked for; the message goes behind the provider's name."""


@cache
def certificates() -> SSLContext:
    """Return the authorities that are trusted, as an SDK would by itself; loading them takes 40 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def http_client_options(limits: ConnectionLimits) -> dict[str, Any]:
    """Return the arguments of the HTTP client that an SDK is given."""
    seconds = {
        "connect": limits.connect,
        "read": limits.read,
        "write": limits.read,
        "pool": limits.connect,
    }

    async def set_limits(request: "Request") -> None:
        # SDKs set limits for each request, some a single one for all phases or none.
        request.extensions = {**request.extensions, "timeout": seconds}
        # A few bytes of a compressed answer can become gigabytes.
        request.headers["accept-encoding"] = "identity"

    async def limit_size(response: "Response") -> None:
        stream = cast("AsyncByteStream", response.stream)
        is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = _limited(stream, limits.size, limits.event if is_events else limits.size)

    hooks = {"request": [set_limits], "response": [_refuse_wrong_server, limit_size]}
    return {"verify": certificates(), "follow_redirects": False, "event_hooks": hooks}


def causes(error: BaseException | None, *, outer: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it, the last one first; HTTP libraries chain theirs by either way.

    Args:
        error: The error.
        outer: What the caller was handling before; it and what lies behind belong to something else.
    """
    seen: set[int] = set()
    while error is not None and error is not outer and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _limited(stream: "AsyncByteStream", size: int, line: int) -> "AsyncByteStream":
    """Return the bytes of an answer, which end with an error where they, or those of a line, are too many.

    Raises:
        WrongAddressError: On reading on.
    """
    from httpx2 import AsyncByteStream

    class Limited(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = in_line = 0
            async for piece in stream:
                received += len(piece)
                behind_break = len(piece) - piece.rfind(b"\n") - 1
                in_line = behind_break if behind_break < len(piece) else in_line + len(piece)
                for bytes_in_it, limit in ((received, size), (in_line, line)):
                    if bytes_in_it > limit:
                        raise WrongAddressError(
                            f"sent more than {limit:,} bytes, which no answer has: check the address"
                        )
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()


async def _refuse_wrong_server(response: "Response") -> None:
    """Refuse answers that are not the API's before an SDK makes something else of them.

    Raises:
        WrongAddressError: It is a redirect, a web page, or compressed.
    """
    location = response.headers.get("location", "")
    if response.is_redirect or (location and 300 <= response.status_code < 400):
        target = display_address(str(response.url.join(location))) if location else "nowhere"
        target = f"an address {UNREADABLE}" if target == UNREADABLE else target
        raise WrongAddressError(
            f"answered {response.status_code}, a redirect to {target}, which is not followed: "
            "if that is the right address, name it with --base-url"
        )
    is_page = response.headers.get("content-type", "").lower().startswith("text/html")
    if is_page and (response.is_success or response.status_code in (404, 405)):
        raise WrongAddressError(
            f"sent an answer that is a web page (status {response.status_code}): check the address"
        )
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise WrongAddressError(
            f"sent a compressed answer ({encoding:.20}), which was not asked for: check the address"
        )
