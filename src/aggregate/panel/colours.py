"""Syntax colours of code lines, for the page."""

import re
from functools import lru_cache
from itertools import groupby
from typing import Final

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from aggregate.base.concurrency import Call, in_children

_MOST: Final = 200_000  # characters of a text; colouring more takes a second
_SECONDS: Final = 5.0  # per text: some take a lexer's expressions forever
_CACHED: Final = 256  # texts of a few screens, reused for the next prompt
# The first matching class counts; panel.css has a colour for each.
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


@lru_cache(maxsize=_CACHED)
def code_colours(text: str, language: str) -> tuple[str, ...]:
    """Return a colour code for each line.

    ``k3 .1 f5`` are three characters of class ``k``, one without and five of ``f``; the rest has no class. The result
    is ``()`` for an unknown language or a long text.
    """
    if not language or len(text) > _MOST:
        return ()
    call = Call(None, _colours, (text, language))
    try:
        (finished,) = in_children([call], workers=1, patience=_SECONDS)
    except Exception:  # noqa: BLE001 - without a process, or if a lexer fails, the text stays plain
        return ()
    return finished.answer if isinstance(finished.answer, tuple) else ()


@lru_cache(maxsize=_CACHED)
def fenced_colours(markdown: str) -> tuple[str, ...]:
    """Return a colour code for each line of Markdown, by the language of its fence."""
    colours = [""] * (markdown.count("\n") + 1)
    for block in _FENCED.finditer(markdown) if len(markdown) <= _MOST else ():
        first = markdown.count("\n", 0, block.start(3))
        block_colours = code_colours(block[3], block[2])
        colours[first : first + len(block_colours)] = block_colours
    return tuple(colours)


def _colours(text: str, language: str) -> tuple[str, ...]:
    """Compute the colour codes of an untrusted text in a child process."""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ()
    tokens = lexer.get_tokens_unprocessed(text + "\n")
    marks = "".join(re.sub(r"[^\n]", _class_of(token), value) for _, token, value in tokens)
    return tuple(map(_runs, marks.split("\n")[:-1]))


def _class_of(token: object) -> str:
    for name, kinds in _CLASSES.items():
        if any(token in kind for kind in kinds):
            return name
    return "."


def _runs(marks: str) -> str:
    return " ".join(f"{name}{len([*run])}" for name, run in groupby(marks.rstrip(".")))
