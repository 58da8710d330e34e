"""Fetching files into a folder."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ferry import robots
from ferry.cache import Cache
from ferry.errors import FerryError, ForbiddenError
from ferry.retry import RetryPolicy, with_retries
from ferry.transport import Transport, UrllibTransport

AGENT = "ferry/0.3"
_FOUND = 200


@dataclass
class Client:
    """Fetches files, each at most once while it is fresh.

    Attributes:
        folder: Where the files are put.
        policy: How failed requests are sent again.
        transport: What sends them.
    """

    folder: Path
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    transport: Transport = field(default_factory=lambda: UrllibTransport(AGENT))

    def fetch(self, address: str) -> Path:
        """Return the path of the file, fetched unless it is fresh.

        Raises:
            ForbiddenError: The server's robots.txt does not allow it.
            FerryError: The server has no such file, or gave no answer.
        """
        cache = Cache(self.folder)
        entry = cache.entries().get(address)
        if entry is not None and entry.is_fresh(time.time()):
            return self.folder / entry.name
        if not self._rules(address).allow(address):
            raise ForbiddenError(f"{address}: robots.txt does not allow it")
        response = with_retries(self.transport, address, self.policy)
        if response.status != _FOUND:
            raise FerryError(f"{address}: the server answered {response.status}")
        target = self.folder / file_name(address)
        target.write_bytes(response.body)
        cache.put(address, target.name, response)
        return target

    def _rules(self, address: str) -> robots.Rules:
        parts = urlsplit(address)
        answer = with_retries(
            self.transport, f"{parts.scheme}://{parts.netloc}/robots.txt", self.policy
        )
        return robots.parse(answer.body.decode("utf-8", "replace"))


def file_name(address: str) -> str:
    """Return the file name for an address."""
    return urlsplit(address).path.rpartition("/")[2] or "index.html"
