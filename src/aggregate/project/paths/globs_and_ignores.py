"""Translate globs to regular expressions, and apply nested ``.gitignore`` files like git.

The expressions run in linear time. ``*`` and ``?`` stay within one name, ``**`` spans folders (also none), ``[...]`` is
a class, ``{a,b}`` are alternatives. Names with a leading dot match like others.

A plain translation of ``*a*a*a*a*b`` backtracks exponentially. But the text between two stars has a fixed length, so
its first match is as good as any later one, since it leaves most for the rest; likewise for folders between two
``**``. Atomic groups express this.

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
from typing import Final, NamedTuple

# An expression for one character of a name; None for a star.
Token = str | None
_FOLDERS = "(?:[^/]+/)*"


def name_expression(alternatives: Sequence[Sequence[Token]]) -> str:
    """Return a regular expression for one part of a path; ``alternatives`` are globs."""
    expressions = [_with_stars(tokens) for tokens in alternatives]
    return expressions[0] if len(expressions) == 1 else f"(?:{'|'.join(expressions)})"


def path_expression(names: Sequence[str | None]) -> str:
    sections: list[list[str]] = [[]]
    for name in names:
        if name is not None:
            sections[-1].append(name)
        elif len(sections) == 1 or sections[-1]:
            sections.append([])
    first, *between = sections
    last = between.pop() if between else None
    expression = "".join(map(_folder, first)) if last is not None else _ending(first)
    expression += "".join(f"(?>{_FOLDERS}?{''.join(map(_folder, section))})" for section in between)
    if last is not None:
        expression += _FOLDERS + _ending(last) if last else "(?:.+)"
    return expression + r"\Z"


def _ending(section: Sequence[str]) -> str:
    return "".join(map(_folder, section[:-1])) + "".join(section[-1:])


def _folder(name: str) -> str:
    return f"(?>{name}/)" if "|" in name else f"{name}/"


def _with_stars(tokens: Sequence[Token]) -> str:
    runs = [""]
    for token in tokens:
        if token is not None:
            runs[-1] += token
        elif len(runs) == 1 or runs[-1]:  # several stars in a row are one
            runs.append("")
    first, *between = runs
    last = f"[^/]*{between.pop()}" if between else ""
    return first + "".join(f"(?>[^/]*?{run})" for run in between) + last


MOST_CHARACTERS = 4096  # of a pattern or rule; no path is longer
# Of one name: ``{a,b}{c,d}`` has four. They multiply, so a short pattern could have millions.
MOST_ALTERNATIVES = 1000
_MAGIC = re.compile(r"[*?\[{]")


def is_glob(entry: str) -> bool:
    return _MAGIC.search(entry) is not None


def split_root(entry: str) -> tuple[str, str]:
    """Split a glob into the folder before the first wildcard and the rest: ``("src", "*.py")``."""
    parts = entry.split("/")
    fixed = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts) - 1)
    root = "/".join(parts[:fixed])
    return root or ("/" if entry.startswith("/") else "."), "/".join(parts[fixed:])


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob to a regular expression for whole paths; an invalid class is plain text."""
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(
            f"the pattern has {len(pattern):,} characters, the limit is {MOST_CHARACTERS:,}"
        )
    names: list[str | None] = []
    for part in pattern.split("/"):
        if part == "**":
            names.append(None)
        elif part not in ("", "."):
            alternatives = _alternatives(part)
            if not alternatives:
                return _plain(pattern)
            names.append(name_expression(alternatives))
    try:
        return re.compile(path_expression(names), re.DOTALL)
    except re.error:
        return _plain(pattern)


def _plain(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern) + r"\Z")


def _alternatives(part: str) -> list[list[Token]]:
    # For each open brace (the outermost is the name): complete alternatives, and variants of the current one.
    braces: list[tuple[list[list[Token]], list[list[Token]]]] = [([], [[]])]
    i = 0
    while i < len(part):
        char = part[i]
        i += 1
        complete, current = braces[-1]
        if char == "[" and (end := part.find("]", i + 1 + (part[i : i + 1] == "!"))) > 0:
            _extend(current, _class(part[i:end]))
            i = end + 1
        elif char == "{" and "}" in part[i:]:
            braces.append(([], [[]]))
        elif char == "}" and len(braces) > 1:
            braces.pop()
            variants, alternatives = braces[-1][1], complete + current
            if len(variants) * len(alternatives) > MOST_ALTERNATIVES:
                raise ValueError(
                    f"the pattern has more than {MOST_ALTERNATIVES:,} alternatives: write several patterns"
                )
            variants[:] = [start + end for start in variants for end in alternatives]
        elif char == "," and len(braces) > 1:
            complete += current
            braces[-1] = (complete, [[]])
        elif char == "*":
            _extend(current, None)
        else:
            _extend(current, "[^/]" if char == "?" else re.escape(char))
    return braces[0][1] if len(braces) == 1 else []


def _extend(variants: list[list[Token]], token: Token) -> None:
    for variant in variants:
        variant.append(token)


def _class(text: str) -> str:
    """Return a regular expression for a class ``[...]`` of a glob; it never matches a slash."""
    body = text.replace("\\", r"\\").replace("[", r"\[")
    for pair in ("&&", "~~", "--", "||"):  # reserved by Python for set operations
        body = body.replace(pair, f"{pair[0]}\\{pair[1]}")
    negated = body[:1] in ("!", "^")
    return f"[{'^/' if negated else ''}{body[1:] if negated else body}]"


_WILD: Final = re.compile(r"[*?/]")


def matching(paths: Sequence[str], pattern: str) -> list[str]:
    """Return the paths that a glob matches.

    Most are ruled out by a literal part of the pattern, in a tenth of the time of a match.
    """
    matches = compile_glob(pattern).match
    literal = "" if "[" in pattern or "{" in pattern else max(_WILD.split(pattern), key=len)
    return [path for path in paths if literal in path and matches(path)]


MOST_LINES = 50_000  # of one file; real ones have hundreds
# Rules with wildcards (except ``*.suffix``) for one folder: each is matched with each file.
MOST_PATTERNS = 2000
_TRAILING_SPACES = re.compile(r"((?:[^\\ ]|\\.| +(?=[^ ]))*) *\Z", re.DOTALL)
_TO = r"(?>(?:-(?:\\.|[^\]\\]))?)"  # the rest of a range
_CLASS = re.compile(
    rf"\[[!^]?+(?>\[:[^\]]*:\]|(?:\\.|[^\\]){_TO})(?>(?>\[:[^\]]*:\]|(?:\\.|[^\]\\]){_TO})*)\]",
    re.DOTALL,
)
_CLASS_PART = re.compile(r"\[:([^\]]*:)\]|(\\.|[^\\])(?:-(\\.|[^\]\\]))?", re.DOTALL)
_STARS = re.compile(r"\*+")
_WILD_IN_RULE = re.compile(r"[*?\[\\]")
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
    if _WILD_IN_RULE.search(pattern) is None:
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
            expression = _class_of_rule(in_brackets[0]) if in_brackets else _NEVER
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


def _class_of_rule(text: str) -> str:
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
