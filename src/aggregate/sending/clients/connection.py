"""How every adapter reaches its server: certificates, time limits, and which answers are not those of an API.

A redirect is never followed: a server, or whoever stands between, could have the key and the whole prompt sent to
another host, or to the same one without encryption. Proxies are taken from the environment (``HTTPS_PROXY``,
``NO_PROXY``), which the user sets and a project cannot.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, cast

from aggregate.sending.clients.credentials import UNREADABLE, ApiKey, auth_headers, display_address

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


@dataclass(frozen=True, slots=True)
class SdkApi:
    """What the adapters of Anthropic's and OpenAI's SDKs have in common."""

    provider: str
    key: ApiKey
    base_url: str | None = None  # ``None`` for the SDK's own
    limits: ConnectionLimits = DEFAULT_LIMITS
    connect: Callable[[Any, dict[str, Any]], Any] | None = field(
        default=None, repr=False
    )  # makes another client of the SDK from its module and the arguments

    def open(self, sdk: Any, class_name: str, variable: str, others: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - the module, loaded when it is needed
        """Return the SDK's client; the key is left in no variable of a frame that an error passes through.

        ``variable`` and ``others`` name headers of the environment, which are meant for the SDK's own provider alone.
        """
        is_own = class_name.removeprefix("Async").lower() == self.provider
        signed = None if self.connect else self.key
        options = {
            "api_key": self.key.value or "none",
            "base_url": self.base_url,
            "http_client": sdk.DefaultAsyncHttpxClient(**http_client_options(self.limits)),
            "max_retries": 0,
            "timeout": self.limits.read,  # else Anthropic's refuses long answers that are not streamed
            "default_headers": None if is_own else auth_headers(signed, variable, others, sdk.omit),
        }
        return self.connect(sdk, options) if self.connect else getattr(sdk, class_name)(**options)


class WrongAddressError(Exception):
    """What answers is not the API that is asked for; the message goes behind the provider's name."""


@cache
def certificates() -> SSLContext:
    """Return the authorities that are trusted, as an SDK would by itself; loading them takes 40 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def http_client_options(limits: ConnectionLimits) -> dict[str, Any]:
    waits = {"connect": limits.connect, "pool": limits.connect}
    seconds = waits | {"read": limits.read, "write": limits.read}

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


def _limited(stream: "AsyncByteStream", size: int, line: int) -> "AsyncByteStream":
    """Return the bytes of an answer, which end with an error where they, or those of a line, are too many."""
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
    """Refuse redirects, web pages and compressed answers before an SDK makes something else of them."""
    headers, status = response.headers, response.status_code
    location = headers.get("location", "")
    if response.is_redirect or (location and 300 <= status < 400):
        target = display_address(str(response.url.join(location))) if location else "nowhere"
        target = f"an address {UNREADABLE}" if target == UNREADABLE else target
        raise WrongAddressError(
            f"answered {status}, a redirect to {target}, which is not followed: "
            "if that is the right address, name it with --base-url"
        )
    is_page = headers.get("content-type", "").lower().startswith("text/html")
    if is_page and (response.is_success or status in (404, 405)):
        raise WrongAddressError(
            f"sent an answer that is a web page (status {status}): check the address"
        )
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise WrongAddressError(
            f"sent a compressed answer ({encoding:.20}), which was not asked for: check the address"
        )
