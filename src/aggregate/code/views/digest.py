"""The lines of digests and outlines, for files with and without a grammar."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.languages import fence_tag

LINE_WIDTH = 160


class DigestRow(NamedTuple):
    """A digest's line, with the lines of the file described."""

    text: str
    first_line: int = 0
    last_line: int = 0


def shortened(line: str) -> str:
    return cut(line, LINE_WIDTH)


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith(("s", "x")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def more_row(number: int) -> str:
    return f"... and {number} more"


def byte_size(number: int) -> str:
    if number < 1_000:
        return counted(number, "byte")
    return f"{number / 1_000:.0f} KB" if number < 1_000_000 else f"{number / 1_000_000:,.1f} MB"


_AS_WRITTEN = frozenset({"block", "element", "heading", "instruction", "rule"})
_ITEM = {"array": "item"}


def document_row(definition: Definition, module: Module) -> str:
    if definition.kind in _AS_WRITTEN or definition.is_embedded_code:
        return shortened("  " * definition.depth + module.signature(definition))
    sizes: list[str] = []
    if definition.items is not None:
        sizes.append(counted(definition.items, _ITEM.get(definition.kind, "key")))
    lines = definition.last_line - definition.first_line + 1
    if lines > 1:
        sizes.append(counted(lines, "line"))
    return _key_row(definition, f" ({', '.join(sizes)})" if sizes else "")


def document_digest(module: Module, most: int) -> list[str]:
    """Return the keys or headings of a document.

    There are at most ``most`` lines; repeated keys share a line.
    """
    groups: dict[object, list[Definition]] = {}
    for definition in module.definitions:
        is_alone = definition.kind in _AS_WRITTEN or definition.is_embedded_code
        key = definition if is_alone else (definition.depth, definition.kind, definition.path)
        groups.setdefault(key, []).append(definition)
    repeats = {group[0]: len(group) for group in groups.values()}
    definitions, left_out = outermost(list(repeats), most)
    rows = [
        document_row(definition, module)
        if repeats[definition] == 1
        else _key_row(definition, f" × {repeats[definition]}")
        for definition in definitions
    ]
    return [*rows, more_row(left_out)] if left_out else rows


def outermost(definitions: Sequence[Definition], most: int) -> tuple[Sequence[Definition], int]:
    """Return at most ``most`` definitions, and count the omitted ones.

    The deepest are omitted first, then the last ones.
    """
    outer = definitions
    while len(outer) > most:
        deepest = max(definition.depth for definition in outer)
        if deepest == 0:
            break
        outer = [definition for definition in outer if definition.depth < deepest]
    outer = outer[:most]
    return outer, len(definitions) - len(outer)


def _key_row(definition: Definition, size: str) -> str:
    key = ": ".join([*definition.path[-1:], definition.kind])
    return shortened("  " * definition.depth + key) + size


_SAMPLE_LINES = 3
_LINE = re.compile(r"\S.*")
_MOST_LANDMARKS = 30  # a digest is read at a glance: half the rows of one with a grammar

# Lines with the structure of a file, by fence tag.
_LANDMARKS = {
    "cmake": r"^[ \t]*((?:project|add_executable|add_library|function|macro|find_package)[ \t]*\(.*)$",
    "diff": r"^((?:diff --git|\+\+\+) .*)$",
    "dockerfile": r"^((?i:FROM|ENTRYPOINT|CMD|EXPOSE|VOLUME|WORKDIR)[ \t].*)$",
    "elixir": r"^[ \t]*((?:defmodule|def|defp|defmacro)[ \t].*)$",
    "graphql": r"^((?:type|input|enum|interface|union|scalar|query|mutation|fragment|extend)[ \t].*)$",
    "haskell": r"^((?:module|data|newtype|class|instance|type)[ \t].*|\w+[ \t]*::.*)$",
    "hcl": r"^((?:resource|data|module|variable|output|provider|locals|terraform)\b.*)$",
    "ini": r"^[ \t]*(\[.+\])[ \t]*$",
    "kotlin": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|interface|object|fun)[ \t].*)$",
    "less": r"^([^ \t\r\n/*}].*\{)[ \t]*$",
    "lua": r"^[ \t]*((?:local[ \t]+)?function[ \t].*)$",
    "makefile": r"^([\w/%$(){}-][\w ./%$(){}-]*::?(?!=).*)$",
    "perl": r"^[ \t]*((?:package|sub)[ \t].*)$",
    "powershell": r"^[ \t]*((?i:function|class|enum)[ \t].*)$",
    "protobuf": r"^[ \t]*((?:package|message|service|enum|rpc)[ \t].*)$",
    "rst": r"^([^\s].*)\n(?:=+|-+|~+|\^+|\"+|\*+|#+|\++)[ \t]*$",
    "scala": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|trait|object|def)[ \t].*)$",
    "scss": r"^([^ \t\r\n/*}].*\{)[ \t]*$",
    "sql": r"^[ \t]*((?i:CREATE|ALTER|DROP)[ \t].*)$",
    "swift": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|struct|enum|protocol|extension|func)[ \t].*)$",
}


def plain_digest(path: str, text: str) -> list[str]:
    tag = fence_tag(path, text)
    pattern = _LANDMARKS.get(tag)
    matches = re.finditer(pattern, text, re.MULTILINE) if pattern else ()
    rows = [shortened(match[1].strip()) for match in matches]
    if rows:
        left_out = len(rows) - _MOST_LANDMARKS
        return [*rows[:_MOST_LANDMARKS], more_row(left_out)] if left_out > 0 else rows
    if PurePosixPath(path).suffix.lower() in ("", ".txt", ".rst"):
        return [counted(len(text.split()), "word"), *sample(text)]
    return sample(text)


def sample(text: str) -> list[str]:
    return [shortened(line[0].rstrip()) for line in islice(_LINE.finditer(text), _SAMPLE_LINES)]
