"""Translate globs on relative paths to regular expressions.

The expressions run in linear time. ``*`` and ``?`` stay within one name, ``**`` spans folders (also none), ``[...]`` is
a class, ``{a,b}`` are alternatives. Names with a leading dot match like others.

A plain translation of ``*a*a*a*a*b`` backtracks exponentially. But the text between two stars has a fixed length, so
its first match is as good as any later one, since it leaves most for the rest; likewise for folders between two
``**``. Atomic groups express this.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

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


MOST_CHARACTERS = 4096  # of a pattern; no path is longer
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
