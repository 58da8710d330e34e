"""Read ``linguist-generated`` from ``.gitattributes`` without git.

The attribute marks generated files. The syntax is that of https://git-scm.com/docs/gitattributes, without quoted
patterns and macros. The last matching line of the deepest file decides, as in ``.gitignore``, whose matcher is used.
Unlike there, ``!`` does not negate a pattern, and a matching folder does not affect its content.
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
        """Return these marks and those of a ``.gitattributes`` file in the folder ``prefix``."""
        set_lines: list[str] = []
        unset_lines: list[str] = []
        for pattern, *attributes in filter(None, map(_WORDS.findall, lines)):
            state = _state(attributes)
            if state and not pattern.startswith(("#", "!", '"', "[attr]")):
                set_lines.append(pattern if state == "set" else f"!{pattern}")
                unset_lines.append(pattern if state == "unset" else f"!{pattern}")
        return GeneratedMarks(
            self._set.below(prefix, set_lines), self._unset.below(prefix, unset_lines)
        )

    def decide(self, path: str) -> bool | None:
        if self._set.ignores(path, is_folder=False):
            return True
        return False if self._unset.ignores(path, is_folder=False) else None


def _state(attributes: Sequence[str]) -> str:
    """Return the last state that a line gives to ``linguist-generated``, ``""`` if it does not occur."""
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
    """Reads ``.gitattributes`` files and caches them; like git it follows no links."""

    root: str
    problems: list[tuple[str, str]] = field(default_factory=list)
    _marks: dict[str, GeneratedMarks | None] = field(default_factory=dict)

    def marks(self, paths: Iterable[str], *, base: str = "") -> dict[str, bool]:
        """Return True (generated) or False (not generated) for each path with the attribute."""
        marks: dict[str, bool] = {}
        cache: dict[str, tuple[str, GeneratedMarks] | None] = {}
        for path in paths:
            end = path.rfind("/") + 1
            parent = path[:end]
            if parent not in cache:
                cache[parent] = self._effective_marks(base + parent)
            folder, rules = cache[parent] or ("", None)
            mark = rules.decide(folder + path[end:]) if rules else None
            if mark is not None:
                marks[path] = mark
        return marks

    def _effective_marks(self, folder: str) -> tuple[str, GeneratedMarks] | None:
        """Return the marks that apply in a folder.

        Also returns the folder's path relative to the root of the repository.
        """
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
        for below in reversed(unknown):  # no recursion: trees may be thousands of levels deep
            marks = self._with_file(marks, below)
            self._marks[below] = marks
        return marks

    def _with_file(self, above: GeneratedMarks | None, folder: str) -> GeneratedMarks | None:
        path = f"{self.root}/{folder}{_NAME}"
        if not os.access(path, os.F_OK):  # mostly missing, and an exception takes longer
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
