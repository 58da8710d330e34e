"""Keys, read from the environment and never shown, and the addresses that they may go to."""

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import SplitResult, quote, quote_plus, urlsplit

from aggregate.base.errors import ClientSetupError

_HIDDEN = "(hidden)"
_SHORTEST = 6  # characters of a key that is hidden: shorter ones occur in ordinary words
_HEADER_VALUE = re.compile(r"[!-~]+")


class ApiKey:
    """A key that no representation shows; no dataclass, because ``dataclasses.asdict`` of its holder would show it."""

    __slots__ = ("value",)

    def __init__(self, value: str = "") -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Key({_HIDDEN if self.value else ''})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored: read it from the environment again")

    def hide(self, text: str) -> str:
        """Return ``text`` without the key, also as it stands in an address: providers repeat it in their messages."""
        if len(self.value) < _SHORTEST:
            return text
        for form in (self.value, quote(self.value, safe=""), quote_plus(self.value)):
            text = text.replace(form, _HIDDEN)
        return text


def find_api_key(
    provider: str, variables: tuple[str, ...], environ: Mapping[str, str], *, needed: bool
) -> ApiKey:
    name = next((name for name in variables if environ.get(name, "").strip()), "")
    if not name and needed:
        raise ClientSetupError(
            f"{provider} needs a key: set the environment variable {' or '.join(variables)}"
        )
    value = environ.get(name, "").strip()
    if value and not _HEADER_VALUE.fullmatch(value):
        # The error of an HTTP library would show it.
        raise ClientSetupError(
            f"the key in {name} holds a blank or a character that no key has: set it again"
        )
    return ApiKey(value)


def auth_headers(
    key: ApiKey | None,
    variable: str,
    others: tuple[str, ...],
    omit: Any,  # noqa: ANN401 - whatever mark an SDK has
) -> dict[str, Any]:
    """Return the headers with which an SDK sends ``key`` and nothing that it reads from the environment by itself.

    SDKs send these wherever their address leads: also to another provider than the one they are meant for. The
    ``variable`` has ``Name: value`` on each line, ``others`` are headers that the SDK makes of other variables, and
    ``omit`` is its mark for what is left out. Without a key the SDK signs by itself.
    """
    lines = os.environ.get(variable, "").split("\n")
    names = (*(line.partition(":")[0].strip() for line in lines if ":" in line), *others)
    if key is None:
        return dict.fromkeys(names, omit)
    bearer = f"Bearer {key.value or 'none'}"
    return {
        name: bearer if name.lower() == "authorization" else omit
        for name in (*names, "Authorization")
    }


UNREADABLE = "that cannot be read"  # stands for what is no address, behind the words "the address"
LOOPBACK = ("127.0.0.1", "localhost", "::1")  # the names of this machine that only it can reach
_PORTS = {"http": 80, "https": 443}


def check_address(url: str) -> None:
    parts = _split(url)
    if parts is None:
        raise ClientSetupError(f"the address {url!r} cannot be read: write it as https://host/path")
    if parts.scheme not in _PORTS or "://" not in url:
        # "localhost:8080" has the scheme "localhost" for a parser.
        rest = re.sub(r"^[a-z][a-z0-9+.-]*://", "", url, flags=re.IGNORECASE).lstrip("/")
        scheme = "http" if is_loopback(f"http://{rest}") else "https"
        raise ClientSetupError(
            f"the address {url!r} does not begin with http:// or https://: write {scheme}://{rest}"
        )
    if not parts.hostname:
        raise ClientSetupError(
            f"the address {url!r} names no host: write it as {parts.scheme}://host/path"
        )


def origin(url: str) -> str:
    parts = _split(url)
    if parts is None or parts.scheme not in _PORTS or not parts.hostname:
        return ""
    return f"{parts.scheme}://{host_in_url(parts.hostname)}:{parts.port or _PORTS[parts.scheme]}"


def is_loopback(url: str) -> bool:
    parts = _split(url)
    host = (parts.hostname or "").rstrip(".") if parts else ""
    return host.endswith(".localhost") or is_loopback_host(host)


def is_loopback_host(host: str) -> bool:
    """Tell whether only this machine reaches what listens on a host: ``127.0.0.2`` too, and all of its kind."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def display_address(url: str) -> str:
    parts = _split(url)
    if parts is None or not parts.hostname:
        return UNREADABLE
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host_in_url(parts.hostname)}{port}{parts.path}"


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address; ``None`` for what different programs would read differently."""
    if re.search(r"[\\\s\x00-\x1f\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    return parts
