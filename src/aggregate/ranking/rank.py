"""Rank files by weighted evidence for a question."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, fsum, inf, log, log1p

from aggregate.base.task_budget import Missing
from aggregate.code.syntax import HOW_TO_INSTALL, LANGUAGES
from aggregate.ranking import (
    covered_names,
    history_evidence,
    kind_evidence,
    mentions,
    text_evidence,
)
from aggregate.ranking.evidence import (
    WEIGHTS,
    Evidence,
    Ranking,
    add_to_files,
    add_to_pieces,
    best_keys,
    in_order,
    probabilities,
    reasons,
    scaled,
    unpicked_scale,
)
from aggregate.ranking.files.analysis import Analysis, Corpus, Piece
from aggregate.ranking.guess import guess_of, is_pointed, spelt, without_foreign_names
from aggregate.ranking.inquiry import Candidates, Inquiry, Question
from aggregate.ranking.paths import PathKind
from aggregate.ranking.reference_graph import Resolver, near_seeds

# Files whose pieces are scored. In 108 commits of two projects of 800 and 2,000 files, 300 showed as many files and
# lines and one definition more, 150 fewer files.
MOST_CANDIDATES = 200
# Pieces of all candidates; files beyond are skipped, which bounds the time.
_MOST_PIECES = 15_000
_MOST_SEEDED = 300  # additional candidates from the question's seeds
_MOST_COMPANIONS = 10
# Certainty at which the file of a named definition becomes a candidate regardless of other evidence.
_CERTAIN = 0.3


@dataclass(frozen=True, slots=True)
class Observation:
    """All evidence for a question, and its weighted sums by file and by piece."""

    evidences: Sequence[Evidence]
    candidates: Candidates
    files: Sequence[float]
    pieces: Mapping[int, Sequence[float]]


def observe(inquiry: Inquiry, weights: Mapping[str, float]) -> Observation:
    """Collect all evidence for a question; only files with enough of it are analysed."""
    seeds = mentions.seed_files(inquiry)
    whole = [
        text_evidence.file_text(inquiry),
        covered_names.file_names(inquiry),
        covered_names.named_files(inquiry),
        history_evidence.changed_files(inquiry),
        history_evidence.message_text(inquiry),
        history_evidence.last_changes(inquiry),
        *kind_evidence.file_kinds(inquiry, seeds | mentions.pointed_files(inquiry)),
        kind_evidence.inner_files(inquiry),
        kind_evidence.language_share(inquiry),
        text_evidence.file_sizes(inquiry),
    ]
    files = add_to_files([0.0] * len(inquiry.files), whole, weights)
    sources = dict.fromkeys(sorted(seeds)[:_MOST_SEEDED], 1.0)
    if inquiry.question.task.terms:
        for rank, file in enumerate(best_keys(dict(enumerate(files)), _MOST_COMPANIONS)):
            if inquiry.kinds[file] is PathKind.SOURCE:
                sources.setdefault(file, 1 / (rank + 1))
    together = history_evidence.changed_together(inquiry, sources)
    files = add_to_files(files, [together], weights)
    penalties = {evidence.kind: evidence.files for evidence in whole}
    against = {**penalties["auxiliary"], **penalties["test"]}
    companion = kind_evidence.companions(inquiry, files, against)
    files = add_to_files(files, companion, weights)
    companion_files = [file for evidence in companion for file in evidence.files]
    best = _best_files(inquiry, files, weights, seeds)
    is_about_uses = mentions.needs_references(inquiry)
    candidates = inquiry.load([*best, *companion_files], with_references=is_about_uses)
    traced = mentions.traced_pieces(inquiry, candidates)
    seeded = mentions.seeded_pieces(inquiry, candidates)
    detailed = [
        *text_evidence.piece_texts(inquiry, candidates),
        covered_names.definition_names(inquiry, candidates),
        mentions.named_definitions(inquiry, candidates),
        mentions.sole_definitions(inquiry, candidates),
        *mentions.used_identifiers(inquiry, candidates),
        traced,
        *history_evidence.changed_definitions(inquiry, candidates),
        *text_evidence.piece_shapes(candidates),
        *seeded,
        *mentions.picked(inquiry, candidates),
    ]
    detailed.append(near_seeds(inquiry, candidates, (traced, *seeded)))
    pieces = {file: [files[file]] * len(analysis.pieces) for file, analysis in candidates.items()}
    return Observation(
        [*whole, together, *companion, *detailed],
        candidates,
        add_to_files(files, detailed, weights),
        add_to_pieces(pieces, detailed, weights),
    )


def _best_files(
    inquiry: Inquiry, sums: Sequence[float], weights: Mapping[str, float], seeds: Set[int]
) -> Sequence[int]:
    certainties = mentions.files_with_named_definitions(inquiry)
    weight = weights.get("named in the task", 0.0)
    rough = {
        file: value + log(facts.pieces)  # as many equally likely pieces
        for file, (value, facts) in enumerate(zip(sums, inquiry.files, strict=True))
        if facts.pieces
    }
    for file, certainty in certainties.items():
        if file in rough:
            rough[file] += weight * certainty
    pointed = [file for _, files, _ in mentions.traced_files(inquiry) for file in files]
    pointed += sorted(seeds)
    pointed += [inquiry.paths.numbers[pick.path] for pick in inquiry.question.picks]
    pointed += [file for file in best_keys(certainties) if certainties[file] >= _CERTAIN]
    seeded = list(dict.fromkeys(file for file in pointed if file in rough))[:_MOST_SEEDED]
    room = _MOST_PIECES
    best: list[int] = []
    for file in best_keys(rough, MOST_CANDIDATES):
        pieces = inquiry.files[file].pieces
        if pieces <= room:
            best.append(file)
            room -= pieces
        elif not best:  # a giant in front takes no room from the others
            best.append(file)
    return [*best, *seeded]


# Characters of a language's files from which a lack of definitions is reported.
_FEW_CHARACTERS = 2_000
# Smallest reported share of text in unknown languages: every project has a licence and the like.
_MANY = 0.2


def missing_evidence(
    inquiry: Inquiry, evidences: Sequence[Evidence], candidates: Candidates
) -> Sequence[Missing]:
    gaps = [
        *inquiry.question.missing,
        *(evidence.missing for evidence in evidences if evidence.missing),
        *_missing_text(inquiry),
        *_missing_definitions(inquiry, candidates),
    ]
    return tuple(dict.fromkeys(gaps))


def _missing_text(inquiry: Inquiry) -> Iterator[Missing]:
    if not inquiry.files:
        yield Missing("files", "no files to rank")
    elif any(gap.evidence == "text" for gap in inquiry.question.missing):
        return  # the caller has reported it
    elif not inquiry.question.task.text.strip():
        yield Missing("text", "the task has no text")
    elif not inquiry.terms:
        yield Missing("text", "the task has no words to compare with the files")
    elif not any(term.files for term in inquiry.terms):
        yield Missing("text", "none of the task's words occurs in a file")


def _missing_definitions(inquiry: Inquiry, candidates: Candidates) -> Iterator[Missing]:
    characters: dict[str, int] = {}
    defining: set[str] = set()
    unknown: list[int] = []
    for file, analysis in candidates.items():
        facts = inquiry.files[file]
        if not facts.language:
            unknown.append(file)
        elif analysis.definitions:
            defining.add(facts.language)
        elif facts.is_code:
            characters[facts.language] = characters.get(facts.language, 0) + facts.characters
    uninstalled = {language.name for language in LANGUAGES if not language.is_installed}
    for language in sorted(characters):
        if language in defining or characters[language] < _FEW_CHARACTERS:
            continue
        if language in uninstalled:
            why = "is read as plain text, as its grammar is not installed"
            yield Missing("grammars", f"{language} {why}: {HOW_TO_INSTALL}")
        else:
            yield Missing("definitions", f"no definitions were found in {language}")
    size = sum(inquiry.files[file].characters for file in candidates)
    unknown_size = sum(inquiry.files[file].characters for file in unknown)
    if unknown and unknown_size >= _MANY * size:
        path = inquiry.files[unknown[0]].path
        suffix = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        yield Missing("definitions", f"no grammar for {path}{suffix}")


# Files whose uses are counted, those nearest to the base directory first: more take seconds.
MOST_ANALYSED = 2_000
_SHORTEST_NAME = 3  # letters of a name whose uses count; shorter names are ambiguous
# Weights without a question, chosen to put source before tests.
STRUCTURE_WEIGHTS: Mapping[str, float] = {
    "used by others": 5.0,  # number of files using a file's definitions
    "test": -5.5,  # as with a question
    "auxiliary": -4.5,
    "language": 2.4,
    # In an overview: above the sum of all others and the penalty of a document.
    "introduction": 14.0,
}
# Characters of an introduction over which the value of its pieces falls to 1/e.
_INTRODUCTION = 1_600
_SHORT_ENTRY_POINT = 8_000  # characters
_HOW_TO = re.compile(
    r"\b(?:add|adding|architecture|build|building|develop|developing|development|layout|structure|tests?|testing)\b",
    re.IGNORECASE,
)
_DEFINITION_WEIGHT = 2.0


def rank_by_structure(corpus: Corpus, question: Question) -> Ranking:
    inquiry = Inquiry.of(corpus, question)
    guides = (
        kind_evidence.introduction(inquiry) if question.is_overview else Evidence("introduction")
    )
    evidences = [*kind_evidence.file_kinds(inquiry), kind_evidence.language_share(inquiry), guides]
    rough = add_to_files([0.0] * len(corpus.files), evidences, STRUCTURE_WEIGHTS)
    candidates = inquiry.load(_analysed(inquiry, rough), with_references=True)
    uses = _used_by_others(inquiry, candidates)
    evidences.append(uses)
    sums = add_to_files(rough, [uses], STRUCTURE_WEIGHTS)
    piece_sums: dict[int, Sequence[float]] = {}
    for file, analysis in candidates.items():
        count = len(analysis.pieces)
        values = [_DEFINITION_WEIGHT * uses.pieces.get((file, i), 0.0) for i in range(count)]
        if file in guides.files:
            ends = accumulate((piece.characters for piece in analysis.pieces), initial=0)
            facts = corpus.files[file]
            is_short = facts.is_code and facts.characters <= _SHORT_ENTRY_POINT  # shown whole
            # More of the README than of others.
            scale = inf if is_short else _INTRODUCTION * guides.files[file] ** 4
            values = [
                0.0 if _says_how(analysis, piece) else -end / scale
                for piece, end in zip(analysis.pieces, ends, strict=False)
            ]
        # Together the pieces have the file's sum, however many they are.
        total = log(fsum(map(exp, values))) if values else 0.0
        piece_sums[file] = [sums[file] + value - total for value in values]
    pieces, file_chances = probabilities(
        piece_sums,
        {
            file: value
            for file, value in enumerate(sums)
            if file not in candidates and corpus.files[file].pieces
        },
    )
    why = reasons(evidences, STRUCTURE_WEIGHTS, best_pieces={}, files=[*candidates])
    files = in_order(len(corpus.files), pieces=pieces, others=file_chances, why=why)
    # A task without any meaningful word is ranked by structure too.
    has_task = bool(question.task.text.strip())
    guess = guess_of(inquiry, (), candidates=candidates, files=files) if has_task else None
    by_share = dict.fromkeys(guides.files, "introduction")
    return Ranking(files, missing_evidence(inquiry, evidences, candidates), by_share, guess)


def _says_how(analysis: Analysis, piece: Piece) -> bool:
    """Return whether a section of a guide says how to build, test or extend the project."""
    if piece.definition < 0:
        return False
    definition = analysis.definitions[piece.definition]
    return definition.kind == "heading" and bool(_HOW_TO.search(definition.path[-1]))


def _analysed(inquiry: Inquiry, rough: Sequence[float]) -> Sequence[int]:
    values = {
        file: value - log1p(inquiry.files[file].path.count("/"))
        for file, value in enumerate(rough)
        if inquiry.files[file].pieces
    }
    return best_keys(values, MOST_ANALYSED)


def _used_by_others(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    resolver = Resolver(inquiry.corpus, inquiry.paths, candidates)
    users_of_file: dict[int, set[int]] = {}
    users_of_definition: dict[tuple[int, int], set[int]] = {}
    for user, analysis in candidates.items():
        names: set[tuple[str, str, str]] = set()
        for reference in analysis.references:
            key = reference.name, reference.kind, reference.scope
            if key in names or len(reference.name) < _SHORTEST_NAME:
                continue
            names.add(key)
            target = resolver.sure_target(user, reference)
            if target and target[0] != user:
                users_of_file.setdefault(target[0], set()).add(user)
                users_of_definition.setdefault(target, set()).add(user)
    by_definition = {target: log1p(len(users)) for target, users in users_of_definition.items()}
    values = {file: log1p(len(users)) for file, users in users_of_file.items()}
    matched = {
        file: f"used by {len(users)} file{'s' if len(users) > 1 else ''}"
        for file, users in users_of_file.items()
    }
    pieces = {
        (file, index): by_definition[(file, piece.definition)]
        for file, analysis in candidates.items()
        for index, piece in enumerate(analysis.pieces)
        if (file, piece.definition) in by_definition
    }
    return Evidence("used by others", files=scaled(values), pieces=scaled(pieces), matched=matched)


_MOST_EXPLAINED = 200  # files with reasons beyond the candidates; a monorepo has 100,000


def rank(corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS) -> Ranking:
    """Rank the files of a corpus for a question.

    Files and their pieces are ranked by relevance (rules T-1 to T-5).

    Args:
        corpus: The candidates.
        question: An empty one is ranked by structure alone.
        weights: By kind of evidence; an absent kind counts nothing.
    """
    if question.is_empty:
        return rank_by_structure(corpus, question)
    inquiry = Inquiry.of(corpus, question)
    inquiry = replace(inquiry, question=without_foreign_names(inquiry))
    corrected = spelt(inquiry)
    if corrected is not inquiry.question:
        inquiry = Inquiry.of(corpus, corrected)
    observation = observe(inquiry, weights)
    # Other files have no piece evidence: assume the least of any candidate, to put them behind.
    rows = observation.pieces.items()
    least = min((max(row) - observation.files[file] for file, row in rows if row), default=0.0)
    remaining = {
        file: observation.files[file] + least + log(facts.pieces)
        for file, facts in enumerate(inquiry.files)
        if file not in observation.candidates and facts.pieces
    }
    pieces, rest = probabilities(observation.pieces, remaining)
    best_pieces = {
        file: (file, max(range(len(values)), key=values.__getitem__))
        for file, values in pieces.items()
        if values
    }
    explained = [*observation.candidates, *best_keys(rest, _MOST_EXPLAINED)]
    why = reasons(observation.evidences, weights, best_pieces=best_pieces, files=explained)
    files = in_order(len(corpus.files), pieces=pieces, others=rest, why=why)
    by_share = {
        file: evidence.kind
        for evidence in observation.evidences
        if evidence.kind in kind_evidence.COMPANIONS
        for file in evidence.files
    }
    evidences, candidates = observation.evidences, observation.candidates
    missing = missing_evidence(inquiry, evidences, candidates)
    guess = guess_of(inquiry, evidences, candidates=candidates, files=files)
    # Names do not help a chore about settings: it edits single lines, and all settings are shown.
    is_chore = (
        kind_evidence.kind_of_chore(kind_evidence.chore_of(question.task)) is PathKind.SETTINGS
    )
    is_broad = guess is not None and not is_chore
    unpicked = unpicked_scale(pieces, evidences, weights)
    pointed = is_pointed(inquiry, evidences)
    return Ranking(files, missing, by_share, guess, is_broad, unpicked, pointed)
