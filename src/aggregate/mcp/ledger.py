"""What a connection was shown already, so that nothing has to be sent and paid for twice."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

_MOST_CHARACTERS: Final = 8_000_000
"""Of texts that are kept to make diffs from; beyond, the files that were shown longest ago are sent whole again."""


@dataclass(slots=True)
class _ShownFile:
    """A file as it was shown: the hash of its bytes, which lines, in which call; its text where all of it was."""

    content_hash: str
    calls: dict[int, int] = field(default_factory=dict)
    text: str = ""


class Ledger:
    """The lines of files that were shown over one connection, each with the number of the call."""

    def __init__(self) -> None:
        self._files: dict[str, _ShownFile] = {}
        self._views: dict[tuple[str, str], tuple[str, int]] = {}

    def record(self, path: str, content_hash: str, lines: Iterable[int], *, call: int) -> None:
        """Note that lines of a file were shown as they are."""
        file = self._files.pop(path, None)
        if file is None or file.content_hash != content_hash:
            file = _ShownFile(content_hash)
        self._files[path] = file  # as the newest
        for line in lines:
            file.calls.setdefault(line, call)

    def record_text(self, path: str, content_hash: str, text: str, *, call: int) -> None:
        """Note that all of a file was shown, so that a diff can lead from it to what it becomes."""
        self.record(path, content_hash, range(1, text.count("\n") + 2), call=call)
        self._files[path].text = text
        kept = sum(len(file.text) for file in self._files.values())
        for file in self._files.values():
            if kept <= _MOST_CHARACTERS:
                break
            kept -= len(file.text)
            file.text = ""

    def forget(self, call: int) -> None:
        """Know nothing of what a call has shown first: its answer was not received."""
        for file in self._files.values():
            if call in file.calls.values():
                file.calls = {line: first for line, first in file.calls.items() if first != call}
                file.text = ""
        self._views = {view: shown for view, shown in self._views.items() if shown[1] != call}

    def call_of(self, path: str, content_hash: str, lines: Iterable[int]) -> int:
        """Return the last call that showed some of these lines, if all were shown as they are; ``0`` if not."""
        file = self._files.get(path)
        if file is None or file.content_hash != content_hash:
            return 0
        last = 0
        for line in lines:
            call = file.calls.get(line, 0)
            if not call:
                return 0
            last = max(last, call)
        return last

    def earlier_text(self, path: str, content_hash: str) -> str:
        """Return the text of a file that was shown whole and has changed since, ``""`` for none."""
        file = self._files.get(path)
        return file.text if file is not None and file.content_hash != content_hash else ""

    def record_view(self, path: str, view: str, digest: str, *, call: int) -> None:
        """Note that a view of a file was shown; ``digest`` tells its text."""
        self._views[path, view] = digest, call

    def call_of_view(self, path: str, view: str, digest: str) -> int:
        """Return the call that showed this view of a file as it is, ``0`` for none."""
        known, call = self._views.get((path, view), ("", 0))
        return call if known == digest else 0
