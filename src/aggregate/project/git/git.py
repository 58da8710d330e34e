"""List a folder's files by git; read which of them ``.gitattributes`` marks as generated.

The mark is ``linguist-generated``, read without git. The syntax is that of https://git-scm.com/docs/gitattributes,
without quoted patterns and macros. The last matching line of the deepest file decides, as in ``.gitignore``, whose
matcher is used. Unlike there, ``!`` does not negate a pattern, and a matching folder does not affect its content.
"""

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import read_bytes, real_path
from aggregate.base.disk.witnesses import note_tree
from aggregate.project.git.git_process import GitLimits, git
from aggregate.project.paths.ignore_rules import IgnoreRules, TooManyRulesError

ATTRIBUTE: Final = "linguist-generated"
_WORDS: Final = re.compile(r"[^ \t\r]+")
_NAME: Final = ".gitattributes"
_BOM: Final = b"\xef\xbb\xbf"


def list_files(folder: str) -> list[str] | None:
    tracked = tracked_files(folder)
    if tracked is None:
        return None
    note_tree(folder)
    limits = GitLimits.for_rules(tracked=len(tracked))
    others = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=limits, tells_stop=True
    )
    is_root = Path(folder, ".git", "HEAD").is_file()  # its own rules cannot ignore the root
    # By full path: for ".", git reports even the empty rule "/" as a match.
    if others is None or (not is_root and ignores(folder, real_path(folder))):
        return None
    # Git lists conflicts three times, and a nested repository as a folder. Its order is nearly sorted already.
    untracked = (name.removesuffix("/") for name in names_in(others))
    return list(dict.fromkeys(sorted([*tracked, *untracked])))


def ignores(folder: str, path: str) -> bool:
    return git(folder, "check-ignore", "-q", path, limits=GitLimits.for_rules()) is not None


def tracked_files(folder: str) -> list[str] | None:
    listed = git(folder, "ls-files", "-z", "--cached")
    return None if listed is None else names_in(listed)


def other_files(folder: str) -> list[str]:
    listed = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=GitLimits.for_rules()
    )
    return sorted(name for name in names_in(listed or b"") if not name.endswith("/"))


def without_filters(folder: str) -> list[str] | None:
    """Return options for git that disable all content filters, ``None`` if that is impossible."""
    keys = git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", may_say_no=True)
    filters = {key.rpartition(".")[0] for key in names_in(keys or b"")}
    if keys is None or any("=" in name for name in filters):
        return None
    options: list[str] = []
    for name in sorted(filters):
        for setting in ("clean=", "process=", "required=false"):
            options += ["-c", f"{name}.{setting}"]
    return options


def names_in(listed: bytes) -> list[str]:
    return [*filter(None, listed.decode("utf-8", "surrogateescape").split("\0"))]


def unignored(folder: Path, names: Iterable[str]) -> list[str]:
    try:
        lines = read_bytes(folder / ".gitignore").decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        lines = []
    rules = IgnoreRules().below("", lines)
    unnamed = [name for name in names if not rules.ignores(name, is_folder=True)]
    return [name for name in unnamed if not ignores(str(folder), f"{name}/")]


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
