"""Check server addresses, and show them without secrets."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from aggregate.base.errors import ClientSetupError

UNREADABLE = "that cannot be read"  # follows "the address" in messages
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
            f"the address {url!r} has no host: write it as {parts.scheme}://host/path"
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
    """Return whether only this machine reaches a host; true for all of 127.0.0.0/8."""
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
    """Parse an address; return None if programs might parse it differently."""
    if re.search(r"[\\\s\x00-\x1f\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    return parts
