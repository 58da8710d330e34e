"""What a task's words say: of files, definitions, pieces, names and paths, each by BM25."""

from collections.abc import Mapping, Sequence
from math import fsum

from aggregate.ranking.bm25 import K1, saturation
from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.file_analysis import FileAnalysis
from aggregate.ranking.inquiry import Candidates, Inquiry
from aggregate.ranking.piece_values import PieceValues
from aggregate.ranking.scaling import best_keys, scaled_evidence, strongest_terms

FILE_B = 0.3
"""Long files are hardly punished: the size of a file is an evidence of its own."""
PIECE_B = 0.75
"""The usual value."""
PATH_B = 0.5
"""A path with many folders says less by each."""
NAME_WEIGHT = 3
"""A word in a definition's name counts as this many in its text."""

Postings = Mapping[str, Mapping[PieceKey, int]]
"""By term: how often the candidates' pieces hold it."""


def read_postings(inquiry: Inquiry, candidates: Candidates) -> Postings:
    """Look up which pieces of the candidates hold the task's terms."""
    postings: dict[str, Mapping[PieceKey, int]] = {}
    for query in inquiry.terms:
        holding = query.files
        postings[query.term] = {
            (file, place): count
            for file, analysis in candidates.items()
            if file in holding
            for place, count in analysis.pieces_with(query.term)
        }
    return postings


def file_text(inquiry: Inquiry) -> Evidence:
    """Compare the task with the files' whole texts."""
    files = inquiry.files
    average = _average([facts.terms for facts in files])
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
    return strongest_terms(worth)


def path_words(inquiry: Inquiry) -> tuple[Evidence, Evidence]:
    """Compare the task, and the scope that its first line names, with the words of the paths."""
    held: dict[int, Mapping[str, int]] = {}
    if inquiry.terms or inquiry.question.task.scopes:
        for file, facts in enumerate(inquiry.files):
            counts = _path_terms(inquiry, facts.path)
            if counts:
                held[file] = counts
    return _path_text(inquiry, held), _path_scope(inquiry, held)


def _path_terms(inquiry: Inquiry, path: str) -> Mapping[str, int]:
    """Return the task's terms in a path, with how many of its parts hold them."""
    counts: dict[str, int] = {}
    for part in path.split("/"):
        for term in inquiry.matcher.matched(part):
            counts[term] = counts.get(term, 0) + 1
    return counts


def _path_text(inquiry: Inquiry, held: Mapping[int, Mapping[str, int]]) -> Evidence:
    worth = {query.term: query.weight * query.file_rarity for query in inquiry.terms}
    average = _average([len(facts.path) for facts in inquiry.files])
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for file, counts in held.items():
        length = len(inquiry.files[file].path) / average
        gains = {
            term: worth[term] * saturation(count, length=length, b=PATH_B)
            for term, count in counts.items()
            if term in worth
        }
        values[file] = fsum(gains.values())
        matched[file] = strongest_terms(gains)
    return scaled_evidence("path words", files=values, matched=matched)


def _path_scope(inquiry: Inquiry, held: Mapping[int, Mapping[str, int]]) -> Evidence:
    scopes = tuple(dict.fromkeys(inquiry.question.task.scopes))
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for file, counts in held.items():
        named = [scope for scope in scopes if scope in counts]
        if named:
            values[file] = len(named) / len(scopes)
            matched[file] = ", ".join(named[:3])
    return scaled_evidence("scope in the path", files=values, matched=matched)


def piece_texts(
    inquiry: Inquiry, candidates: Candidates, postings: Postings
) -> tuple[Evidence, ...]:
    """Compare the task with the candidates' definitions, their names, and its first line with their pieces."""
    names = _names_in(inquiry, candidates)
    return (
        _definition_text(inquiry, candidates, postings=postings, names=names),
        _subject_in_pieces(inquiry, candidates, postings),
        _enclosing_names(inquiry, candidates, names),
    )


def _definition_text(
    inquiry: Inquiry,
    candidates: Candidates,
    *,
    postings: Postings,
    names: Mapping[int, Sequence[Mapping[str, int]]],
) -> Evidence:
    """Score definitions: a definition's document is its text, its name, the names around it and its path."""
    counts = _definition_counts(candidates, postings)
    lengths = _definition_lengths(candidates)
    average = _average(list(lengths.values()))
    worth = {query.term: query.weight * query.piece_rarity for query in inquiry.terms}
    rows: dict[int, list[float]] = {}
    best: dict[int, tuple[float, Mapping[str, float]]] = {}
    for file, analysis in candidates.items():
        path = _path_terms(inquiry, inquiry.files[file].path)
        scores: dict[int, float] = {}
        for definition in _units(analysis):
            unit = (file, definition)
            document = counts.get(unit) or {}
            if definition >= 0:
                _add(document, names[file][definition])
            _add(document, path)
            length = lengths[unit] / average
            gains = {
                term: worth[term] * saturation(count, length=length, b=PIECE_B)
                for term, count in document.items()
                if term in worth
            }
            score = scores[definition] = fsum(gains.values())
            if score > best.get(file, (0.0, {}))[0]:
                best[file] = (score, gains)
        rows[file] = [scores[piece.definition] for piece in analysis.pieces]
    matched = {file: strongest_terms(gains) for file, (_, gains) in best.items()}
    return Evidence("definition text", pieces=PieceValues(rows).scaled(), matched=matched)


def _definition_counts(
    candidates: Candidates, postings: Postings
) -> Mapping[PieceKey, dict[str, int]]:
    """Return for ``(file, definition)`` how often its pieces hold each term."""
    owners = {
        file: [(file, piece.definition) for piece in analysis.pieces]
        for file, analysis in candidates.items()
    }
    counts: dict[PieceKey, dict[str, int]] = {}
    for term, holding in postings.items():
        for (file, place), count in holding.items():
            unit = owners[file][place]
            document = counts.get(unit)
            if document is None:
                counts[unit] = {term: count}
            else:
                document[term] = document.get(term, 0) + count
    return counts


def _definition_lengths(candidates: Candidates) -> Mapping[PieceKey, int]:
    """Return the terms of each ``(file, definition)``."""
    lengths: dict[PieceKey, int] = {}
    for file, analysis in candidates.items():
        for piece in analysis.pieces:
            unit = (file, piece.definition)
            lengths[unit] = lengths.get(unit, 0) + piece.terms
    return lengths


def _names_in(
    inquiry: Inquiry, candidates: Candidates
) -> Mapping[int, Sequence[Mapping[str, int]]]:
    """Return for each file and definition the task's terms in its name, counted as in its document, and around it."""
    return {file: _file_names(inquiry, analysis) for file, analysis in candidates.items()}


def _file_names(inquiry: Inquiry, analysis: FileAnalysis) -> Sequence[Mapping[str, int]]:
    names: list[Mapping[str, int]] = []
    matched = inquiry.matcher.matched
    for definition in analysis.definitions:
        counts: dict[str, int] = {}
        for name in definition.path[:-1]:
            for term in matched(name):
                counts[term] = counts.get(term, 0) + 1
        for term in matched(definition.path[-1]) if definition.path else ():
            counts[term] = counts.get(term, 0) + NAME_WEIGHT
        names.append(counts)
    return names


def _subject_in_pieces(inquiry: Inquiry, candidates: Candidates, postings: Postings) -> Evidence:
    """Compare single pieces with the first line of the task, which says what it is about."""
    facts = inquiry.files
    average = _average([sum(f.terms for f in facts) / max(1, sum(f.pieces for f in facts))])
    subject = [query for query in inquiry.terms if query.in_subject]
    values: dict[PieceKey, float] = {}
    lengths: dict[PieceKey, float] = {}
    for query in subject:
        worth = query.piece_rarity * (K1 + 1)
        for key, count in postings[query.term].items():
            if key not in lengths:
                terms = candidates[key[0]].pieces[key[1]].terms
                lengths[key] = K1 * (1 - PIECE_B + PIECE_B * terms / average)
                values[key] = 0.0
            values[key] += worth * count / (count + lengths[key])
    matched: dict[int, str] = {}
    for file, key in _best_pieces(values).items():
        rarities = {q.term: q.piece_rarity for q in subject if key in postings[q.term]}
        matched[file] = strongest_terms(rarities)
    return scaled_evidence("subject", pieces=values, matched=matched)


def _best_pieces(values: Mapping[PieceKey, float]) -> Mapping[int, PieceKey]:
    """Return for each file its piece with the greatest value, the first of equal ones."""
    best: dict[int, PieceKey] = {}
    for key in sorted(values):
        known = best.get(key[0])
        if known is None or values[key] > values[known]:
            best[key[0]] = key
    return best


def _enclosing_names(
    inquiry: Inquiry,
    candidates: Candidates,
    names: Mapping[int, Sequence[Mapping[str, int]]],
) -> Evidence:
    """Compare the task with the names of a piece's definition and of what it stands in, however many there are."""
    worth = {query.term: query.weight * query.piece_rarity for query in inquiry.terms}
    rows: dict[int, list[float]] = {}
    matched: dict[int, str] = {}
    for file, analysis in candidates.items():
        scores = [_worth_of_names(held, worth) if held else 0.0 for held in names[file]]
        best = max(scores, default=0.0)
        if best:
            matched[file] = ".".join(analysis.definitions[scores.index(best)].path)
            scores.append(0.0)  # of -1, which is no definition
            rows[file] = [scores[piece.definition] for piece in analysis.pieces]
    return Evidence("names around", pieces=PieceValues(rows).scaled(), matched=matched)


def _worth_of_names(held: Mapping[str, int], worth: Mapping[str, float]) -> float:
    """Return what a definition's names add; its own name counts twice."""
    return fsum(
        worth[term] * saturation(min(count, 2), length=1.0, b=0.0)
        for term, count in held.items()
        if term in worth
    )


def _units(analysis: FileAnalysis) -> Sequence[int]:
    """Return the definitions that have pieces, -1 for what is outside of all."""
    return list(dict.fromkeys(piece.definition for piece in analysis.pieces))


def _add(document: dict[str, int], counts: Mapping[str, int]) -> None:
    for term, count in counts.items():
        document[term] = document.get(term, 0) + count


def _average(lengths: Sequence[float]) -> float:
    """Return the mean length, never below 1."""
    return max(1.0, fsum(lengths) / len(lengths)) if lengths else 1.0
