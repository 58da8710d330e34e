"""Apply nested ``.gitignore`` files like git.

A rule matches a path itself, not its parents: check these first, from the top down, since files below an ignored folder
cannot be re-included. Names are compared byte by byte. The syntax is that of https://git-scm.com/docs/gitignore; lines
without effect (``!``, an unclosed class) are not errors.

The library pathspec (1.1.1) differs from git: ``!dir/f`` re-includes a file although ``dir`` is ignored, and
``[[:alpha:]]`` is unsupported.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from aggregate.project.paths.globs import Token, name_expression, path_expression

MOST_LINES = 50_000  # of one file; real ones have hundreds
# Rules with wildcards (except ``*.suffix``) for one folder: each is matched with each file.
MOST_PATTERNS = 2000
MOST_CHARACTERS = 4096  # of one rule; no path is longer
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
    """An ignore file has too many or too long rules."""


class _IgnoreRule(NamedTuple):
    expression: str  # only without ``text`` and ``suffix``
    is_negated: bool  # re-includes instead of ignoring
    folders_only: bool
    anywhere: bool  # matches a name in any folder, not a path
    text: str | None = None  # of a rule without wildcards
    suffix: str | None = None  # of a rule such as ``*.py``


# Number of the last rule by key, for files and for folders.
_Numbers = dict[str, tuple[int, int]]
_NONE = (-1, -1)


class _Patterns:
    """Rules in order, with a combined regular expression.

    The expression rules out most paths without a match at once.
    """

    def __init__(self, rules: list[tuple[int, _IgnoreRule]]) -> None:
        self._rules = rules

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{rule.expression})" for _, rule in self._rules), re.DOTALL)

    def last(self, text: str, *, is_folder: bool, above: int) -> int:
        """Return the number of the last matching rule, at least ``above``."""
        if self._rules and self._any.match(text):
            for number, rule in reversed(self._rules):
                if number <= above:
                    break
                if (is_folder or not rule.folders_only) and _compiled(rule.expression).match(text):
                    return number
        return above


class _Level:
    """The rules of one ignore file, and their folder.

    ``prefix`` is that folder: ``""`` or ``a/b/``.
    """

    def __init__(self, prefix: str, rules: list[_IgnoreRule]) -> None:
        self._prefix = len(prefix)
        self._is_negated = [rule.is_negated for rule in rules]
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
        return None if last < 0 else not self._is_negated[last]


def _add(numbers: _Numbers, key: str, number: int, rule: _IgnoreRule) -> None:
    last_for_files, _ = numbers.get(key, _NONE)
    numbers[key] = (last_for_files if rule.folders_only else number, number)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in a folder.

    They are ordered from the outermost ignore file to the innermost. Deeper files win, and within a file the last
    matching line. Files below an ignored folder cannot be re-included, so a walk must not enter it.
    """

    levels: tuple[_Level, ...] = ()

    def __len__(self) -> int:
        return sum(level.size for level in self.levels)

    def below(self, prefix: str, lines: Sequence[str]) -> "IgnoreRules":
        """Return these rules and those of an ignore file in the folder ``prefix`` (``""`` or ``a/b/``)."""
        if len(lines) > MOST_LINES:
            raise TooManyRulesError(f"has {len(lines):,} ignore rules, the limit is {MOST_LINES:,}")
        if (longest := max(map(len, lines), default=0)) > MOST_CHARACTERS:
            raise TooManyRulesError(
                f"has an ignore rule of {longest:,} characters, the limit is {MOST_CHARACTERS:,}"
            )
        rules = [rule for line in lines if (rule := _parse(line)) is not None]
        if not rules:
            return self
        level = _Level(prefix, rules)
        patterns = level.patterns + sum(above.patterns for above in self.levels)
        if patterns > MOST_PATTERNS:
            raise TooManyRulesError(
                f"has {patterns:,} ignore rules with wildcards, the limit is {MOST_PATTERNS:,}"
            )
        return IgnoreRules((*self.levels, level))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        for level in reversed(self.levels):
            decision = level.decide(path, is_folder=is_folder)
            if decision is not None:
                return decision
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
    is_negated = pattern.startswith("!")
    pattern = pattern[is_negated:]
    folders_only = pattern.endswith("/")
    pattern = pattern[: len(pattern) - folders_only]
    if not pattern:
        return None
    anywhere = "/" not in pattern
    pattern = pattern.removeprefix("/")
    if _WILD.search(pattern) is None:
        return _IgnoreRule("", is_negated, folders_only, anywhere, text=pattern)
    if anywhere and _SUFFIX.fullmatch(pattern):
        return _IgnoreRule("", is_negated, folders_only, anywhere, suffix=pattern[2:])
    names = _names(pattern)
    if names is None:
        return None
    expression = path_expression(
        [None if name is None else name_expression([name]) for name in names]
    )
    return _IgnoreRule(expression, is_negated, folders_only, anywhere)


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
        else:  # one character, or a reversed range
            members += re.escape(low)
    return f"(?!/)[{'^' if negated else ''}{members}]"


def _bytewise(text: str) -> str:
    return text if text.isascii() else text.encode(errors="surrogateescape").decode("latin-1")
