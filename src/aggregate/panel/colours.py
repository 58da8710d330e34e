"""Colours of code for the page: which characters of a line are keywords, names, texts or comments."""

import re
from functools import lru_cache
from itertools import groupby
from typing import Final

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from aggregate.base.concurrency import Call, in_children

# Characters that are coloured: of a larger file nobody waits a second for colours.
_MOST: Final = 200_000
_SECONDS: Final = 5.0  # For one text; an expression of a lexer's may take for ever over some
# Texts: what is on a few screens, also while another prompt shows most of it again.
_KEPT: Final = 256
# The first that a token belongs to counts; panel.css has a colour for each class.
_CLASSES: Final = {
    "b": (Comment.Preproc, Name.Attribute, Name.Builtin, Name.Decorator),
    "c": (Comment,),
    "k": (Keyword, Name.Tag, Operator.Word),
    "s": (String,),
    "n": (Number,),
    "f": (Name.Class, Name.Function),
    "i": (Generic.Inserted,),
    "d": (Generic.Deleted,),
}
_FENCED: Final = re.compile(r"^(`{3,})([\w+#.-]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


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
    except Exception:  # noqa: BLE001 - no process, or a lexer that stumbles over a text: it stays plain
        return ()
    return answered.answer if isinstance(answered.answer, tuple) else ()


@lru_cache(maxsize=_KEPT)
def fenced_colours(markdown: str) -> tuple[str, ...]:
    """Return the colours of each line of a part of a prompt: those of the code within its fences."""
    colours = [""] * (markdown.count("\n") + 1)
    for block in _FENCED.finditer(markdown) if len(markdown) <= _MOST else ():
        first = markdown.count("\n", 0, block.start(3))
        found = code_colours(block[3], block[2])
        colours[first : first + len(found)] = found
    return tuple(colours)


def _colours(text: str, language: str) -> tuple[str, ...]:
    """Return the colours of a text's lines; in a child, since a stranger's text meets regular expressions here."""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ()
    tokens = lexer.get_tokens_unprocessed(text + "\n")
    marks = "".join(re.sub(r"[^\n]", _class_of(token), value) for _, token, value in tokens)
    return tuple(map(_runs, marks.split("\n")[:-1]))


def _class_of(token: object) -> str:
    return next(
        (name for name, kinds in _CLASSES.items() if any(token in kind for kind in kinds)), "."
    )


def _runs(marks: str) -> str:
    return " ".join(f"{name}{len([*run])}" for name, run in groupby(marks.rstrip(".")))
