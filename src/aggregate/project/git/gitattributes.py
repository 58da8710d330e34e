"""What ``.gitattributes`` files say of ``linguist-generated``, by which a project marks generated files.

The syntax is that of https://git-scm.com/docs/gitattributes, without quoted patterns and macros. The last line of the
deepest file that speaks of a path decides, as in ``.gitignore``, whose matcher is used; but a pattern cannot be taken
back by ``!``, and one that matches a folder says nothing of what lies in it. Git itself is not asked.
"""

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from aggregate.base.disk.reading import read_bytes
from aggregate.project.paths.ignore_rules import IgnoreRules, TooManyRulesError

ATTRIBUTE: Final = "linguist-generated"
_WORDS: Final = re.compile(r"[^ \t\r]+")


@dataclass(frozen=True, slots=True)
class GeneratedMarks:
    _set: IgnoreRules = field(default_factory=IgnoreRules)
    _unset: IgnoreRules = field(default_factory=IgnoreRules)

    def below(self, prefix: str, lines: Sequence[str]) -> "GeneratedMarks":
        """Return the marks with those of one more file, which lies in the folder ``prefix``."""
        states = [
            (pattern, state)
            for pattern, *attributes in filter(None, map(_WORDS.findall, lines))
            if not pattern.startswith(("#", "!", '"', "[attr]"))
            if (state := _state(attributes))
        ]
        rules = (
            above.below(prefix, [f"{'' if state == kind else '!'}{one}" for one, state in states])
            for above, kind in ((self._set, "set"), (self._unset, "unset"))
        )
        return GeneratedMarks(*rules)

    def decide(self, path: str) -> bool | None:
        if self._set.ignores(path, is_folder=False):
            return True
        return False if self._unset.ignores(path, is_folder=False) else None


def _state(attributes: Sequence[str]) -> str:
    """Return what attributes say, of which the last one counts, ``""`` for nothing."""
    for attribute in reversed(attributes):
        name, _, value = attribute.partition("=")
        if name.lstrip("-!") == ATTRIBUTE:
            if name.startswith("!"):
                return "unspecified"
            return "set" if name == ATTRIBUTE and value != "false" else "unset"
    return ""


_NAME = ".gitattributes"
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True, eq=False)
class AttributesReader:
    """Reads each ``.gitattributes`` below a folder once.

    A link is not followed, as in git, so that nothing outside of the folder is read.
    """

    root: str
    problems: list[tuple[str, str]] = field(default_factory=list)
    _marks: dict[str, GeneratedMarks | None] = field(default_factory=dict)

    def marks(self, paths: Iterable[str], *, base: str = "") -> dict[str, bool]:
        """Return which of ``paths`` are marked as generated, and which as not; the others are left out."""
        marks: dict[str, bool] = {}
        in_force: dict[str, tuple[str, GeneratedMarks] | None] = {}
        for path in paths:
            end = path.rfind("/") + 1
            parent = path[:end]
            if parent not in in_force:
                in_force[parent] = self._in_force(base + parent)
            folder, rules = in_force[parent] or ("", None)
            decided = rules.decide(folder + path[end:]) if rules else None
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
        path = f"{self.root}/{folder}{_NAME}"
        if not os.access(path, os.F_OK):  # most folders have none, and an exception takes longer
            return above
        marks = above or GeneratedMarks()
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                return above
            text = read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape")
            return marks.below(folder, text.split("\n")) if ATTRIBUTE in text else above
        except TooManyRulesError as error:
            self.problems.append((folder + _NAME, f"not used: {error}"))
        except OSError as error:
            self.problems.append((folder + _NAME, f"not used: {error.strerror or error}"))
        return above
