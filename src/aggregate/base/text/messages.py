"""Messages that stay short: what somebody probably meant, many warnings as a few lines, long texts with a gap."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

# Names that a message lists: more are not read.
_MOST = 20
# Hundredths that two names have in common: of three letters one is another one or elsewhere.
_ALIKE = 66.0


def did_you_mean(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # needed only for a mistake

    near = get_close_matches(word[:100].lower(), known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are {short_list(known)}"


def path_meant(path: str, known: Sequence[str]) -> str:
    near = nearest_path(path, known)
    return f': did you mean "{near}"?' if near else ""


def nearest_path(path: str, known: Sequence[str]) -> str:
    """Return which of the known paths is meant by one that is not there, ``""`` for none; it may be the end of one."""
    from rapidfuzz import fuzz  # needed only for a mistake

    wanted, names = _parts(path), path.count("/") + 1

    def likeness(one: str) -> tuple[float, float]:
        parts = _parts("/".join(one.split("/")[-names:]))
        scores = [*map(fuzz.ratio, wanted, parts)] if len(parts) == len(wanted) else [0.0]
        return min(scores), sum(scores)

    best = max(known, key=likeness, default="")
    return best if best and likeness(best)[0] >= _ALIKE else ""


def _parts(path: str) -> list[str]:
    return path.lower().replace("/", ".").split(".")


def short_list(known: Sequence[str]) -> str:
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return ", ".join(known[:_MOST]) + more


# Sentences of one kind that have a line each: as many as one reads.
MOST_OF_A_KIND: Final = 20
# Lines in all, whatever the kinds: a name with a colon in it makes a kind of its own.
MOST_LINES: Final = 60
_LABEL: Final = re.compile(r"(?:ERROR|NOTE): ")
# What differs between sentences of one kind.
_VARIABLE: Final = re.compile(r'sha256:[0-9a-f]+|"[^"]*"|\d[\d,.]*')


def group_warnings(sentences: Sequence[str], *, more: str = "") -> list[str]:
    """Return ``sentences``, of kinds that have more than 20 only the first one, with how many follow, 60 lines in all.

    Each says ``place: reason``, or ``ERROR: reason: place`` as the content of a prompt does; ``more`` is where all are,
    such as ``--json``.
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
    # The reason that a sentence gives, without what differs from place to place.
    label = _LABEL.match(sentence)
    if label:
        return _VARIABLE.sub("#", sentence[label.end() :].partition(": ")[0])
    return _VARIABLE.sub("#", sentence.partition(": ")[2] or sentence)


def shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"[... {len(text) - most:,} of {len(text):,} characters ...]"
    return f"{text[: most - tail]} {left_out} {text[len(text) - tail :]}"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_of(sentences: Sequence[str], most: int, characters: int) -> tuple[str, ...]:
    # 8 ms, and starts of commands load this module.
    from aggregate.base.values.jsonable import message_text

    listed = [shorten(message_text(sentence), characters) for sentence in sentences[:most]]
    more = len(sentences) - len(listed)
    if more:
        listed.append(f"... and {more:,} more, {len(sentences):,} in all")
    return tuple(listed)
