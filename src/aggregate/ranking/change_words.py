"""The words of a message's first line by which changes of the same kind are known.

``Release 2.1.0``, ``Fix typo in docs`` and ``chore(deps): bump ruff`` say little of the code, and so terms leave most
of these words out. Of a change they say all: those before it with such a line changed the same files.
"""

import re
from typing import Final

from aggregate.ranking.terms import LONGEST_WORD, STOP_WORDS, split_identifier, stem, term_list

_LONGEST: Final = 300
"""Characters of the line that are read."""
_VERSION: Final = re.compile(
    r"(?<![\w.])v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-.]?[A-Za-z]{1,5}[-.]?\d{0,9})?(?![\w.]*\w)"
)
"""``2.1.0``, ``v3.0``, ``1.0.0-rc.1``: no two releases have the same, and all of them have one."""
_A_VERSION: Final = " versionnumber "
_WORD: Final = re.compile(r"\w+")


def change_words(line: str) -> frozenset[str]:
    """Return the words of a line: the parts of identifiers and these as wholes, without endings, stop words, numbers.

    Args:
        line: The first line of a message or of a task.
    """
    words: set[str] = set()
    for match in _WORD.finditer(_VERSION.sub(_A_VERSION, line[:_LONGEST])):
        words.update(_parts(match[0]))
    return frozenset(words)


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank, ``""`` for none."""
    return text.lstrip().partition("\n")[0]


def _parts(word: str) -> list[str]:
    if not word.isascii():  # a script without spaces is taken apart there
        return term_list(word)
    if len(word) > LONGEST_WORD:
        return []
    parts = split_identifier(word)
    lowered = (part.lower() for part in parts)
    words = [
        stem(part)
        for part in lowered
        if len(part) > 1 and part not in STOP_WORDS and not part.isdigit()
    ]
    return [*words, word.replace("_", "").lower()] if len(parts) > 1 else words
