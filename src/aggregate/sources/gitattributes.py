"""Reading what a project's ``.gitattributes`` say of generated files; git itself is not asked."""

import os
import stat
from collections.abc import Iterable

from aggregate.disk.reading import read_bytes
from aggregate.paths.generated_marks import GeneratedMarks
from aggregate.paths.ignore_rules import TooManyRulesError

_NAME = ".gitattributes"
_BOM = b"\xef\xbb\xbf"


class AttributesReader:
    """Reads each ``.gitattributes`` below a folder once.

    A link is not followed, as in git, so that nothing outside of the folder is read.

    Args:
        root: Where the topmost file lies; what lies above is not looked at.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._marks: dict[str, GeneratedMarks] = {}
        self.problems: list[tuple[str, str]] = []

    def marks(self, paths: Iterable[str]) -> dict[str, bool]:
        """Return which of ``paths`` are marked as generated, and which as not; the others are left out.

        Args:
            paths: Files, relative to the root with ``/``.
        """
        marks: dict[str, bool] = {}
        for path in paths:
            folder = path[: path.rfind("/") + 1]
            decided = (self._marks.get(folder) or self._in_folder(folder)).decide(path)
            if decided is not None:
                marks[path] = decided
        return marks

    def _in_folder(self, folder: str) -> GeneratedMarks:
        """Return the marks in force in ``folder``, which is ``""`` or ends with a slash."""
        ends = [0, *(i + 1 for i, char in enumerate(folder) if char == "/")]
        marks = GeneratedMarks()
        for (
            end
        ) in ends:  # from the top down, without recursion: trees may be thousands of levels deep
            above = folder[:end]
            if above not in self._marks:
                self._marks[above] = self._with_file(marks, above)
            marks = self._marks[above]
        return marks

    def _with_file(self, marks: GeneratedMarks, folder: str) -> GeneratedMarks:
        path = f"{self._root}/{folder}{_NAME}"
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                return marks
            text = read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape")
            return marks.below(folder, text.split("\n")) if marks.reads(text) else marks
        except FileNotFoundError:
            return marks
        except TooManyRulesError as error:
            self.problems.append((folder + _NAME, f"not used: {error}"))
        except OSError as error:
            self.problems.append((folder + _NAME, f"not used: {error.strerror or error}"))
        return marks
