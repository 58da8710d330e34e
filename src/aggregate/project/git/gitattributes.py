"""Reading what a project's ``.gitattributes`` say of generated files; git itself is not asked."""

import os
import posixpath
import stat
from collections.abc import Iterable

from aggregate.base.disk import read_bytes
from aggregate.project.paths.generated_marks import GeneratedMarks
from aggregate.project.paths.ignore_rules import TooManyRulesError

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
        self._marks: dict[str, GeneratedMarks | None] = {}
        self.problems: list[tuple[str, str]] = []

    def marks(self, paths: Iterable[str], *, base: str = "") -> dict[str, bool]:
        """Return which of ``paths`` are marked as generated, and which as not; the others are left out.

        Args:
            paths: Files, with ``/``; those outside of the root are left out.
            base: The folder that they are relative to, itself relative to the root: ``""`` or ``a/b/``.
        """
        marks: dict[str, bool] = {}
        in_force: dict[str, tuple[str, GeneratedMarks] | None] = {}
        for path in paths:
            end = path.rfind("/") + 1
            parent = path[:end]
            if parent not in in_force:
                in_force[parent] = self._in_force(base + parent)
            marks_here = in_force[parent]
            if marks_here is not None:
                folder, rules = marks_here
                decided = rules.decide(folder + path[end:])
                if decided is not None:
                    marks[path] = decided
        return marks

    def _in_force(self, folder: str) -> tuple[str, GeneratedMarks] | None:
        """Return a folder as seen from the root and the marks in it, ``None`` where none are in force."""
        if "../" in folder or folder.startswith("/"):
            folder = posixpath.normpath(folder) + "/"
            if folder.startswith(("../", "/")):
                return None
            folder = folder.removeprefix("./")
        marks = self._in_folder(folder)
        return None if marks is None else (folder, marks)

    def _in_folder(self, folder: str) -> GeneratedMarks | None:
        unknown: list[str] = []
        while folder not in self._marks:
            unknown.append(folder)
            if not folder:
                break
            folder = folder[: folder.rfind("/", 0, -1) + 1]
        marks = self._marks.get(folder)
        for below in reversed(unknown):  # from the top down: trees may be thousands of levels deep
            marks = self._with_file(marks, below)
            self._marks[below] = marks
        return marks

    def _with_file(self, above: GeneratedMarks | None, folder: str) -> GeneratedMarks | None:
        """Return the marks in force in ``folder``, given those in force above it."""
        path = f"{self._root}/{folder}{_NAME}"
        if not os.access(path, os.F_OK):  # most folders have none, and an exception takes longer
            return above
        marks = above or GeneratedMarks()
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                return above
            text = read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape")
            return marks.below(folder, text.split("\n")) if marks.reads(text) else above
        except TooManyRulesError as error:
            self.problems.append((folder + _NAME, f"not used: {error}"))
        except OSError as error:
            self.problems.append((folder + _NAME, f"not used: {error.strerror or error}"))
        return above
