"""Addresses of servers: whether one can be used, whether it is this machine, and how it is shown."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from aggregate.base.errors import ClientSetupError

UNREADABLE = "that cannot be read"
"""Stands for what is no address, behind the words "the address"."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The names of this machine that only it can reach."""
_PORTS = {"http": 80, "https": 443}


def check_address(url: str) -> None:
    """Refuse what no request can be sent to.

    Raises:
        ClientSetupError: There is no scheme, another one than HTTP's, or no host.
    """
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
    """Return scheme, host and port of an address, ``""`` for what is none."""
    parts = _split(url)
    if parts is None or parts.scheme not in _PORTS or not parts.hostname:
        return ""
    return f"{parts.scheme}://{_host(parts)}:{parts.port or _PORTS[parts.scheme]}"


def is_loopback(url: str) -> bool:
    """Tell whether an address leads to this machine."""
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
    """Return a host as it stands in an address, where version 6 of the protocol is put in brackets."""
    return f"[{host}]" if ":" in host else host


def display_address(url: str) -> str:
    """Return an address without what may be secret in it, as it stands behind the words "the address".

    Left out are user, password, query and fragment.
    """
    parts = _split(url)
    if parts is None or not parts.hostname:
        return UNREADABLE
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{_host(parts)}{port}{parts.path}"


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


def _host(parts: SplitResult) -> str:
    return host_in_url(parts.hostname or "")
