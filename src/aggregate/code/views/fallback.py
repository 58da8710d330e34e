"""What can be said of a text without a grammar."""

import re
from itertools import islice
from pathlib import PurePosixPath

from aggregate.code.syntax.languages import fence_tag
from aggregate.code.views.labels import counted, more_row, shortened

_SAMPLE_LINES = 3
_MOST_LANDMARKS = 30
"""A digest is read at a glance: half the rows of one with a grammar."""

# Lines that tell how a file is built, by fence tag.
_LANDMARKS = {
    tag: re.compile(pattern, re.MULTILINE)
    for tag, pattern in {
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
    }.items()
}


def plain_digest(path: str, text: str) -> list[str]:
    """Return a few lines about the text of a file without a grammar.

    Kinds of file with landmarks (sections, statements, targets) give these, all others the
    number of their words; the first lines stand for the rest.
    """
    tag = fence_tag(path, text)
    landmarks = _landmarks(tag, text)
    if landmarks:
        return landmarks
    if PurePosixPath(path).suffix.lower() in ("", ".txt", ".rst"):
        return [counted(len(text.split()), "word"), *sample(text)]
    return sample(text)


def sample(text: str) -> list[str]:
    """Return the first lines that say something."""
    lines = (line.strip() for line in text.split("\n"))
    return [shortened(line) for line in islice(filter(None, lines), _SAMPLE_LINES)]


def _landmarks(tag: str, text: str) -> list[str]:
    pattern = _LANDMARKS.get(tag)
    if pattern is None:
        return []
    rows = [shortened(match[1].strip()) for match in pattern.finditer(text)]
    left_out = len(rows) - _MOST_LANDMARKS
    return [*rows[:_MOST_LANDMARKS], more_row(left_out)] if left_out > 0 else rows
