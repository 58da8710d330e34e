"""Colours of code for the page: which characters of a line are keywords, names, texts or comments."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from aggregate.base.concurrency import Call, in_children
from aggregate.base.errors import SyntaxViewError

# Characters that are coloured: of a larger file nobody waits a second for colours.
_MOST: Final = 200_000
_SECONDS: Final = 5.0  # For one text; an expression of a lexer's may take for ever over some
# Texts: what is on a few screens, also while another prompt shows most of it again.
_KEPT: Final = 256
# The first that a token belongs to counts; panel.css has a colour for each class.
_CLASSES: Final = (
    (Comment.Preproc, "b"),
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Tag, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "b"),
    (Name.Builtin, "b"),
    (Name.Attribute, "b"),
    (Generic.Inserted, "i"),
    (Generic.Deleted, "d"),
)
_FENCE: Final = re.compile(r"(`{3,})([\w+#.-]*)$")


@lru_cache(maxsize=_KEPT)
def code_colours(text: str, language: str) -> tuple[str, ...]:
    """Return the colours of each line, of none where there are none or the text is too long.

    ``k3 .1 f5`` are three characters of class ``k``, one of none and five of ``f``; what follows has none.
    """
    if not language or len(text) > _MOST:
        return ()
    call = Call(None, _colours, (text, language))
    try:
        (answered,) = in_children([call], workers=1, patience=_SECONDS)
    except SyntaxViewError:
        return ()
    return answered.answer if isinstance(answered.answer, tuple) else ()


@lru_cache(maxsize=_KEPT)
def fenced_colours(markdown: str) -> tuple[str, ...]:
    """Return the colours of each line of a part of a prompt: those of the code within its fences."""
    lines = markdown.split("\n")
    colours = [""] * len(lines)
    for first, last, language in _fenced(lines):
        for number, colour in enumerate(code_colours("\n".join(lines[first:last]), language)):
            colours[first + number] = colour
    return tuple(colours)


def _fenced(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield of each block of code its first line, the line that ends it, and its language."""
    fence, language, first = "", "", 0
    for number, line in enumerate(lines):
        if fence and line == fence:
            yield first, number, language
            fence = ""
        elif not fence and (opens := _FENCE.match(line)):
            fence, language, first = opens[1], opens[2], number + 1


def _colours(text: str, language: str) -> tuple[str, ...]:
    """Return the colours of a text's lines; in a child, since a stranger's text meets regular expressions here."""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ()
    lines: list[list[tuple[str, int]]] = [[]]
    for _, token, value in lexer.get_tokens_unprocessed(text + "\n"):
        name = next((name for kind, name in _CLASSES if token in kind), ".")
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            _add(lines[-1], name, len(piece))
    return tuple(map(_joined, lines[:-1]))


def _add(line: list[tuple[str, int]], name: str, length: int) -> None:
    if line and line[-1][0] == name:
        length += line.pop()[1]
    if length:
        line.append((name, length))


def _joined(line: list[tuple[str, int]]) -> str:
    if line and line[-1][0] == ".":  # the end of a line is plain without being told so
        line.pop()
    return " ".join(f"{name}{length}" for name, length in line)
