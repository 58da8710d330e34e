"""From whatever an SDK raises to one error of this package, without the key and without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aggregate.clients.key import Key
from aggregate.clients.retry import RETRYABLE, seconds_of
from aggregate.errors import ClientSetupError, ProviderError

_PASSING = ("overloaded", "rate_limit", "unavailable", "resource_exhausted", "timeout", "api_error", "internal")
_LONGEST = 300


@contextmanager
def translated(provider: str, key: Key, *sdk_errors: type[Exception]) -> Iterator[None]:
    """Turn the errors of an SDK, of its connection and of unreadable answers into a ``ProviderError``."""
    from httpx2 import HTTPError, StreamError, TimeoutException

    try:
        yield
    except sdk_errors as error:
        # The SDK's error holds the request with its headers, so it must not be chained.
        raise _from_sdk(provider, key, error) from None
    except (HTTPError, StreamError, OSError) as error:
        what = "did not answer in time" if isinstance(error, TimeoutException) else "cannot be reached"
        raise ProviderError(f"{provider} {what}: {_line(key.hide(str(error)), error)}", retryable=True) from None
    except (ValueError, KeyError, AssertionError, RuntimeError, TypeError) as error:
        message = f"{provider} sent an answer that cannot be read: {_line(key.hide(str(error)), error)}"
        raise ProviderError(message, retryable=True) from None


def missing_sdk(provider: str, module: str) -> ClientSetupError:
    """Return the error for an SDK that is not installed."""
    return ClientSetupError(f'{provider} needs the package {module}: run pip install "manual-slop[ai]"')


def _from_sdk(provider: str, key: Key, error: Any) -> ProviderError:  # noqa: ANN401 - three SDKs, three trees
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    status = status if isinstance(status, int) else None
    kind = f"{_kind(getattr(error, 'body', None))} {getattr(error, 'status', '') or ''}".lower()
    passing = status is None or status in RETRYABLE or status >= 500 or any(word in kind for word in _PASSING)
    headers = getattr(response, "headers", None) or {}
    text = _line(key.hide(str(getattr(error, "message", "") or error)), error)
    what = f"answered {status}" if status is not None and status != 200 else "failed"
    hint = ": check the key" if status in (401, 403) else ""
    return ProviderError(
        f"{provider} {what}{hint}: {text}", status=status, retry_after=_retry_after(headers), retryable=passing
    )


def _retry_after(headers: Any) -> float | None:  # noqa: ANN401 - any mapping of headers
    milliseconds = seconds_of(headers.get("retry-after-ms"))
    return milliseconds / 1000 if milliseconds is not None else seconds_of(headers.get("retry-after"))


def _kind(body: object) -> str:
    inner = body.get("error", body) if isinstance(body, dict) else None
    return str(inner.get("type") or inner.get("code") or "") if isinstance(inner, dict) else ""


def _line(text: str, error: object) -> str:
    """Return a message on one line, or the kind of an error that has none."""
    line = " ".join(text.split()) or type(error).__name__
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
