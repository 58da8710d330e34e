"""Tests and documents that belong to the likeliest sources: by their names, and by the names that they hold."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from aggregate.ranking.evidence import Evidence, best_keys
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import term_list

# By kind of file what an evidence of it is called, and how many files are looked at closely.
_KINDS: Final = {PathKind.TEST: ("tests", 30), PathKind.DOCUMENT: ("documents", 10)}
COMPANIONS: Final = frozenset(name for name, _ in _KINDS.values())
_SOURCES: Final = 20
_HELD: Final = 0.3  # What it counts that a file holds a source's name, beside bearing it
# What a task with less than this against tests, or documents, asks for: they stand for themselves.
_ASKED: Final = 0.5
_AFFIXES: Final = re.compile(
    r"^(?:test|spec)s?[_.-]|(?:[_.-]?(?:tests?|specs?|e2e))$", re.IGNORECASE
)
_EXCLUDED: Final = re.compile(
    r"\b(?:no|not|without|except|excluding|exclude|ignore|ignoring|skip|leave out|omit)\b[^.;\n]{0,30}?"
    r"\b(?:(?P<tests>tests?)|(?P<documents>docs?|documents?|documentation))\b",
    re.IGNORECASE,
)


def companions(
    inquiry: Inquiry, sums: Sequence[float], against: Mapping[int, float]
) -> list[Evidence]:
    """Return which tests, and which documents, belong to the likeliest sources, unless the task asks for none.

    ``sums`` tell how likely each file is, ``against`` what the task leaves of what speaks against tests and documents.
    """
    likely = {
        file: sums[file] for file, kind in enumerate(inquiry.kinds) if kind is PathKind.SOURCE
    }
    sources = [inquiry.files[file].path for file in best_keys(likely, _SOURCES)]
    names = {path: term_list(_stem(path))[:1] for path in sources}  # one stands for all of a name
    inquiry.corpus.look_up([*chain.from_iterable(names.values())])
    excluded = {match.lastgroup for match in _EXCLUDED.finditer(inquiry.question.task.text)}
    found: list[Evidence] = []
    for kind, (name, most) in _KINDS.items():
        files = [
            file
            for file, value in against.items()
            if value > _ASKED
            and inquiry.kinds[file] is kind
            and name not in excluded
            and not (kind is PathKind.DOCUMENT and inquiry.files[file].is_code)
        ]
        values, matched = _belonging(inquiry, files, names)
        kept = best_keys({file: sums[file] + 2 * value for file, value in values.items()}, most)
        found.append(
            Evidence(
                name,
                files={file: values[file] for file in kept},
                matched={file: matched[file] for file in kept},
            )
        )
    return found


def _belonging(
    inquiry: Inquiry, files: Sequence[int], names: Mapping[str, Sequence[str]]
) -> tuple[dict[int, float], dict[int, str]]:
    """Return how surely files belong to a source, and to which.

    ``names`` are the terms of the sources' names by their paths, the likeliest first.
    """
    by_stem: dict[str, list[int]] = {}
    for file in files:
        by_stem.setdefault(_stem(inquiry.files[file].path), []).append(file)
    wanted = set(files)
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for rank, (path, terms) in enumerate(names.items()):
        bearing = dict.fromkeys(by_stem.get(_stem(path), ()), 1.0)
        holding = {file for term in terms for file in inquiry.corpus.files_with(term)}
        for file in (*bearing, *sorted(wanted.intersection(holding))):
            value = bearing.get(file, _HELD) * (1 - rank / (2 * _SOURCES))
            if value > values.get(file, 0.0):
                values[file], matched[file] = value, path
    return values, matched


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return _AFFIXES.sub("", name.partition(".")[0] if name[0] != "." else name).strip("_-").lower()
