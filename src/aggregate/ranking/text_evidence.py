"""What a task's words say of whole files and of their paths, by BM25."""

from collections.abc import Sequence
from math import fsum

from aggregate.ranking.bm25 import K1, saturation
from aggregate.ranking.evidence import Evidence
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.scaling import best_keys, scaled_evidence

FILE_B = 0.3
"""Long files are hardly punished: the size of a file is an evidence of its own."""
PATH_B = 0.5
"""A path with many folders says less by each."""


def file_text(inquiry: Inquiry) -> Evidence:
    """Compare the task with the files' whole texts."""
    files = inquiry.files
    average = average_of([facts.terms for facts in files])
    values: dict[int, float] = {}
    # The hot loop in a large project: a term may be in each of its files, so BM25 stands here without calls.
    lengths = [K1 * (1 - FILE_B + FILE_B * facts.terms / average) for facts in files]
    for query in inquiry.terms:
        worth = query.weight * query.file_rarity * (K1 + 1)
        for file, (count, _) in query.files.items():
            gain = worth * count / (count + lengths[file])
            values[file] = values[file] + gain if file in values else gain
    matched = {file: _terms_of_file(inquiry, file) for file in best_keys(values)}
    return scaled_evidence("file text", files=values, matched=matched)


def _terms_of_file(inquiry: Inquiry, file: int) -> str:
    worth: dict[str, float] = {}
    for query in inquiry.terms:
        held = query.files.get(file)
        if held is not None:
            gain = saturation(held.occurrences, length=1.0, b=0.0)
            worth[query.term] = query.weight * query.file_rarity * gain
    return inquiry.told(worth)


def path_words(inquiry: Inquiry) -> tuple[Evidence, Evidence]:
    """Compare the task, and the scope that its first line names, with the words of the paths."""
    return _path_text(inquiry), _path_scope(inquiry)


def _path_text(inquiry: Inquiry) -> Evidence:
    worth = {query.term: query.weight * query.file_rarity for query in inquiry.terms}
    average = average_of([len(facts.path) for facts in inquiry.files])
    values: dict[int, float] = {}
    for file, counts in inquiry.path_terms.items():
        length = len(inquiry.files[file].path) / average
        value = 0.0
        for term, count in counts.items():
            if term in worth:
                value += worth[term] * saturation(count, length=length, b=PATH_B)
        values[file] = value
    matched: dict[int, str] = {}
    for file in best_keys(values):
        counts = inquiry.path_terms[file]
        matched[file] = inquiry.told({term: worth[term] for term in counts if term in worth})
    return scaled_evidence("path words", files=values, matched=matched)


def _path_scope(inquiry: Inquiry) -> Evidence:
    scopes = tuple(dict.fromkeys(inquiry.question.task.scopes))
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for file, counts in inquiry.path_terms.items() if scopes else ():
        named = [scope for scope in scopes if scope in counts]
        if named:
            values[file] = len(named) / len(scopes)
            matched[file] = ", ".join(inquiry.words.get(scope, scope) for scope in named[:3])
    return scaled_evidence("scope in the path", files=values, matched=matched)


def average_of(lengths: Sequence[float]) -> float:
    """Return the mean length, never below 1."""
    return max(1.0, fsum(lengths) / len(lengths)) if lengths else 1.0
