"""Regular expressions for patterns with stars, whose time grows no faster than the path and the pattern.

A plain translation tries every way in which many stars can share a name, which never ends for ``*a*a*a*a*b``. But what
stands between two stars has a fixed length, so the first place where it fits is as good as any other (it leaves the
most for what follows), and so is the first place of the folders between two ``**``. Atomic groups say just that.
"""

from collections.abc import Sequence

Token = str | None
"""An expression for one character of a name, ``None`` for a star: any characters but a slash."""
_FOLDERS = "(?:[^/]+/)*"


def name_expression(alternatives: Sequence[Sequence[Token]]) -> str:
    """Return the expression for one name of a path, given the ways to write it.

    It must be followed by a slash or the end.
    """
    expressions = [_with_stars(tokens) for tokens in alternatives]
    return expressions[0] if len(expressions) == 1 else f"(?:{'|'.join(expressions)})"


def path_expression(names: Sequence[str | None]) -> str:
    """Return the expression for a whole path from those of its names; ``None`` stands for any folders, also none.

    At the end ``None`` stands for all that lies below.
    """
    sections: list[list[str]] = [[]]
    for name in names:
        if name is not None:
            # Atomic: which of a name's alternatives has matched makes no difference to what follows the slash.
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
    """Return the expression for one way to write a name."""
    runs = [""]
    for token in tokens:
        if token is not None:
            runs[-1] += token
        elif len(runs) == 1 or runs[-1]:  # several stars in a row are one
            runs.append("")
    first, *between = runs
    if not between:
        return first
    last = between.pop()
    return first + "".join(f"(?>[^/]*?{run})" for run in between) + "[^/]*" + last
