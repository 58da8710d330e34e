"""One request and its answer."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Timeout(Exception):  # noqa: N818 - the name that the standard library uses
    """A server did not answer in time."""


@dataclass(frozen=True)
class Response:
    """A server's answer.

    Attributes:
        status: The number of the answer, such as 200.
        headers: By name in small letters.
        body: The bytes of the file.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Anything that sends requests."""

    def get(self, address: str, *, timeout: float) -> Response:
        """Ask for an address once.

        Raises:
            Timeout: There was no answer within the seconds of ``timeout``.
        """
        ...


class UrllibTransport:
    """Requests by the standard library."""

    def __init__(self, agent: str) -> None:
        self._agent = agent

    def get(self, address: str, *, timeout: float) -> Response:
        """Ask for an address once."""
        request = urllib.request.Request(address, headers={"User-Agent": self._agent})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
                headers = {name.lower(): value for name, value in answer.headers.items()}
                return Response(answer.status, headers, answer.read())
        except urllib.error.HTTPError as error:
            headers = {name.lower(): value for name, value in error.headers.items()}
            return Response(error.code, headers, b"")
        except TimeoutError as error:
            raise Timeout(address) from error
