"""Access control of the panel: one browser of this user, from the panel's own page."""

import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address
from pathlib import Path
from struct import unpack
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import cookie_parser
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_OWN_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")  # reachable from this machine only
# Another site's page cannot send it without CORS permission, which is never given.
HEADER: Final = b"x-aggregate"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
# Values of Sec-Fetch-Site for requests not caused by other sites.
_OWN_SITES: Final = ("same-origin", "none")
_FOREIGN: Final = "refused a request of another site: only the panel's own page may use it"
_OTHER_USER: Final = (
    "refused another user of this machine: start aggregate panel as the user of the browser"
)
_UNOPENED: Final = "open the address printed by aggregate panel: it changes with each start and works in one browser"

_UNOPENED_PAGE: Final = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>aggregate panel</title>
<link rel="stylesheet" href="/static/panel.css">
<main class="refused">
<h1>This panel is open in another browser</h1>
<p>You need to {_UNOPENED}. To go on here:</p>
<ol>
<li>Save in the other browser, then end the panel in its terminal with Ctrl-C.</li>
<li>Start <code>aggregate panel --no-open</code> again.</li>
<li>Open the address that it prints, with its token, in this browser.</li>
</ol>
</main>
</html>
"""


@dataclass(frozen=True, slots=True)
class Access:
    """The panel's secrets for recognizing its browser."""

    token: str  # in the opened address, valid once
    key: str  # for cookies, also after a restart
    port: int

    @property
    def cookie(self) -> str:
        """The cookie's name, which contains the port: browsers share cookies among ports."""
        return f"aggregate_panel_{self.port}"

    @property
    def secret(self) -> str:
        """The cookie's value, a keyed hash of the port.

        It is valid for this port only: open pages send it to any later program on the port.
        """
        return hmac.new(self.key.encode(), f"cookie {self.port}".encode(), sha256).hexdigest()

    def is_own_host(self, header: str) -> bool:
        """Return whether a Host header is the panel's; after DNS rebinding another one is sent."""
        name, _, port = header.lower().rpartition(":")
        if self.port == 80 and header.lower() in _OWN_NAMES:  # browsers omit port 80
            return True
        return name in _OWN_NAMES and port == str(self.port)


def _is_same(value: str, secret: str) -> bool:
    return hmac.compare_digest(value.encode(errors="replace"), secret.encode())


class Guarded:
    """ASGI middleware that rejects foreign requests and adds security headers."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access
        self._is_token_used = False

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Message) -> Response | None:
        access = self._access
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        path, method = str(scope["path"]), str(scope["method"])
        if not access.is_own_host(headers.get(b"host", "")):
            return _refused(path, "this address is not one of the panel's", 421)
        if method not in ("GET", "HEAD", "POST"):
            return _refused(path, f"the method {method[:20]} is not supported", 405)
        if path.startswith("/static/"):  # the page itself has no project data
            return None
        # Other users can read the token from the browser's arguments, and receive cookies on any port of this machine.
        if _is_other_users(scope["client"], scope["server"]):
            return _refused(path, _OTHER_USER, 403)
        # Starlette's parser is lenient like browsers: other programs on this machine may have set cookies with JSON, at
        # which the standard library's parser stops.
        cookie = cookie_parser(headers.get(b"cookie", "")).get(access.cookie, "")
        is_known = _is_same(cookie, access.secret)
        if path == "/":
            query = parse_qs(scope["query_string"].decode("latin-1"))
            token = query.get("token", [""])[0]
            # Valid once: it is visible in the terminal and in the browser's arguments.
            is_first = not is_known and _is_same(token, access.token) and not self._is_token_used
            self._is_token_used |= is_first
            if token and (is_known or is_first):  # set the cookie, reload without the token
                response = RedirectResponse("/", 303, {"cache-control": "no-store"})
                response.set_cookie(
                    access.cookie, access.secret, httponly=True, samesite="strict", path="/"
                )
                return response
        if not is_known:
            return _refused(path, _UNOPENED, 401)
        if method != "POST":
            is_foreign = headers.get(b"sec-fetch-site", "none") not in _OWN_SITES
            if path.startswith("/api/") and is_foreign:
                return _refused(path, _FOREIGN, 403)
            return None
        scheme, _, host = headers.get(b"origin", "").partition("://")
        if scheme != "http" or not access.is_own_host(host):
            return _refused(path, _FOREIGN, 403)
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if headers.get(HEADER) != "1" or kind != "application/json":
            sentence = "the header X-Aggregate: 1 or the type application/json is missing"
            return _refused(path, sentence, 403)
        return None


def _refused(path: str, sentence: str, status: int) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status_code=status)
    if sentence is _UNOPENED:
        return HTMLResponse(_UNOPENED_PAGE, status_code=status)
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _is_other_users(client: Sequence[object], server: Sequence[object]) -> bool:
    if not hasattr(os, "getuid"):
        return False
    # The administrator can read everything anyway, and forwards connections from elsewhere.
    return connection_owner(client, server) not in (None, 0, os.getuid())


NOBODY: Final = -1  # the other end was closed, and its user is unknown
# A line per end of a connection: number, own address, the other's, state, queues, timer, retries, user.
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_STATE, _USER = 3, 7  # columns
# The only state with a reliable user: closed ends are listed as the administrator's.
_ESTABLISHED: Final = "01"


def connection_owner(
    client: Sequence[object], server: Sequence[object], *, tables: Sequence[Path] = _TABLES
) -> int | None:
    """Return the user id of a connection's client.

    Args:
        client: Address and port of the client.
        server: Address and port of this server.
        tables: The system's lists of connections.

    Returns:
        The id, ``NOBODY`` if the client's end is closed, None if unknown: on other systems than Linux, and for clients
        outside this machine.
    """
    try:
        theirs, ours = (
            _table_forms(str(host), int(str(port))) for host, port, *_ in (client, server)
        )
        texts = [table.read_text("ascii") for table in tables if table.exists()]
    except (ValueError, OSError):  # not an address, or unreadable tables
        return None
    ends: dict[tuple[str, str], list[str]] = {}
    addresses = set[str]()
    for line in (line.split() for text in texts for line in text.splitlines()[1:]):
        ends.setdefault((line[1], line[2]), line)
        addresses |= {line[1], line[2]}
    pairs = [*zip(theirs, ours, strict=True)]
    their_end = next((ends[pair] for pair in pairs if pair in ends), None)
    if their_end:
        return int(their_end[_USER]) if their_end[_STATE] == _ESTABLISHED else NOBODY
    our_end = next((ends[us, them] for them, us in pairs if (us, them) in ends), None)
    is_listed = not addresses.isdisjoint(ours)
    return NOBODY if is_listed and (not our_end or our_end[_STATE] != _ESTABLISHED) else None


def _table_forms(host: str, port: int) -> tuple[str, str]:
    """Format an address as in the system's tables, for IPv4 and IPv6 sockets."""
    (word,) = unpack("=I", IPv4Address(host).packed)  # in this machine's byte order
    prefix = f"{0:016X}{unpack('=I', bytes(2) + bytes([255, 255]))[0]:08X}"
    return f"{word:08X}:{port:04X}", f"{prefix}{word:08X}:{port:04X}"
