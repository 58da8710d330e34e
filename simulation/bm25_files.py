"""The plain baseline: whole files in the order of BM25, until the budget is used up."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

K1, B = 1.2, 0.75
"""The constants of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009."""
_MOST_BYTES = 400_000
"""Larger files are data or were written by programs."""

_IDENTIFIER = re.compile(r"[^\W\d_][\w]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(text: str) -> Iterator[str]:
    """Yield the identifiers of a text, in lower case, and the parts of those that have several."""
    for identifier in _IDENTIFIER.findall(text):
        yield identifier.lower()
        parts = _PART.findall(identifier)
        if len(parts) > 1:
            yield from map(str.lower, parts)


def ranked(query: str, texts: Sequence[str]) -> list[int]:
    """Return the places of the texts, the best for ``query`` first, equal ones in their order."""
    counted = [Counter(words_of(text)) for text in texts]
    lengths = [counts.total() for counts in counted]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    scores = [0.0] * len(texts)
    for word in sorted(set(words_of(query))):
        having = [place for place, counts in enumerate(counted) if word in counts]
        rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for place in having:
            often = counted[place][word]
            length = 1 - B + B * lengths[place] / mean
            scores[place] += rarity * often * (K1 + 1) / (often + K1 * length)
    return sorted(range(len(texts)), key=lambda place: -scores[place])


def read_texts(tree: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of those files that are no links, not binary and not huge."""
    texts: dict[str, str] = {}
    for path in paths:
        file = tree / path
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
            continue
        data = file.read_bytes()
        if b"\0" not in data:
            texts[path] = data.decode("utf-8", "replace")
    return texts
