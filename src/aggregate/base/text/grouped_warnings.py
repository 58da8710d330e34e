"""Many warnings of a few kinds as a few lines: ten thousand missing files are one line."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

MOST_OF_A_KIND: Final = 20
"""Sentences of one kind that have a line each: as many as one reads."""
MOST_LINES: Final = 60
"""Lines in all, whatever the kinds: a name with a colon in it makes a kind of its own."""
_LABEL: Final = re.compile(r"(?:ERROR|NOTE): ")
_VARIABLE: Final = re.compile(r'sha256:[0-9a-f]+|"[^"]*"|\d[\d,.]*')
"""What differs between sentences of one kind."""


def group_warnings(sentences: Sequence[str], *, more: str = "") -> list[str]:
    """Return ``sentences``, of kinds that have more than 20 only the first one, with how many follow, 60 lines in all.

    Args:
        sentences: Each says ``place: reason``, or ``ERROR: reason: place`` as the content of a prompt does.
        more: Where all of them are, such as ``--json``.
    """
    where = f" ({more} lists them)" if more else ""
    kinds = [_kind(sentence) for sentence in sentences]
    numbers = Counter(kinds)
    lines: list[str] = []
    grouped: set[str] = set()
    for sentence, kind in zip(sentences, kinds, strict=True):
        if numbers[kind] <= MOST_OF_A_KIND:
            lines.append(sentence)
        elif kind not in grouped:
            lines.append(f"{sentence}; and {numbers[kind] - 1:,} more of this kind{where}")
            grouped.add(kind)
    rest = len(lines) - MOST_LINES
    return lines if rest <= 0 else [*lines[:MOST_LINES], f"and {rest:,} more of other kinds{where}"]


def _kind(sentence: str) -> str:
    """Return the reason that a sentence gives, without what differs from place to place."""
    label = _LABEL.match(sentence)
    reason = (
        sentence[label.end() :].partition(": ")[0]
        if label
        else sentence.partition(": ")[2] or sentence
    )
    return _VARIABLE.sub("#", reason)
