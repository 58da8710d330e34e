"""What a task's words say of files, their paths, their definitions and single pieces, by BM25."""

from collections.abc import Mapping, Sequence
from math import fsum

from aggregate.ranking.evidence import (
    K1,
    Evidence,
    PieceValues,
    best_keys,
    saturation,
    scaled_evidence,
)
from aggregate.ranking.files.analysis import Analysis
from aggregate.ranking.inquiry import Candidates, Inquiry

FILE_B = 0.3  # long files are hardly punished: the size of a file is an evidence of its own


def file_text(inquiry: Inquiry) -> Evidence:
    files = inquiry.files
    average = average_of([facts.characters for facts in files])
    values: dict[int, float] = {}
    # The hot loop in a large project: a term may be in each of its files, so BM25 stands here without calls.
    lengths = [K1 * (1 - FILE_B + FILE_B * facts.characters / average) for facts in files]
    for query in inquiry.terms:
        worth = query.weight * query.file_rarity * (K1 + 1)
        for file, count in query.files.items():
            gain = worth * count / (count + lengths[file])
            values[file] = values[file] + gain if file in values else gain
    matched: dict[int, str] = {}
    for file in best_keys(values):
        gains: dict[str, float] = {}
        for query in inquiry.terms:
            if held := query.files.get(file):
                gain = saturation(held, length=1.0, b=0.0)
                gains[query.term] = query.weight * query.file_rarity * gain
        matched[file] = inquiry.told(gains)
    return scaled_evidence("file text", files=values, matched=matched)


def average_of(lengths: Sequence[float]) -> float:
    return max(1.0, fsum(lengths) / len(lengths)) if lengths else 1.0


PIECE_B = 0.75
NAME_WEIGHT = 3  # a word in a definition's name counts as this many in its text

Counts = Mapping[str, int]
Postings = Mapping[int, Mapping[str, Mapping[int, int]]]
_NOTHING: Counts = {}


def piece_texts(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, ...]:
    postings: Postings = {
        file: {
            query.term: analysis.pieces_with(query.term)
            for query in inquiry.terms
            if file in query.files
        }
        for file, analysis in candidates.items()
    }
    names: dict[int, Sequence[tuple[str, ...]]] = {}
    for file, analysis in candidates.items():
        held = [
            inquiry.matcher.matched(each.path[-1] if each.path else "")
            for each in analysis.definitions
        ]
        names[file] = held if any(held) else ()  # nothing where no name holds any
    return (
        _definition_text(inquiry, candidates, postings=postings, names=names),
        _subject(inquiry, candidates, postings),
    )


def _name_counts(analysis: Analysis, names: Sequence[tuple[str, ...]]) -> Sequence[Counts]:
    # Nothing where no name holds any, which is so for most files.
    if not names:
        return ()
    around: list[Counts] = []
    counted: list[Counts] = []
    for definition, own in zip(analysis.definitions, names, strict=True):
        outer = around[definition.outer] if definition.outer >= 0 else _NOTHING
        around.append(_with(outer, own, 1) if own else outer)
        counted.append(_with(outer, own, NAME_WEIGHT) if own else outer)
    return counted


def _with(counts: Counts, terms: Sequence[str], weight: int) -> Counts:
    added = dict(counts)
    for term in terms:
        added[term] = added.get(term, 0) + weight
    return added


def _definition_text(
    inquiry: Inquiry,
    candidates: Candidates,
    *,
    postings: Postings,
    names: Mapping[int, Sequence[tuple[str, ...]]],
) -> Evidence:
    # A definition's document is its text, its name, the names around it and its path.
    lengths: dict[int, dict[int, int]] = {}
    for file, analysis in candidates.items():
        own: dict[int, int] = {}
        lengths[file] = own
        for piece in analysis.pieces:
            own[piece.definition] = own.get(piece.definition, 0) + piece.characters
    average = average_of([length for units in lengths.values() for length in units.values()])
    most = {query.term: query.weight * query.piece_rarity * (K1 + 1) for query in inquiry.terms}
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, analysis in candidates.items():
        documents = _documents(
            analysis, postings[file], names=names[file], path=inquiry.path_terms.get(file, _NOTHING)
        )
        scores = {
            unit: sum(_gains(document, most, length=lengths[file][unit] / average))
            for unit, document in documents.items()
        }
        best = max(scores, key=scores.__getitem__, default=None)  # of equal ones the first
        if best is not None and scores[best]:
            gains = _gains(documents[best], most, length=lengths[file][best] / average)
            told = [term for term in documents[best] if term in most]
            matched[file] = inquiry.told(dict(zip(told, gains, strict=True)))
            rows[file] = [scores.get(piece.definition, 0.0) for piece in analysis.pieces]
    return Evidence("definition text", pieces=PieceValues(rows).scaled(), matched=matched)


def _documents(
    analysis: Analysis,
    holding: Mapping[str, Mapping[int, int]],
    *,
    names: Sequence[tuple[str, ...]],
    path: Counts,
) -> Mapping[int, Counts]:
    """Return how often each term occurs in the document of each definition that has pieces, outside of all by -1.

    Those without any term are left out.
    """
    owners = [piece.definition for piece in analysis.pieces]
    texts: dict[int, dict[str, int]] = {}
    for term, places in holding.items():
        for place, count in places.items():
            held = texts.setdefault(owners[place], {})
            held[term] = held.get(term, 0) + count
    named = _name_counts(analysis, names)
    documents: dict[int, Mapping[str, int]] = {}
    for unit in dict.fromkeys(owners) if texts or named or path else ():
        around = named[unit] if named and unit >= 0 else _NOTHING
        text = texts.get(unit, _NOTHING)
        if text or around:
            together = documents[unit] = dict(text)
            for document in (around, path):
                for term, count in document.items():
                    together[term] = together.get(term, 0) + count
        elif path:  # most hold nothing but what their path does: they share it
            documents[unit] = path
    return documents


def _gains(document: Counts, most: Mapping[str, float], *, length: float) -> list[float]:
    # BM25 without calls: this is the hot loop. Terms that are not in ``most`` add nothing.
    norm = K1 * (1 - PIECE_B + PIECE_B * length)
    return [most[term] * count / (count + norm) for term, count in document.items() if term in most]


def _subject(inquiry: Inquiry, candidates: Candidates, postings: Postings) -> Evidence:
    average = average_of([p.characters for a in candidates.values() for p in a.pieces])
    rarities = {query.term: query.piece_rarity for query in inquiry.terms if query.in_subject}
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, analysis in candidates.items():
        holding = {term: at for term, at in postings[file].items() if term in rarities}
        if not holding:
            continue
        values = [0.0] * len(analysis.pieces)
        for term, places in holding.items():
            for place, count in places.items():
                length = analysis.pieces[place].characters / average
                norm = K1 * (1 - PIECE_B + PIECE_B * length)
                values[place] += rarities[term] * (K1 + 1) * count / (count + norm)
        best = values.index(max(values))
        gains = {term: rarities[term] for term, places in holding.items() if best in places}
        rows[file] = values
        matched[file] = inquiry.told(gains)
    return Evidence("subject", pieces=PieceValues(rows).scaled(), matched=matched)
