"""Definitions by the names that somebody wrote: ``name``, ``Class.name``, ``Class::name``, ``Class#name``."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.ranking.corpus import Corpus
from aggregate.ranking.inquiry import Candidates
from aggregate.ranking.path_table import PathTable

_SEPARATORS = re.compile(r"[.#:/\\]+|->")
_LONGEST = 300
"""Characters of a name that is looked up; no definition has a longer one."""
_MOST_PARTS = 6
"""Last parts of a name that are compared: no language nests deeper in practice."""


class WrittenName(NamedTuple):
    """A name as somebody wrote it, taken apart.

    Attributes:
        scopes: What stands before the last part.
        name: The last part.
    """

    scopes: tuple[str, ...]
    name: str

    @classmethod
    def parse(cls, text: str) -> "WrittenName":
        """Take a name apart at its dots, colons and the like."""
        parts = [part for part in _SEPARATORS.split(text[:_LONGEST].strip("()")) if part]
        return cls(tuple(parts[-_MOST_PARTS:-1]), parts[-1]) if parts else cls((), "")


def definitions_named(corpus: Corpus, written: WrittenName) -> Sequence[tuple[int, int]]:
    """Return ``(file, definition)`` for the definitions with the last part of a name."""
    return corpus.files_defining(written.name) if written.name else ()


def in_scope(
    definitions: Sequence[tuple[int, int]],
    written: WrittenName,
    *,
    candidates: Candidates,
    paths: PathTable,
) -> Sequence[tuple[int, int]]:
    """Return those definitions that stand in what the name says: definitions around them, else modules.

    Args:
        definitions: Those with the last part of the name.
        written: The name.
        candidates: Analyses of their files; definitions of other files are left out.
        paths: The files' paths.
    """
    known = [(file, place) for file, place in definitions if file in candidates]
    if not written.scopes:
        return known
    for begin in range(len(written.scopes)):  # ``package.Class.name``: packages are no definitions
        path = (*written.scopes[begin:], written.name)
        inside = [
            (file, place)
            for file, place in known
            if tuple(candidates[file].definitions[place].path[-len(path) :]) == path
        ]
        if inside:
            return inside
    return [
        (file, place) for file, place in known if file in paths.by_stem.get(written.scopes[-1], ())
    ]


def surest_names(names: Mapping[str, float], most: int) -> Sequence[tuple[str, float]]:
    """Return the names that most surely are some, at most ``most``; equal ones as they come."""
    return sorted(names.items(), key=lambda item: -item[1])[:most]
