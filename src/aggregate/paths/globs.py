"""Glob patterns on relative paths.

``*`` and ``?`` stay within one name, ``**`` spans folders (also none), ``[...]`` is a class, ``{a,b}`` are
alternatives. Names that begin with a dot are matched like any others.
"""

import re
from functools import lru_cache

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
    """Return the regular expression that matches whole paths as ``pattern`` does; an invalid class is plain text."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    expression = ""
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if part == "**":
            expression += "(?:.+)" if last else "(?:[^/]+/)*"
        else:
            expression += _translate(part) + ("" if last else "/")
    try:
        return re.compile(expression + r"\Z", re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")


def _translate(part: str) -> str:
    """Return the expression for one name of a pattern."""
    out, i, depth = "", 0, 0
    while i < len(part):
        char = part[i]
        i += 1
        if char == "*":
            out += "" if out.endswith("[^/]*") else "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := part.find("]", i + 1 + (part[i : i + 1] == "!"))) > 0:
            body = part[i:end].replace("\\", r"\\").replace("[", r"\[").replace("&&", r"&\&").replace("~~", r"~\~")
            negated = body[:1] in ("!", "^")
            out += f"[{'^/' if negated else ''}{body[1:] if negated else body}]"
            i = end + 1
        elif char == "{" and "}" in part[i:]:
            out, depth = out + "(?:", depth + 1
        elif char == "}" and depth:
            out, depth = out + ")", depth - 1
        elif char == "," and depth:
            out += "|"
        else:
            out += re.escape(char)
    return out
