"""Evidence from the words of the task, by BM25, and from the size of texts."""

from collections.abc import Mapping, Sequence
from math import fsum, log1p

from aggregate.ranking.evidence import (
    K1,
    Evidence,
    PieceKey,
    best_keys,
    by_piece,
    saturation,
    scaled,
)
from aggregate.ranking.files.analysis import Analysis
from aggregate.ranking.inquiry import Candidates, Inquiry

FILE_B = 0.3  # little length normalization: a file's size is separate evidence


def of_files(inquiry: Inquiry) -> tuple[Evidence, Evidence]:
    """Return evidence from the words of files, and from their sizes."""
    sizes = {
        file: min(_MOST, log1p(facts.characters / _CHARACTERS_PER_TOKEN) / _LARGE_FILE)
        for file, facts in enumerate(inquiry.files)
        if facts.characters
    }
    return file_text(inquiry), Evidence("file size", files=sizes)


def of_pieces(
    inquiry: Inquiry, candidates: Candidates
) -> tuple[Sequence[Evidence], Sequence[Evidence]]:
    """Return evidence from the words of pieces, and from their shapes."""
    postings: dict[int, Mapping[str, Mapping[int, int]]] = {}
    for file, analysis in candidates.items():
        terms = [query.term for query in inquiry.terms if file in query.files]
        postings[file] = {term: analysis.pieces_with(term) for term in terms}
    text = _definition_text(inquiry, candidates, postings)
    return (text, _subject(inquiry, candidates, postings)), _shapes(candidates)


def file_text(inquiry: Inquiry) -> Evidence:
    files = inquiry.files
    average = average_of([facts.characters for facts in files])
    values: dict[int, float] = {}
    # Hot loop: a term may be in every file of a large project, so BM25 is inlined.
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
            if file in query.files:
                gain = saturation(query.files[file], length=1.0, b=0.0)
                gains[query.term] = query.weight * query.file_rarity * gain
        matched[file] = inquiry.strongest_words(gains)
    return Evidence("file text", files=scaled(values), matched=matched)


def average_of(lengths: Sequence[float]) -> float:
    return max(1.0, fsum(lengths) / len(lengths)) if lengths else 1.0


PIECE_B = 0.75
NAME_WEIGHT = 3  # a word in the name counts like so many in the text

Counts = Mapping[str, int]
Postings = Mapping[int, Mapping[str, Mapping[int, int]]]
_NOTHING: Counts = {}


def _name_counts(inquiry: Inquiry, analysis: Analysis) -> Sequence[Counts]:
    """Return for each definition the terms in its name and in those of outer definitions."""
    names = [
        inquiry.matcher.matched(definition.path[-1] if definition.path else "")
        for definition in analysis.definitions
    ]
    if not any(names):  # as in most files
        return ()
    scope_counts: list[Counts] = []
    name_counts: list[Counts] = []
    for definition, terms in zip(analysis.definitions, names, strict=True):
        outer = scope_counts[definition.outer] if definition.outer >= 0 else _NOTHING
        scope_counts.append(_add_terms(outer, terms, 1) if terms else outer)
        name_counts.append(_add_terms(outer, terms, NAME_WEIGHT) if terms else outer)
    return name_counts


def _add_terms(counts: Counts, terms: Sequence[str], weight: int) -> Counts:
    added = dict(counts)
    for term in terms:
        added[term] = added.get(term, 0) + weight
    return added


def _definition_text(inquiry: Inquiry, candidates: Candidates, postings: Postings) -> Evidence:
    """Return as evidence how well the text, name and path of each definition match the task."""
    lengths: dict[int, dict[int, int]] = {}
    for file, analysis in candidates.items():
        units: dict[int, int] = {}
        lengths[file] = units
        for piece in analysis.pieces:
            units[piece.definition] = units.get(piece.definition, 0) + piece.characters
    average = average_of([length for units in lengths.values() for length in units.values()])
    most = {query.term: query.weight * query.piece_rarity * (K1 + 1) for query in inquiry.terms}
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, analysis in candidates.items():
        names, path = _name_counts(inquiry, analysis), inquiry.path_terms.get(file, _NOTHING)
        documents = _documents(analysis, postings[file], name_counts=names, path=path)
        scores = {
            unit: sum(_gains(document, most, length=lengths[file][unit] / average))
            for unit, document in documents.items()
        }
        best = max(scores, key=scores.__getitem__, default=None)
        if best is not None and scores[best]:
            gains = _gains(documents[best], most, length=lengths[file][best] / average)
            terms = [term for term in documents[best] if term in most]
            matched[file] = inquiry.strongest_words(dict(zip(terms, gains, strict=True)))
            rows[file] = [scores.get(piece.definition, 0.0) for piece in analysis.pieces]
    return Evidence("definition text", pieces=scaled(by_piece(rows)), matched=matched)


def _documents(
    analysis: Analysis,
    postings: Mapping[str, Mapping[int, int]],
    *,
    name_counts: Sequence[Counts],
    path: Counts,
) -> Mapping[int, Counts]:
    """Return the terms of each definition with pieces; ``-1`` is the text outside of definitions."""
    owners = [piece.definition for piece in analysis.pieces]
    text_counts: dict[int, dict[str, int]] = {}
    for term, pieces in postings.items():
        for piece, count in pieces.items():
            counts = text_counts.setdefault(owners[piece], {})
            counts[term] = counts.get(term, 0) + count
    documents: dict[int, Mapping[str, int]] = {}
    if not (text_counts or name_counts or path):
        return documents
    for unit in dict.fromkeys(owners):
        in_names = name_counts[unit] if name_counts and unit >= 0 else _NOTHING
        in_text = text_counts.get(unit, _NOTHING)
        if in_text or in_names:
            total = dict(in_text)
            for counts_of_part in (in_names, path):
                for term, count in counts_of_part.items():
                    total[term] = total.get(term, 0) + count
            documents[unit] = total
        elif path:  # most only match by their path and share its counts
            documents[unit] = path
    return documents


def _gains(document: Counts, most: Mapping[str, float], *, length: float) -> list[float]:
    # Hot loop: BM25 is inlined. Terms outside ``most`` add nothing.
    norm = K1 * (1 - PIECE_B + PIECE_B * length)
    return [most[term] * count / (count + norm) for term, count in document.items() if term in most]


def _subject(inquiry: Inquiry, candidates: Candidates, postings: Postings) -> Evidence:
    """Return as evidence how well single pieces match the first line of the task."""
    average = average_of([p.characters for a in candidates.values() for p in a.pieces])
    rarities = {query.term: query.piece_rarity for query in inquiry.terms if query.in_subject}
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, analysis in candidates.items():
        counts_by_term = {
            term: counts for term, counts in postings[file].items() if term in rarities
        }
        if not counts_by_term:
            continue
        values = [0.0] * len(analysis.pieces)
        for term, counts in counts_by_term.items():
            for piece, count in counts.items():
                length = analysis.pieces[piece].characters / average
                norm = K1 * (1 - PIECE_B + PIECE_B * length)
                values[piece] += rarities[term] * (K1 + 1) * count / (count + norm)
        best = values.index(max(values))
        gains = {term: rarities[term] for term, counts in counts_by_term.items() if best in counts}
        rows[file] = values
        matched[file] = inquiry.strongest_words(gains)
    return Evidence("subject", pieces=scaled(by_piece(rows)), matched=matched)


_CHARACTERS_PER_TOKEN = 4
# Log of the tokens that count 1: the largest source file of most projects. Constant, since a single generated file
# would change the values of all others.
_LARGE_FILE = log1p(30_000)
_LARGE_PIECE = log1p(400)  # likewise: some 25 lines of 16 tokens
_MOST = 1.5  # a file of 100 MB is hardly less likely than one of 10 MB
_FUNCTIONS = frozenset(
    """
    callback constructor destructor function macro method operator procedure subroutine test
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)


def _shapes(candidates: Candidates) -> tuple[Evidence, Evidence, Evidence]:
    """Return three kinds of evidence about pieces: size, outside of definitions, inside functions."""
    sizes: dict[PieceKey, float] = {}
    outside: dict[PieceKey, float] = {}
    functions: dict[PieceKey, float] = {}
    for file, analysis in candidates.items():
        in_function = [definition.kind in _FUNCTIONS for definition in analysis.definitions]
        for index, piece in enumerate(analysis.pieces):
            tokens = piece.characters / _CHARACTERS_PER_TOKEN
            sizes[file, index] = min(_MOST, log1p(tokens) / _LARGE_PIECE)
            if piece.definition < 0:
                outside[file, index] = 1.0
            elif in_function[piece.definition]:
                functions[file, index] = 1.0
    return (
        Evidence("piece size", pieces=sizes),
        Evidence("outside definitions", pieces=outside),
        Evidence("function", pieces=functions),
    )
