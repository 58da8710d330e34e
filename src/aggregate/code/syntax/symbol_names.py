"""Names of symbols as languages write them."""

import re

_QUALIFIER = re.compile(r"::|\.")
_ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\b")
_CONVERSION = re.compile(r"^(operator\s+\w[^(]*?)\s*\(.*$")

_LONGEST = 2_000
"""Longer names are left as they are: the patterns above take the square of their length."""


def split_symbol(symbol: str) -> tuple[str, ...]:
    """Return the names in a symbol's path, written with ``.`` or ``::``."""
    return tuple(name for name in _QUALIFIER.split(symbol.strip()) if name)


def without_arguments(name: str) -> str:
    """Return a qualified name without type arguments, and a conversion operator's without its parameters."""
    if ("<" not in name and "(" not in name) or len(name) > _LONGEST:
        return name
    keyword = _OPERATOR.search(name)
    split = keyword.start() if keyword else len(name)
    head, operator = name[:split], name[split:]
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    return head + _CONVERSION.sub(r"\1", operator)
