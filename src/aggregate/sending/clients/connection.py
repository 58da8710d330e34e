"""Connections of all adapters: keys, limits and errors.

Redirects are never followed: a server or a proxy could have the key and the prompt sent to another host, or without
encryption. Proxies come from the environment (``HTTPS_PROXY``, ``NO_PROXY``), which a project cannot set.
"""

import math
import os
import re
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Protocol, cast
from urllib.parse import quote, quote_plus

from aggregate.base.addresses import UNREADABLE, display_address, origin
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.messages import install_command
from aggregate.sending.clients.client import ChatRequest, Meter, OnText
from aggregate.sending.models import FinishReason, Reply, reported_fields

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Request, Response

_HIDDEN = "(hidden)"
_SHORTEST = 6  # characters; shorter keys are not hidden, because they occur in ordinary words


class ApiKey:
    """An API key, hidden by ``repr``.

    Not a dataclass, because ``dataclasses.asdict`` would show it.
    """

    __slots__ = ("value",)

    def __init__(self, value: str = "") -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Key({_HIDDEN if self.value else ''})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored: read it from the environment again")

    def hide(self, text: str) -> str:
        """Replace the key in a provider's message, also in URL-encoded forms."""
        if len(self.value) < _SHORTEST:
            return text
        for form in (self.value, quote(self.value, safe=""), quote_plus(self.value)):
            text = text.replace(form, _HIDDEN)
        return text


def auth_headers(key: ApiKey, variable: str, *others: str, omit: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever mark an SDK has
    """Return headers with ``key``, and none from the environment.

    SDKs send headers from the environment to any address, also to other providers; these headers are removed. The
    ``variable`` has ``Name: value`` on each line, ``others`` are headers from other variables, ``omit`` is the SDK's
    mark for none.
    """
    lines = os.environ.get(variable, "").split("\n")
    names = (*(line.partition(":")[0].strip() for line in lines if ":" in line), *others)
    bearer = f"Bearer {key.value or 'none'}"
    return {
        name: bearer if name.lower() == "authorization" else omit
        for name in (*names, "Authorization")
    }


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connect: float = 10.0  # seconds; a running server accepts within one
    read: float = 600.0  # seconds; without streaming, thinking models are silent for minutes
    size: int = 100_000_000  # bytes; 128,000 tokens take 40 MB with one event per token


DEFAULT_LIMITS: Final = ConnectionLimits()


class StreamedAnswer(Protocol):
    """A partly received answer."""

    @property
    def whole(self) -> Any: ...  # noqa: ANN401 - in the API's form

    def add(self, fields: dict[str, Any], meter: Meter) -> str:
        """Add the fields of an event; return new text of the answer, without thoughts."""

    def rest(self) -> str:
        """Return the text that was held back until the end."""


@dataclass(frozen=True, slots=True)
class SdkApi:
    """An adapter that loads its SDK with the first request.

    Attributes:
        headers: Environment variables with headers for the SDK's own provider: one with whole headers, then
            one for each header. They are not sent to other addresses.
    """

    provider: str
    key: ApiKey
    base_url: str | None = None  # ``None``: the SDK's default
    limits: ConnectionLimits = DEFAULT_LIMITS

    sdk: ClassVar[str]  # the module
    package: ClassVar[str]
    error: ClassVar[str]  # name of the base class of its errors
    class_name: ClassVar[str]
    headers: ClassVar[tuple[str, ...]]

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        try:
            module = import_module(self.sdk)
        except ImportError:
            raise ClientSetupError(
                f"{self.provider} needs the package {self.package}: {install_command('ai')}"
            ) from None
        with SdkErrorTranslator(self.provider, self.key, getattr(module, self.error)):
            async with self.open(module) as client:
                if on_text is None:
                    request.meter.begin()
                return await self.ask(client, request, on_text)

    async def ask(self, client: Any, request: ChatRequest, on_text: OnText | None) -> Reply:  # noqa: ANN401
        body = self.body(request)
        if on_text is None:
            return self.parse(self.fields(await self.call(client, body, is_streamed=False)))
        answer = self.begin()
        stream = await self.call(client, body, is_streamed=True)
        request.meter.begin()
        async for event in events_of(stream):
            if text := answer.add(self.fields(event), request.meter):
                on_text(text)
        if text := answer.rest():
            on_text(text)
        return self.parse(answer.whole)

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the arguments of the SDK's call."""
        raise NotImplementedError

    async def call(self, client: Any, body: dict[str, Any], *, is_streamed: bool) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def begin(self) -> StreamedAnswer:
        raise NotImplementedError

    def parse(self, answer: Any) -> Reply:  # noqa: ANN401 - a whole answer in the API's form
        raise NotImplementedError

    def fields(self, event: object) -> dict[str, Any]:
        """Return the fields of an object of the SDK as received, empty for other objects."""
        dump = getattr(event, "to_dict", None)
        return reported_fields(dump(warnings=False) if callable(dump) else event)

    def open(self, module: Any) -> Any:  # noqa: ANN401
        is_own = self.class_name.removeprefix("Async").lower() == self.provider
        headers = None if is_own else auth_headers(self.key, *self.headers, omit=module.omit)
        return getattr(module, self.class_name)(
            api_key=self.key.value or "none",
            base_url=self.base_url,
            http_client=module.DefaultAsyncHttpxClient(**http_client_options(self.limits)),
            max_retries=0,
            timeout=self.limits.read,  # else Anthropic's SDK refuses long answers without streaming
            default_headers=headers,
        )


class WrongAddressError(Exception):
    """The server does not have the expected API.

    The message continues a sentence whose beginning is the server's name.
    """


@cache
def certificates() -> ssl.SSLContext:
    """Return an SSL context with the trusted authorities, created once because it takes 40 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def http_client_options(limits: ConnectionLimits) -> dict[str, Any]:
    waits = {"connect": limits.connect, "pool": limits.connect}
    seconds = waits | {"read": limits.read, "write": limits.read}

    async def set_limits(request: "Request") -> None:
        # SDKs set limits per request, some one for all phases or none.
        request.extensions = {**request.extensions, "timeout": seconds}
        # A few bytes of a compressed answer can become gigabytes.
        request.headers["accept-encoding"] = "identity"

    async def limit_size(response: "Response") -> None:
        response.stream = _limited(cast("AsyncByteStream", response.stream), limits.size)

    hooks = {"request": [set_limits], "response": [_refuse_wrong_server, limit_size]}
    return {"verify": certificates(), "follow_redirects": False, "event_hooks": hooks}


def _limited(stream: "AsyncByteStream", size: int) -> "AsyncByteStream":
    """Yield the bytes of an answer; raise an error if there are more than ``size``."""
    from httpx2 import AsyncByteStream

    class Limited(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for piece in stream:
                received += len(piece)
                if received > size:
                    raise WrongAddressError(
                        f"sent more than {size:,} bytes, too many for an answer: check the address"
                    )
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()


async def _refuse_wrong_server(response: "Response") -> None:
    """Raise an error for redirects, web pages and compressed answers, which an API does not send."""
    headers, status = response.headers, response.status_code
    location = headers.get("location", "")
    if response.is_redirect or (location and 300 <= status < 400):
        target = display_address(str(response.url.join(location))) if location else "nowhere"
        target = f"an address {UNREADABLE}" if target == UNREADABLE else target
        raise WrongAddressError(
            f"answered {status}, a redirect to {target}, which is not followed: "
            "if the address is right, set it with --base-url"
        )
    is_page = headers.get("content-type", "").lower().startswith("text/html")
    if is_page and (response.is_success or status in (404, 405)):
        raise WrongAddressError(
            f"sent a web page instead of an answer (status {status}): check the address"
        )
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise WrongAddressError(
            f"sent a compressed answer ({encoding:.20}) without a request for that: check the address"
        )


# Temporary statuses below 500: timeouts, conflicts, too many requests.
_RETRYABLE = frozenset({408, 409, 425, 429})
_TRANSIENT = re.compile(
    "overloaded|rate_limit|unavailable|resource_exhausted|timeout|api_error|internal"
)
_LONGEST = 300  # characters of a message, so that a page of HTML does not fill the terminal
_HTML = re.compile(r"<!doctype html|<html", re.IGNORECASE)
# Permanent failures of a host lookup; EAI_AGAIN, a network that is down, is temporary.
_NO_HOST = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})


_TOOLS = r"(?:tools|tool[ _-]?(?:use|usage|calls?|calling)|functions|function[ _-]?call(?:s|ing)?)"
_ABLE = (
    r"(?:support|available|enabled|implemented|(?:allowed|permitted)(?= (?:for|with|by|in)\b|\W*$))"
)
_PARAMETER = r"(?:the|param\w*|fields?|name|argument\w*|keyword|request|supplied|body|property|properties|option|key)"
# Wordings of Ollama, OpenRouter, vLLM, llama.cpp, pydantic and others. Errors about prompt length, one tool's schema or
# the order of calls and results mention tools too and must not match.
_REFUSES_TOOLS: Final = re.compile(
    # The tools are not supported
    rf"\b{_TOOLS}\b['\"`]*(?: (?:{_PARAMETER}|is|are|was|has|have|been|be|currently|yet))*"
    rf"(?:(?:n't| not| only)(?: \w+)? {_ABLE}| unsupported)"
    # The model does not support tools, or no endpoint does
    rf"|(?:(?:not|n't|no \w+(?: \w+)? that) support(?:ed|s)?|\bno support)"
    rf"(?:\W+(?:{_PARAMETER}|this|any|for|using|of|native|openai|with))*\W+{_TOOLS}\b(?!\.\w|\[)"
    # An unsupported parameter or unknown field of that name
    rf"|\b(?:unknown|unrecogni[sz]ed|unsupported|unexpected)(?:\W+{_PARAMETER})*\W+tools\b(?!\.\w|\[)"
    # A field of that name is not permitted
    r"|\btools['\"`\])]*\W+(?:was unexpected|(?:msg\W+)?extra (?:inputs|fields))"
    # The server must be started with an option for tools
    r"|\btools?\b[^.]{0,40}\brequires? --",
    re.IGNORECASE,
)


def refuses_tools(error: ProviderError) -> bool:
    """Return whether an error says that the server or the model does not support tools."""
    return error.status is not None and _REFUSES_TOOLS.search(str(error)) is not None


class SdkErrorTranslator:
    """Context manager that raises SDK errors as ``ProviderError``.

    An SDK's error holds the request with its headers and may repeat the key, so it is neither chained nor left in a
    variable, which some tracebacks print.
    """

    def __init__(self, provider: str, key: ApiKey, *sdk_errors: type[Exception]) -> None:
        self._provider, self._key, self._sdk_errors = provider, key, sdk_errors
        self._outer: BaseException | None = None

    def __enter__(self) -> None:
        self._outer = sys.exc_info()[1]

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        translated = self._translated(error) if error else None
        del error, trace
        if translated is not None:
            raise translated from None

    def _translated(self, error: BaseException) -> ProviderError | None:
        from httpx2 import HTTPError, StreamError
        from pydantic import ValidationError

        # The error and its causes, last one first, without errors already handled by the caller.
        chain: list[BaseException] = []
        cause: BaseException | None = error
        while cause is not None and cause is not self._outer and cause not in chain:
            chain.append(cause)
            cause = cause.__cause__ or cause.__context__
        if problem := _permanent_problem(chain):
            return ProviderError(f"{self._provider} {_one_line(self._key.hide(problem))}")
        if isinstance(error, self._sdk_errors):
            return self._from_sdk(error, chain)
        if isinstance(error, HTTPError | StreamError | OSError):
            problem = _connection_problem(chain)
        elif isinstance(
            error, AssertionError | LookupError | TypeError | AttributeError | ValidationError
        ):
            # Python's message about a missing field or an unexpected first event would not help.
            return ProviderError(
                f"{self._provider} sent an answer in an unknown format: check the address"
            )
        elif isinstance(error, ValueError | RuntimeError):
            problem = "sent an unreadable answer"
        else:
            return None
        return ProviderError(
            f"{self._provider} {problem}: {self._reason(chain, str(error))}", retryable=True
        )

    def _from_sdk(self, error: Any, chain: Sequence[BaseException]) -> ProviderError:  # noqa: ANN401 - three SDKs, three trees
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        status = status if isinstance(status, int) else None
        # Gemini's SDK stores the body as ``details``; a compatible server may send a list with one body.
        body = getattr(error, "body", None) or getattr(error, "details", None)
        body = reported_fields(body[0] if isinstance(body, list) and body else body)
        body = reported_fields(body.get("error")) or body
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        kind = f"{body.get('type') or body.get('code') or ''} {getattr(error, 'status', '') or ''}"
        is_transient = (
            status is None
            or status in _RETRYABLE
            or status >= 500
            or bool(_TRANSIENT.search(kind.lower()))
        )
        advice = {"true": True, "false": False}
        is_transient = advice.get(headers.get("x-should-retry", "").lower(), is_transient)
        # The provider's message first, then the connection's, then the SDK's.
        message = body.get("message") or error.__cause__ or getattr(error, "message", "") or error
        message = "a web page instead of an answer" if _HTML.search(str(message)) else str(message)
        problem = _connection_problem(chain) if status in (None, 200) else f"answered {status}"
        hint = ": check the key" if status in (401, 403) else ""
        return ProviderError(
            f"{self._provider} {problem}{hint}: {self._reason(chain, message)}",
            status=status,
            retry_after=retry_after(headers, mappings(body.get("details"))),
            retryable=is_transient and not _is_lasting(kind, message, body),
        )

    def _reason(self, chain: Sequence[BaseException], message: str) -> str:
        if any(isinstance(cause, ConnectionRefusedError) for cause in chain):
            return "nothing listens there: start the server, or check the address"
        return _one_line(self._key.hide(message)) or type(chain[0]).__name__


_LASTING: Final = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|billing|exceeded_current_quota|quota_exhausted"
)


def _is_lasting(kind: str, message: str, body: Mapping[str, Any]) -> bool:
    """Return whether a retry would be useless: no credit, a quota of 0, or tools refused."""
    violations = (
        violation
        for detail in mappings(body.get("details"))
        for violation in mappings(detail.get("violations"))
    )
    return (
        _LASTING.search(f"{kind} {body.get('code') or ''}".lower()) is not None
        or re.search(r"\blimit: 0\b", message) is not None
        or any(str(violation.get("quotaValue")) == "0" for violation in violations)
        or _REFUSES_TOOLS.search(message) is not None
    )


def mappings(value: object) -> list[dict[str, Any]]:
    """Return the mappings in a list; empty if ``value`` is not a list."""
    items = value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict)]


def retry_after(
    headers: Mapping[str, str], details: Sequence[Mapping[str, Any]] = ()
) -> float | None:
    """Return the wait in seconds that a server asks for.

    ``None`` if the server does not ask. Servers send milliseconds, seconds, a date, or Google's ``RetryInfo``.
    """
    delay = headers.get("retry-after", "")
    delays = (str(detail.get("retryDelay") or "").removesuffix("s") for detail in details)
    texts = [
        (headers.get("retry-after-ms", ""), 0.001),
        (delay, 1),
        *((text, 1) for text in delays),
    ]
    for text, unit in texts:
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if 0 <= seconds < math.inf:
            return seconds
    try:
        return max(parsedate_to_datetime(delay).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


# Finish reasons of all providers and of compatible servers.
_FINISHED: Final = "stop end eos eos_token end_turn stop_sequence function_call tool_calls tool_use"
_TOO_LONG: Final = "length max_tokens model_length model_context_window_exceeded"
_REFUSED: Final = "content_filter refusal safety recitation blocklist prohibited_content spii"
STOPS: Final = {
    **dict.fromkeys(_FINISHED.split(), FinishReason.END),
    **dict.fromkeys(_TOO_LONG.split(), FinishReason.LENGTH),
    **dict.fromkeys(_REFUSED.split(), FinishReason.REFUSED),
}


def finish_reason(reason: object, *, has_answer: bool) -> FinishReason:
    """Return the reason why a model stopped.

    Without one, the connection ended early: a partial answer counts as incomplete, and no answer is an error.
    """
    if not reason and not has_answer:
        raise ValueError("the answer broke off before its end")
    return STOPS.get(str(reason).lower(), FinishReason.OTHER)


async def events_of(stream: AsyncIterator[object]) -> AsyncIterator[Any]:
    """Yield a stream's events up to the first unreadable one.

    If the first event is unreadable, the SDK's error is raised.
    """
    is_begun = False
    try:
        async for event in stream:
            yield event
            is_begun = True
    except (ValueError, TypeError, LookupError, AttributeError):
        if not is_begun:
            raise


def _permanent_problem(chain: Sequence[BaseException]) -> str:
    """Return why no retry can succeed, or ``""``.

    The cause is an error inside the SDK's own error.
    """
    import httpx2

    for cause in chain:
        if isinstance(cause, WrongAddressError):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"cannot be trusted: {cause.verify_message or 'its certificate is not valid'}; "
                "check the address, or set SSL_CERT_FILE to the authority's file"
            )
        if isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
            return "does not speak TLS: write http:// instead of https:// if the server is your own"
        if isinstance(cause, socket.gaierror) and cause.errno in _NO_HOST:
            return f"cannot be reached{_where(chain)}: no such host: check the address"
        if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return "cannot be reached: its address is not valid, or does not begin with http:// or https://"
    return ""


def _connection_problem(chain: Sequence[BaseException]) -> str:
    import httpx2

    for cause in chain:
        if isinstance(cause, httpx2.ConnectTimeout):
            return f"cannot be reached{_where(chain)}: it did not accept a connection in time"
        if isinstance(cause, httpx2.TimeoutException):
            return "did not answer in time"
        if isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError):
            return f"broke off the connection{_where(chain)}"
        if isinstance(cause, httpx2.HTTPError | httpx2.StreamError | OSError):
            return f"cannot be reached{_where(chain)}"
    return "failed"


def _where(chain: Sequence[BaseException]) -> str:
    """Return ``" at"`` and the address of the server for an error message, ``""`` if unknown."""
    for cause in chain:
        try:
            server = origin(str(cause.request.url))  # type: ignore[attr-defined] # errors of SDKs and of HTTP have it
        except (AttributeError, RuntimeError):  # RuntimeError: an HTTP error without a request
            continue
        if server:
            return f" at {server}"
    return ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
