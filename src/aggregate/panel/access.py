"""Who may ask: this user's browser that was opened with the token, for a page of ours, under an address of ours."""

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
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# The names of this machine that only it can reach.
_OWN_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
# Which a page of another site cannot send without being asked for leave, which nobody gives.
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
# What a browser says of a request that no other site has caused.
_OWN_SITES: Final = ("same-origin", "none")
_FOREIGN: Final = "another site has asked: only the panel's own page may"
_OTHER_USER: Final = "another user of this machine has asked: start aggregate panel as the user whose browser opens it"
_UNOPENED: Final = "open the address that aggregate panel has printed: each start prints another one, for one browser"


@dataclass(frozen=True, slots=True)
class Access:
    """What decides who may ask."""

    token: str  # what the opened address holds; it is taken once
    key: str  # what cookies are made of, also those of pages that were open before a restart
    port: int

    @property
    def cookie(self) -> str:
        """The cookie's name; browsers do not tell the ports of one host apart."""
        return f"aggregate_panel_{self.port}"

    @property
    def secret(self) -> str:
        """What the cookie holds: it follows from the key, and does not tell it.

        It opens this port alone: another program that has taken the last one is sent the cookie by pages still open.
        """
        return hmac.new(self.key.encode(), f"cookie {self.port}".encode(), sha256).hexdigest()

    def is_own_host(self, header: str) -> bool:
        """Tell whether a request is for an address of ours, and not for a stranger's name that leads here."""
        name, _, port = header.lower().rpartition(":")
        if self.port == 80 and header.lower() in _OWN_NAMES:  # which browsers leave out
            return True
        return name in _OWN_NAMES and port == str(self.port)

    def is_own_origin(self, header: str) -> bool:
        return header.startswith("http://") and self.is_own_host(header.removeprefix("http://"))


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


class Guarded:
    """Hands on only requests that may be answered, and says in each answer what a browser may do with it."""

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
            return _refused(path, f"{method[:20]} is not answered here", 405)
        if path.startswith("/static/"):  # the page itself, which holds nothing of the project
            return None
        # Another user may have read the token among the running programs: the browser is started with the address, and
        # a cookie goes to whatever listens at any port of this machine.
        if _is_other_users(scope["client"], scope["server"]):
            return _refused(path, _OTHER_USER, 403)
        # As browsers read them: the standard library's parser stops at what it does not know, and any other program on
        # this machine may have set a cookie that holds JSON.
        cookie = cookie_parser(headers.get(b"cookie", "")).get(access.cookie, "")
        is_known = _is_same(cookie, access.secret)
        if path == "/":
            query = parse_qs(scope["query_string"].decode("latin-1"))
            given = query.get("token", [""])[0]
            # Taken once: it stands in the terminal, and among the arguments of running programs.
            is_first = not is_known and _is_same(given, access.token) and not self._is_token_used
            self._is_token_used |= is_first
            if given and (is_known or is_first):  # the cookie, and the page without the token
                response = RedirectResponse("/", 303, {"cache-control": "no-store"})
                response.set_cookie(
                    access.cookie, access.secret, httponly=True, samesite="strict", path="/"
                )
                return response
        if not is_known:
            return _refused(path, _UNOPENED, 401)
        if method != "POST":
            is_foreign = headers.get(b"sec-fetch-site", "none") not in _OWN_SITES
            is_asked = path.startswith("/api/") and is_foreign
            return _refused(path, _FOREIGN, 403) if is_asked else None
        if not access.is_own_origin(headers.get(b"origin", "")):
            return _refused(path, _FOREIGN, 403)
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if headers.get(HEADER) != "1" or kind != "application/json":
            sentence = "the header X-Aggregate: 1 or the type application/json is missing"
            return _refused(path, sentence, 403)
        return None


def _refused(path: str, sentence: str, status: int) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status_code=status)
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _is_other_users(client: Sequence[object], server: Sequence[object]) -> bool:
    if not hasattr(os, "getuid"):
        return False
    # The administrator reads everything anyway, and forwards connections from elsewhere.
    return connection_owner(client, server) not in (None, 0, os.getuid())


NOBODY: Final = -1  # In place of a user: the other end was closed, and its user is no longer known
# A line for each end of a connection: number, own address, the other's, state, queues, timer, retries, user.
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_STATE, _USER = 3, 7  # Places of the two in a line
# The only state in which the user is always that of a program: ends that were closed count as the administrator's.
_ESTABLISHED: Final = "01"


def connection_owner(
    client: Sequence[object], server: Sequence[object], *, tables: Sequence[Path] = _TABLES
) -> int | None:
    """Return the user id of the program that has opened a connection.

    Args:
        client: Address and port of its end.
        server: Those of ours.
        tables: Where the system lists connections.

    Returns:
        The id, ``NOBODY`` where that end is closed, ``None`` where the system does not tell: elsewhere than on Linux,
        and where no program of this system has opened it.
    """
    try:
        theirs, ours = (_written(str(host), int(str(port))) for host, port, *_ in (client, server))
        texts = [table.read_text("ascii") for table in tables if table.exists()]
    except (ValueError, OSError):  # no address, or no table that may be read
        return None
    ends: dict[tuple[str, str], list[str]] = {}
    own = set[str]()
    for line in (line.split() for text in texts for line in text.splitlines()[1:]):
        ends.setdefault((line[1], line[2]), line)
        own |= {line[1], line[2]}
    pairs = [*zip(theirs, ours, strict=True)]
    their_end = next((ends[pair] for pair in pairs if pair in ends), None)
    if their_end:
        return int(their_end[_USER]) if their_end[_STATE] == _ESTABLISHED else NOBODY
    our_end = next((ends[own, other] for other, own in pairs if (own, other) in ends), None)
    is_listed = not own.isdisjoint(ours)
    return NOBODY if is_listed and (not our_end or our_end[_STATE] != _ESTABLISHED) else None


def _written(host: str, port: int) -> tuple[str, str]:
    """Return an end as the tables write it: as it is, and as a program writes it that speaks version 6 alone."""
    address = IPv4Address(host).packed
    short, long = (
        # Word by word, each as a number of this machine.
        "".join(f"{word:08X}" for word in unpack(f"={len(form) // 4}I", form))
        for form in (address, bytes(10) + b"\xff\xff" + address)
    )
    return f"{short}:{port:04X}", f"{long}:{port:04X}"
