"""The rules of nested ``.gitignore`` files, as git itself applies them.

A rule is matched against a path itself, never against the folders around it: those are asked about on their own, from
the top down, and what stands below an ignored one cannot be taken back. Names are compared byte by byte. The syntax is
that of https://git-scm.com/docs/gitignore; lines that can match nothing (``!``, an unclosed class) are no error.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

_TRAILING_SPACES = re.compile(r"((?:[^\\ ]|\\.| +(?=[^ ]))*) *\Z", re.DOTALL)
_TO = r"(?:-(?:\\.|[^\]\\]))?+"  # the rest of a range
_CLASS = re.compile(rf"\[[!^]?+(?>\[:[^\]]*:\]|(?:\\.|[^\\]){_TO})(?>\[:[^\]]*:\]|(?:\\.|[^\]\\]){_TO})*+\]", re.DOTALL)
_CLASS_PART = re.compile(r"\[:([^\]]*:)\]|(\\.|[^\\])(?:-(\\.|[^\]\\]))?", re.DOTALL)
_STARS = re.compile(r"\*+")
_NEVER = r"(?!)"
_NAMED = {
    "alnum:": "0-9A-Za-z",
    "alpha:": "A-Za-z",
    "blank:": r"\ \t",
    "cntrl:": r"\x00-\x1f\x7f",
    "digit:": "0-9",
    "graph:": "!-~",
    "lower:": "a-z",
    "print:": r"\ -~",
    "punct:": r"!-/:-@\[-`{-~",
    "space:": r"\ \t-\r",
    "upper:": "A-Z",
    "xdigit:": "0-9A-Fa-f",
}


class _Rule(NamedTuple):
    """One line: what it matches, whether it takes back instead of ignoring, whether it is about folders only."""

    expression: re.Pattern[str]
    takes_back: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class _Level:
    """The rules of one file, which lies in the folder ``prefix`` (``""`` or ``a/b/``)."""

    prefix: str
    rules: tuple[_Rule, ...]
    any_rule: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        joined = "|".join(f"(?:{rule.expression.pattern})" for rule in self.rules)
        object.__setattr__(self, "any_rule", re.compile(joined or _NEVER, re.DOTALL))

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Return what the last matching line says, ``None`` where no line matches."""
        name = _bytewise(path[len(self.prefix) :])
        if self.any_rule.match(name):
            for rule in reversed(self.rules):
                if (is_folder or not rule.folders_only) and rule.expression.match(name):
                    return not rule.takes_back
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in one folder, from the outermost file to the innermost.

    A deeper file wins over a higher one, and within a file the last matching line wins. What stands below an ignored
    folder cannot be re-included, so a walk must not enter one.
    """

    levels: tuple[_Level, ...] = ()

    def below(self, prefix: str, lines: Iterable[str]) -> "IgnoreRules":
        """Return the rules with those of one more file, which lies in the folder ``prefix`` (``""`` or ``a/b/``)."""
        rules = tuple(rule for line in lines if (rule := _parse(line)) is not None)
        return IgnoreRules((*self.levels, _Level(prefix, rules))) if rules else self

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether ``path``, relative to the outermost folder, is ignored; the folders around it are not asked."""
        for level in reversed(self.levels):
            decided = level.decide(path, is_folder=is_folder)
            if decided is not None:
                return decided
        return False

    def hides(self, path: str) -> bool:
        """Tell whether the file at ``path`` or a folder around it is ignored."""
        folders = (path[:at] for at, char in enumerate(path) if char == "/")
        return any(self.ignores(one, is_folder=True) for one in folders if one) or self.ignores(path, is_folder=False)


def _parse(line: str) -> _Rule | None:
    """Return the rule on one line, ``None`` for a comment or an empty line."""
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
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    body = _translate(pattern.removeprefix("/"))
    return _Rule(re.compile(rf"{anywhere}{body}\Z", re.DOTALL), takes_back, folders_only)


def _translate(pattern: str) -> str:
    """Return the regular expression for a pattern."""
    out, i = "", 0
    while i < len(pattern):
        char = pattern[i]
        if char == "*":
            stars = _STARS.match(pattern, i)
            end = stars.end() if stars else i + 1
            spans = end - i > 1 and pattern[i - 1 : i] in ("", "/") and pattern[end : end + 1] in ("", "/")
            if spans and end < len(pattern):
                out, i = f"{out}(?:.*/)?", end + 1
            else:
                out, i = out + (".*" if spans else "[^/]*"), end
        elif char == "[":
            found = _CLASS.match(pattern, i)
            if found is None:
                return _NEVER
            out, i = out + _class(found[0]), found.end()
        elif char == "\\":
            if i + 1 == len(pattern):
                return _NEVER
            out, i = out + re.escape(pattern[i + 1]), i + 2
        else:
            out, i = out + ("[^/]" if char == "?" else re.escape(char)), i + 1
    return out


def _class(text: str) -> str:
    """Return the regular expression for a class such as ``[!a-z[:digit:]]``; it never matches a slash."""
    negated = text[1] in "!^"
    members = ""
    for name, first, last in _CLASS_PART.findall(text[1 + negated : -1]):
        low, high = first[-1:], last[-1:]
        if name and name not in _NAMED:
            return _NEVER
        if name:
            members += _NAMED[name]
        elif low < high:
            members += f"{re.escape(low)}-{re.escape(high)}"
        else:  # one character; so is a range that runs backwards
            members += re.escape(low)
    return f"(?!/)[{'^' if negated else ''}{members}]"


def _bytewise(text: str) -> str:
    """Return ``text`` with a character for each byte of its UTF-8 form."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode("latin-1")
