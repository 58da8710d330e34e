"""The places that a diff in a text changes, by the lines of the files before it."""

import re
from collections.abc import Iterator
from typing import Final

from aggregate.ranking.question import NamedPlace

_HEADER: Final = re.compile(r"(?:---|\+\+\+) (?:[abciow]/)?(?P<path>[^\t\n]{1,400})")
_HUNK: Final = re.compile(r"@@ -(?P<line>\d{1,7})(?:,\d{1,7})? \+\d{1,7}(?:,\d{1,7})? @@")
_NO_FILE: Final = "/dev/null"


def diff_places(text: str) -> Iterator[NamedPlace]:
    """Yield for each hunk of a unified diff the first line that it changes; of a new file line 1."""
    if "\n@@ -" not in text:
        return
    path, line = "", 0  # the hunk's next line, 0 where its first change was told
    for written in text.split("\n"):
        if line and written.startswith(("+", "-")):
            yield NamedPlace(path, line)
            line = 0
        elif line and written[:1] in ("", " "):
            line += 1
        elif header := _HEADER.match(written):
            # Of a file that is renamed the old name, which comes first, is the one that is there.
            if header["path"] != _NO_FILE and (written.startswith("-") or not path):
                path = header["path"]
        elif written.startswith("diff "):
            path = ""
        elif path and (hunk := _HUNK.match(written)):
            line = max(int(hunk["line"]), 1)
