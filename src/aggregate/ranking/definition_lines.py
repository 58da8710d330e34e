"""The name of a definition from the line that it begins with, in any language."""

import re
from typing import Final

_LONGEST_LINE: Final = 300
"""Characters that are looked at; git tells the first 80."""
_NAME: Final = r"[^\W\d][\w$]*+(?>(?:(?:::|\.|\#)~?[^\W\d][\w$]*+)*)[!?]?"
_BY_WORD: Final = re.compile(
    r"(?:^|[\s(])(?:class|def|defp|defmodule|defmacro|func|fn|fun|function\*?|struct|trait|interface|enum|record|module"
    r"|namespace|object|protocol|extension|mod|union|macro_rules!|sub|package|procedure|type|macro)\s++"
    rf"(?:\([^()]*+\)\s*+)?(?:self\.)?(?P<name>{_NAME})(?![\s*&]++\w++\()"
)
"""A word that languages define things by, and the receiver of a method of Go; no ``struct a *f()`` of C."""
_VARIABLE: Final = re.compile(
    rf"(?:^|\s)(?:const|let|var|val)\s++(?P<name>{_NAME})\s*+(?::[^=]*+)?="
)
_IMPLEMENTATION: Final = re.compile(
    rf"\bimpl\b\s*+(?:<[^<>]*+>)?\s*+(?:(?:[\w:]++(?:<[^<>]*+>)?)\s++for\s++)?&?(?P<name>{_NAME})"
)
_CALLED: Final = re.compile(rf"(?P<name>~?{_NAME})\s*+(?:<[^<>()]*+>)?\(")
_ASSIGNED: Final = re.compile(rf"(?P<name>{_NAME})\s*+(?::[^=]*+)?=")
_HEADING: Final = re.compile(r"#{1,6}\s++(?P<name>\S.*)")
_NO_NAMES: Final = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "with", "elif", "else", "match", "sizeof"}
)


def definition_name(line: str) -> str:
    """Return the name that ``line`` defines, such as ``send`` of ``async def send(self, request)``; ``""`` for none."""
    line = line[:_LONGEST_LINE].strip()
    heading = _HEADING.match(line)
    if heading:
        return heading["name"].rstrip("# ")
    for pattern in (_IMPLEMENTATION, _BY_WORD, _VARIABLE, _CALLED, _ASSIGNED):
        for match in pattern.finditer(line):
            name = match["name"]
            if name not in _NO_NAMES:
                return name.replace("::", ".").replace("#", ".").lstrip("~")
    return ""
