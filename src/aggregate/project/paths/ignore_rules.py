"""The rules of nested ``.gitignore`` files, as git itself applies them.

A rule is matched against a path itself, never against the folders around it: those are asked about on their own, from
the top down, and what stands below an ignored one cannot be taken back. Names are compared byte by byte. The syntax is
that of https://git-scm.com/docs/gitignore; lines that can match nothing (``!``, an unclosed class) are no error.

The matcher is our own because pathspec (1.1.1) answers otherwise than git: it takes ``!dir/f`` back although ``dir`` is
ignored, and knows no ``[[:alpha:]]``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

from aggregate.project.paths.globs import Token, name_expression, path_expression

MOST_LINES = 50_000  # Of one file: real ones have hundreds
# Rules in force at one place that have wildcards, ``*.suffix`` not counted: each is tried on each file.
MOST_PATTERNS = 2000
MOST_CHARACTERS = 4096  # Of one rule; no path is longer

_TRAILING_SPACES = re.compile(r"((?:[^\\ ]|\\.| +(?=[^ ]))*) *\Z", re.DOTALL)
_TO = r"(?>(?:-(?:\\.|[^\]\\]))?)"  # the rest of a range
_CLASS = re.compile(
    rf"\[[!^]?+(?>\[:[^\]]*:\]|(?:\\.|[^\\]){_TO})(?>(?>\[:[^\]]*:\]|(?:\\.|[^\]\\]){_TO})*)\]",
    re.DOTALL,
)
_CLASS_PART = re.compile(r"\[:([^\]]*:)\]|(\\.|[^\\])(?:-(\\.|[^\]\\]))?", re.DOTALL)
_STARS = re.compile(r"\*+")
_WILD = re.compile(r"[*?\[\\]")
_SUFFIX = re.compile(r"\*\.[^*?\[\\.]+", re.DOTALL)
_NEVER = r"(?!)"
_NAMED = {
    "alnum:": "0-9A-Za-z", "alpha:": "A-Za-z", "blank:": r"\ \t", "cntrl:": r"\x00-\x1f\x7f", "digit:": "0-9",
    "graph:": "!-~", "lower:": "a-z", "print:": r"\ -~", "punct:": r"!-/:-@\[-`{-~", "space:": r"\ \t-\r",
    "upper:": "A-Z", "xdigit:": "0-9A-Fa-f",
}  # fmt: skip


class TooManyRulesError(ValueError):
    """There are more rules than are ever needed; the message says how many are allowed."""


class _IgnoreRule(NamedTuple):
    """One line: what it matches, whether it takes back instead of ignoring, whether it is about folders only.

    A rule ``anywhere`` is about a name in whatever folder, others about paths. ``text`` is set for a rule without
    wildcards, ``suffix`` for one such as ``*.py``; only the others need their expression.
    """

    expression: str
    takes_back: bool
    folders_only: bool
    anywhere: bool
    text: str | None = None
    suffix: str | None = None


# Of rules that are found by a key: the number of the last one, for files and for folders.
_Numbers = dict[str, tuple[int, int]]
_NONE = (-1, -1)


class _Patterns:
    """Rules that need an expression, in order, and one expression that tells whether any of them can match."""

    def __init__(self, rules: list[tuple[int, _IgnoreRule]]) -> None:
        self._rules = rules

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{rule.expression})" for _, rule in self._rules), re.DOTALL)

    def last(self, text: str, *, is_folder: bool, above: int) -> int:
        """Return the number of the last rule that matches, if it is higher than ``above``, else ``above``."""
        if self._rules and self._any.match(text):
            for number, rule in reversed(self._rules):
                if number <= above:
                    break
                if (is_folder or not rule.folders_only) and _compiled(rule.expression).match(text):
                    return number
        return above


class _Level:
    """The rules of one file, which lies in the folder ``prefix`` (``""`` or ``a/b/``)."""

    def __init__(self, prefix: str, rules: list[_IgnoreRule]) -> None:
        self._prefix = len(prefix)
        self._takes_back = [rule.takes_back for rule in rules]
        self._names: _Numbers = {}
        self._paths: _Numbers = {}
        self._suffixes: _Numbers = {}
        patterns: tuple[list[tuple[int, _IgnoreRule]], list[tuple[int, _IgnoreRule]]] = ([], [])
        for number, rule in enumerate(rules):
            if rule.suffix is not None:
                _add(self._suffixes, rule.suffix, number, rule)
            elif rule.text is not None:
                _add(self._names if rule.anywhere else self._paths, rule.text, number, rule)
            else:
                patterns[rule.anywhere].append((number, rule))
        self._path_patterns, self._name_patterns = map(_Patterns, patterns)
        self.size = len(rules)
        self.patterns = sum(map(len, patterns))

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        relative = _bytewise(path[self._prefix :])
        name = relative[relative.rfind("/") + 1 :]
        last = self._names.get(name, _NONE)[is_folder]
        if self._paths:
            last = max(last, self._paths.get(relative, _NONE)[is_folder])
        if self._suffixes and (dot := name.rfind(".")) >= 0:
            last = max(last, self._suffixes.get(name[dot + 1 :], _NONE)[is_folder])
        last = self._name_patterns.last(name, is_folder=is_folder, above=last)
        last = self._path_patterns.last(relative, is_folder=is_folder, above=last)
        return None if last < 0 else not self._takes_back[last]


def _add(numbers: _Numbers, key: str, number: int, rule: _IgnoreRule) -> None:
    last_for_files, _ = numbers.get(key, _NONE)
    numbers[key] = (last_for_files if rule.folders_only else number, number)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in one folder, from the outermost file to the innermost.

    A deeper file wins over a higher one, and within a file the last matching line wins. What stands below an ignored
    folder cannot be re-included, so a walk must not enter one.
    """

    levels: tuple[_Level, ...] = ()

    def __len__(self) -> int:
        return sum(level.size for level in self.levels)

    def below(self, prefix: str, lines: Sequence[str]) -> "IgnoreRules":
        """Return the rules with those of one more file, which lies in the folder ``prefix`` (``""`` or ``a/b/``)."""
        if len(lines) > MOST_LINES:
            raise TooManyRulesError(f"has {len(lines):,} ignore rules, the most is {MOST_LINES:,}")
        if (longest := max(map(len, lines), default=0)) > MOST_CHARACTERS:
            raise TooManyRulesError(
                f"has an ignore rule of {longest:,} characters, the most is {MOST_CHARACTERS:,}"
            )
        rules = [rule for line in lines if (rule := _parse(line)) is not None]
        if not rules:
            return self
        level = _Level(prefix, rules)
        patterns = level.patterns + sum(above.patterns for above in self.levels)
        if patterns > MOST_PATTERNS:
            raise TooManyRulesError(
                f"has {patterns:,} ignore rules with wildcards, the most is {MOST_PATTERNS:,}"
            )
        return IgnoreRules((*self.levels, level))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        for level in reversed(self.levels):
            decided = level.decide(path, is_folder=is_folder)
            if decided is not None:
                return decided
        return False

    def hides(self, path: str) -> bool:
        return self.ignores(path, is_folder=False) or self.hides_folder(path.rpartition("/")[0])

    def hides_folder(self, path: str) -> bool:
        folders = (path[:at] for at, char in enumerate(f"{path}/") if char == "/")
        return any(self.ignores(folder, is_folder=True) for folder in folders if folder)


def _parse(line: str) -> _IgnoreRule | None:
    if line.startswith("#"):
        return None
    trimmed = _TRAILING_SPACES.match(_bytewise(line.removesuffix("\r")))
    pattern = trimmed[1] if trimmed else line
    takes_back = pattern.startswith("!")
    pattern = pattern[takes_back:]
    folders_only = pattern.endswith("/")
    pattern = pattern[: len(pattern) - folders_only]
    if not pattern:
        return None
    anywhere = "/" not in pattern
    pattern = pattern.removeprefix("/")
    if _WILD.search(pattern) is None:
        return _IgnoreRule("", takes_back, folders_only, anywhere, text=pattern)
    if anywhere and _SUFFIX.fullmatch(pattern):
        return _IgnoreRule("", takes_back, folders_only, anywhere, suffix=pattern[2:])
    names = _names(pattern)
    if names is None:
        return None
    expression = path_expression(
        [None if name is None else name_expression([name]) for name in names]
    )
    return _IgnoreRule(expression, takes_back, folders_only, anywhere)


def _names(pattern: str) -> list[list[Token] | None] | None:
    names: list[list[Token] | None] = [[]]
    i = 0
    while i < len(pattern):
        char = pattern[i]
        expression: Token = None
        if char == "*":
            stars = _STARS.match(pattern, i)
            end = stars.end() if stars else i + 1
            if (
                end - i > 1
                and pattern[i - 1 : i] in ("", "/")
                and pattern[end : end + 1] in ("", "/")
            ):
                names[-1] = None
                if end < len(pattern):
                    names.append([])
                i = end + 1
                continue
            i = end
        elif char == "[":
            in_brackets = _CLASS.match(pattern, i)
            expression = _class(in_brackets[0]) if in_brackets else _NEVER
            i = in_brackets.end() if in_brackets else len(pattern)
        elif char == "\\":
            escaped = pattern[i + 1 : i + 2]
            expression = re.escape(escaped) if escaped else _NEVER
            i += 2
        else:
            expression = "[^/]" if char == "?" else re.escape(char)
            i += 1
        if expression == _NEVER:
            return None
        if expression == "/":
            names.append([])
        elif (last := names[-1]) is not None:
            last.append(expression)
    return names


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL)


def _class(text: str) -> str:
    negated = text[1] in "!^"
    members = ""
    for name, first, last in _CLASS_PART.findall(text[1 + negated : -1]):
        low, high = first[-1:], last[-1:]
        if name:
            if name not in _NAMED:
                return _NEVER
            members += _NAMED[name]
        elif low < high:
            members += f"{re.escape(low)}-{re.escape(high)}"
        else:  # one character; so is a range that runs backwards
            members += re.escape(low)
    return f"(?!/)[{'^' if negated else ''}{members}]"


def _bytewise(text: str) -> str:
    return text if text.isascii() else text.encode(errors="surrogateescape").decode("latin-1")


# Names of folders, as patterns of ``.gitignore``.
_FOLDERS: Final = (
    # dependencies
    "node_modules", "bower_components", "jspm_packages", "venv", ".venv", "virtualenv", "site-packages", "Pods",
    ".bundle", ".yarn", ".pnpm-store", "elm-stuff", ".eggs", "*.egg-info",
    # outputs
    "build", "_build", "dist", "target", "htmlcov", "DerivedData", ".next", ".nuxt", ".svelte-kit", ".output",
    ".dart_tool", ".gradle", ".build", ".terraform", "cmake-build-*",
    # caches
    "__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".turbo",
    ".parcel-cache", ".ipynb_checkpoints", ".sass-cache",
    # other version control
    ".hg", ".svn", ".bzr", ".jj",
)  # fmt: skip
# Files that mark a folder as a Python environment, and as a cache (https://bford.info/cachedir/).
MARKERS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


@cache
def dependency_rules() -> IgnoreRules:
    """Return the rules that ignore folders of these names, as a ``.gitignore`` above all others would."""
    return IgnoreRules().below("", [f"{name}/" for name in _FOLDERS])
