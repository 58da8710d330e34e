"""Fetched files, and whether they may be used again."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ferry.transport import Response


@dataclass(frozen=True)
class Entry:
    """A fetched file.

    Attributes:
        etag: The version that the server has named, or an empty text.
        expires: Until when it may be used without asking, in seconds since 1970.
        name: The file's name in the folder.
    """

    etag: str
    expires: float
    name: str

    def is_fresh(self, now: float) -> bool:
        """Return whether the file may be used without asking the server."""
        return now < self.expires


class Cache:
    """Entries by address, kept in one JSON file of the folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".ferry.json"

    def entries(self) -> dict[str, Entry]:
        """Return the entries; a damaged file counts as empty."""
        try:
            table = json.loads(self._path.read_text(encoding="utf-8"))
            return {address: Entry(**row) for address, row in table.items()}
        except (OSError, ValueError, TypeError):
            return {}

    def put(self, address: str, name: str, response: Response) -> None:
        """Record a file that was just fetched."""
        entries = self.entries()
        expires = time.time() + max_age(response)
        entries[address] = Entry(response.headers.get("etag", ""), expires, name)
        table = {known: asdict(entry) for known, entry in entries.items()}
        self._path.write_text(json.dumps(table, indent=2), encoding="utf-8")


def max_age(response: Response) -> float:
    """Return the seconds that the server allows to keep the file, by default 0."""
    for part in response.headers.get("cache-control", "").split(","):
        name, _, value = part.strip().partition("=")
        if name == "max-age" and value.isdigit():
            return float(value)
    return 0.0
