"""Glob patterns on relative paths.

``*`` and ``?`` stay within one name, ``**`` spans folders (also none), ``[...]`` is a class, ``{a,b}`` are
alternatives. Names that begin with a dot are matched like any others.
"""

import re
from functools import lru_cache

from aggregate.project.paths.wildcards import Token, name_expression, path_expression

MOST_CHARACTERS = 4096
"""Of a pattern; no path is longer."""
MOST_ALTERNATIVES = 1000
"""Of one name of a pattern: ``{a,b}{c,d}`` are four. They are multiplied, so a short pattern could have millions."""
_MAGIC = re.compile(r"[*?\[{]")


def is_glob(entry: str) -> bool:
    """Tell whether ``entry`` holds a wildcard."""
    return _MAGIC.search(entry) is not None


def split_root(entry: str) -> tuple[str, str]:
    """Split a glob into the folder it starts from and the pattern below it: ``src/*.py`` is ``("src", "*.py")``."""
    parts = entry.split("/")
    fixed = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts) - 1)
    root = "/".join(parts[:fixed])
    return root or ("/" if entry.startswith("/") else "."), "/".join(parts[fixed:])


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return the regular expression that matches whole paths as ``pattern`` does; an invalid class is plain text.

    The time it takes grows no faster than the path and the pattern.

    Raises:
        ValueError: The pattern is too long, or has too many alternatives.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(
            f"the pattern has {len(pattern):,} characters, the most is {MOST_CHARACTERS:,}"
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
    """Return the ways to write one name of a pattern, none where a brace stays open."""
    # Of each brace that is open, the outermost being the name itself: the alternatives that are complete, and the ways
    # to write the one that has begun.
    braces: list[tuple[list[list[Token]], list[list[Token]]]] = [([], [[]])]
    i = 0
    while i < len(part):
        char = part[i]
        i += 1
        complete, begun = braces[-1]
        if char == "[" and (end := part.find("]", i + 1 + (part[i : i + 1] == "!"))) > 0:
            _extend(begun, _class(part[i:end]))
            i = end + 1
        elif char == "{" and "}" in part[i:]:
            braces.append(([], [[]]))
        elif char == "}" and len(braces) > 1:
            braces.pop()
            _combine(braces[-1][1], complete + begun)
        elif char == "," and len(braces) > 1:
            complete += begun
            braces[-1] = (complete, [[]])
        else:
            _extend(begun, None if char == "*" else "[^/]" if char == "?" else re.escape(char))
    return braces[0][1] if len(braces) == 1 else []


def _extend(ways: list[list[Token]], token: Token) -> None:
    for way in ways:
        way.append(token)


def _combine(ways: list[list[Token]], alternatives: list[list[Token]]) -> None:
    """Let each of ``ways`` go on with each of the alternatives."""
    if len(ways) * len(alternatives) > MOST_ALTERNATIVES:
        raise ValueError(
            f"the pattern has more than {MOST_ALTERNATIVES:,} alternatives: write several patterns"
        )
    ways[:] = [way + alternative for way in ways for alternative in alternatives]


def _class(text: str) -> str:
    """Return the expression for what stands in the brackets of a class; it never matches a slash."""
    body = text.replace("\\", r"\\").replace("[", r"\[")
    for pair in ("&&", "~~", "--", "||"):  # reserved for operations on sets
        body = body.replace(pair, f"{pair[0]}\\{pair[1]}")
    negated = body[:1] in ("!", "^")
    return f"[{'^/' if negated else ''}{body[1:] if negated else body}]"
