"""The table of all files that could enter a prompt, and since when each row is as it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.panel.protocol import FilesData, FileState


class Row(NamedTuple):
    """One file; the fields are those of ``FilesData``."""

    view: str
    mode: str
    tokens: int
    whole: int
    score: float | None
    state: FileState
    why: str


@dataclass(slots=True)
class FileTable:
    """The rows of all files, and since which revision each is as it is.

    Attributes:
        revision: What the rows are of.
        rows: By path, sorted.
    """

    revision: int = 0
    rows: Mapping[str, Row] = field(default_factory=dict)
    _since: dict[str, int] = field(default_factory=dict)
    _removed: dict[str, int] = field(default_factory=dict)
    _first: int = 0

    def update(self, rows: Mapping[str, Row], revision: int) -> None:
        """Take the rows of a later revision."""
        if not self.rows:
            self._first = revision
        for path, row in rows.items():
            if self.rows.get(path) != row:
                self._since[path] = revision
                self._removed.pop(path, None)
        for path in self.rows.keys() - rows.keys():
            self._since.pop(path, None)
            self._removed[path] = revision
        self.rows, self.revision = rows, revision

    def data(self, since: int | None = None) -> FilesData:
        """Return the table as the page takes it.

        Args:
            since: The revision that the page has; ``None`` for none.
        """
        if since is None or not self._first <= since <= self.revision:
            return _data(self.revision, self.rows.items(), is_full=True)
        changed = [(path, row) for path, row in self.rows.items() if self._since[path] > since]
        removed = sorted(path for path, gone in self._removed.items() if gone > since)
        return _data(self.revision, changed, is_full=False, removed=removed)


def _data(
    revision: int,
    rows: Iterable[tuple[str, Row]],
    *,
    is_full: bool,
    removed: Sequence[str] = (),
) -> FilesData:
    pairs = list(rows)
    return {
        "revision": revision,
        "full": is_full,
        "path": [path for path, _ in pairs],
        "view": [row.view for _, row in pairs],
        "mode": [row.mode for _, row in pairs],
        "tokens": [row.tokens for _, row in pairs],
        "whole": [row.whole for _, row in pairs],
        "score": [row.score for _, row in pairs],
        "state": [row.state for _, row in pairs],
        "why": [row.why for _, row in pairs],
        "removed": list(removed),
    }


def plain_rows(sizes: Mapping[str, int]) -> dict[str, Row]:
    """Return rows of files of which nothing but names and sizes is known: what the page shows at first."""
    return {path: Row("", "", 0, size, None, "", "") for path, size in sizes.items()}
