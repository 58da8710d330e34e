"""The whole way from a question to files in order: each evidence asked, and all of them weighed."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import exp, fsum, log, log1p

from aggregate.base.request import Missing
from aggregate.ranking.companions import COMPANIONS, companions
from aggregate.ranking.covered_names import definition_names, file_names
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
)
from aggregate.ranking.files.analysis import Corpus
from aggregate.ranking.guess import guess_of, spelt
from aggregate.ranking.history_evidence import (
    changed_definitions,
    changed_files,
    changed_together,
    last_changes,
    message_text,
)
from aggregate.ranking.inquiry import Candidates, Inquiry, Question
from aggregate.ranking.kind_evidence import (
    chore_of,
    file_kinds,
    file_sizes,
    inner_files,
    introduction,
    kind_of_chore,
    language_share,
    piece_shapes,
)
from aggregate.ranking.mentions import (
    asks_for_uses,
    files_with_named_definitions,
    named_definitions,
    named_files,
    pointed_files,
    seed_files,
    seeded_pieces,
    sole_definitions,
    traced_files,
    traced_places,
    used_identifiers,
)
from aggregate.ranking.paths import PathKind
from aggregate.ranking.picked import picked, unpicked_scale
from aggregate.ranking.references import Resolver, near_seeds
from aggregate.ranking.text_evidence import file_text, piece_texts

# Files whose pieces are scored. Of 108 commits of two projects of 800 and 2,000 files, 300 showed as many files and
# lines and one definition more, 150 fewer files.
MOST_CANDIDATES = 200
# Their pieces: files of more, in the rough order, are passed over, so that a question takes a bounded time.
_MOST_PIECES = 15_000
_MOST_SEEDED = 300  # further files that are candidates because the question points at them
_MOST_COMPANIONS = 10
# How surely a definition must be named for its file to be a candidate whatever else is said about it.
_CERTAIN = 0.3


@dataclass(frozen=True, slots=True)
class Observation:
    """What was observed."""

    evidences: Sequence[Evidence]
    candidates: Candidates
    files: Sequence[float]
    pieces: Mapping[int, Sequence[float]]


def observe(inquiry: Inquiry, weights: Mapping[str, float]) -> Observation:
    """Gather all evidences; weights decide which files are looked at closely."""
    pointed_at = seed_files(inquiry)
    whole = [
        file_text(inquiry),
        file_names(inquiry),
        named_files(inquiry),
        changed_files(inquiry),
        message_text(inquiry),
        last_changes(inquiry),
        *file_kinds(inquiry, pointed_at | pointed_files(inquiry)),
        inner_files(inquiry),
        language_share(inquiry),
        file_sizes(inquiry),
    ]
    files = add_to_files([0.0] * len(inquiry.files), whole, weights)
    sources = dict.fromkeys(sorted(pointed_at)[:_MOST_SEEDED], 1.0)
    if inquiry.question.task.terms:
        for rank, file in enumerate(best_keys(dict(enumerate(files)), _MOST_COMPANIONS)):
            if inquiry.kinds[file] is PathKind.SOURCE:
                sources.setdefault(file, 1 / (rank + 1))
    together = changed_together(inquiry, sources)
    files = add_to_files(files, [together], weights)
    penalties = {e.kind: e.files for e in whole if e.kind in ("test", "auxiliary")}
    belonging = companions(inquiry, files, {**penalties["auxiliary"], **penalties["test"]})
    files = add_to_files(files, belonging, weights)
    own = (file for evidence in belonging for file in evidence.files)
    best = _best_files(inquiry, files, weights, pointed_at)
    candidates = inquiry.load([*best, *own], with_references=asks_for_uses(inquiry))
    places, seeds = traced_places(inquiry, candidates), seeded_pieces(inquiry, candidates)
    closely = [
        *piece_texts(inquiry, candidates),
        definition_names(inquiry, candidates),
        named_definitions(inquiry, candidates),
        sole_definitions(inquiry, candidates),
        *used_identifiers(inquiry, candidates),
        places,
        *changed_definitions(inquiry, candidates),
        *piece_shapes(candidates),
        *seeds,
        *picked(inquiry, candidates),
    ]
    given = {file: [files[file]] * len(analysis.pieces) for file, analysis in candidates.items()}
    near = near_seeds(inquiry, candidates, (places, *seeds))
    return Observation(
        [*whole, together, *belonging, *closely, near],
        candidates,
        add_to_files(files, [*closely, near], weights),
        add_to_pieces(given, [*closely, near], weights),
    )


def _best_files(
    inquiry: Inquiry, sums: Sequence[float], weights: Mapping[str, float], seeds: Set[int]
) -> Sequence[int]:
    named = files_with_named_definitions(inquiry)
    weight = weights.get("named in the task", 0.0)
    rough = {
        file: value + _logarithm_of_count(facts.pieces)
        for file, (value, facts) in enumerate(zip(sums, inquiry.files, strict=True))
        if facts.pieces
    }
    for file, value in named.items():
        if file in rough:
            rough[file] += weight * value
    pointed = [file for _, files, _ in traced_files(inquiry) for file in files]
    pointed += sorted(seeds)
    pointed += [inquiry.paths.numbers[pick.path] for pick in inquiry.question.picks]
    pointed += [file for file in best_keys(named) if named[file] >= _CERTAIN]
    seeded = list(dict.fromkeys(file for file in pointed if file in rough))[:_MOST_SEEDED]
    room = _MOST_PIECES
    kept: list[int] = []
    for file in best_keys(rough, MOST_CANDIDATES):
        pieces = inquiry.files[file].pieces
        if pieces <= room or not kept:
            kept.append(file)
            room -= pieces if pieces <= room else 0  # a giant leaves the others theirs
    return [*kept, *seeded]


@lru_cache(maxsize=1_024)  # asked of each file of a project, and most have fewer pieces
def _logarithm_of_count(count: int) -> float:
    """Return what ``count`` equal pieces add to the logarithm of their file's chance."""
    return log(max(1, count))


# Characters of a language's files below which it is no surprise that they define nothing.
_FEW_CHARACTERS = 2_000
# Part of the candidates' text in no known language from which it is told: every project has a licence and the like.
_MANY = 0.2


def missing_evidence(
    inquiry: Inquiry, evidences: Sequence[Evidence], candidates: Candidates
) -> Sequence[Missing]:
    gaps = [
        *inquiry.question.missing,
        *(evidence.missing for evidence in evidences if evidence.missing),
        *_text(inquiry),
        *_definitions(inquiry, candidates),
    ]
    return tuple(dict.fromkeys(gaps))


def _text(inquiry: Inquiry) -> Iterator[Missing]:
    if not inquiry.files:
        yield Missing("files", "there is no file to rank")
    elif any(gap.evidence == "text" for gap in inquiry.question.missing):
        return  # whoever asks has said so already
    elif not inquiry.question.task.text.strip():
        yield Missing("text", "there is no text of a task")
    elif not inquiry.terms:
        yield Missing("text", "the task has no words to compare with the files")
    elif not any(term.files for term in inquiry.terms):
        yield Missing("text", "none of the task's words occurs in a file")


def _definitions(inquiry: Inquiry, candidates: Candidates) -> Iterator[Missing]:
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
    for language in sorted(characters):
        if language not in defining and characters[language] >= _FEW_CHARACTERS:
            yield Missing("definitions", f"no definitions were found in {language}")
    size = sum(inquiry.files[file].characters for file in candidates)
    unknown_size = sum(inquiry.files[file].characters for file in unknown)
    if unknown and unknown_size >= _MANY * size:
        path = inquiry.files[unknown[0]].path
        others = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        yield Missing("definitions", f"no grammar for {path}{others}")


# Files whose uses are counted: more take seconds, and those that are nearest to the base hold what matters.
MOST_ANALYSED = 2_000
_SHORTEST_NAME = 3  # letters of a name below which its uses mostly mean something else
# Weights of the evidences without a question; chosen so that source comes before tests, and those before nothing.
STRUCTURE_WEIGHTS: Mapping[str, float] = {
    "used by others": 5.0,  # by how many files a file's definitions are used: what all need is told first
    "test": -5.5,  # as with a question
    "auxiliary": -4.5,
    "language": 2.4,
    # Of an overview: more than all else gives together, and what it loses as a document.
    "introduction": 14.0,
}
# Characters of what the project says of itself in which a piece comes to matter e times less.
_INTRODUCTION = 1_600
_DEFINITION_WEIGHT = 2.0


def rank_by_structure(corpus: Corpus, question: Question) -> Ranking:
    inquiry = Inquiry.of(corpus, question)
    first = introduction(inquiry) if question.is_overview else Evidence("introduction")
    given = [*file_kinds(inquiry), language_share(inquiry), first]
    rough = add_to_files([0.0] * len(corpus.files), given, STRUCTURE_WEIGHTS)
    candidates = inquiry.load(_analysed(inquiry, rough), with_references=True)
    used = _used_by_others(inquiry, candidates)
    evidences = [*given, used]
    sums = add_to_files(rough, [used], STRUCTURE_WEIGHTS)
    shared_out: dict[int, Sequence[float]] = {}
    for file, analysis in candidates.items():
        # All pieces of a file together have the file's sum, however many they are.
        places = range(len(analysis.pieces))
        values = [_DEFINITION_WEIGHT * used.pieces.get((file, place), 0.0) for place in places]
        if file in first.files:
            sizes = accumulate((piece.characters for piece in analysis.pieces), initial=0)
            scale = _INTRODUCTION * first.files[file] ** 4  # of its README more than of others
            values = [-size / scale for _, size in zip(places, sizes, strict=False)]
        whole = log(fsum(map(exp, values))) if values else 0.0
        shared_out[file] = [sums[file] + value - whole for value in values]
    pieces, others = probabilities(
        shared_out,
        {
            file: value
            for file, value in enumerate(sums)
            if file not in candidates and corpus.files[file].pieces
        },
    )
    why = reasons(evidences, STRUCTURE_WEIGHTS, best_pieces={}, files=[*candidates])
    files = in_order(len(corpus.files), pieces=pieces, others=others, why=why)
    # A task of which no word tells anything is answered so too.
    has_task = bool(question.task.text.strip())
    guess = guess_of(inquiry, (), candidates=candidates, files=files) if has_task else None
    by_share = dict.fromkeys(first.files, "introduction")
    return Ranking(files, missing_evidence(inquiry, evidences, candidates), by_share, guess)


def _analysed(inquiry: Inquiry, rough: Sequence[float]) -> Sequence[int]:
    # All of them unless they are too many, then those of the fewest folders.
    depths = {
        file: value - log1p(inquiry.files[file].path.count("/"))
        for file, value in enumerate(rough)
        if inquiry.files[file].pieces
    }
    return best_keys(depths, MOST_ANALYSED)


def _used_by_others(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    resolver = Resolver(inquiry.corpus, inquiry.paths, candidates)
    by_file: dict[int, set[int]] = {}
    users: dict[tuple[int, int], set[int]] = {}
    for user, analysis in candidates.items():
        seen: set[tuple[str, str, str]] = set()
        for reference in analysis.references:
            key = reference.name, reference.kind, reference.scope
            if key in seen or len(reference.name) < _SHORTEST_NAME:
                continue
            seen.add(key)
            target = resolver.sure_target(user, reference)
            if target and target[0] != user:
                by_file.setdefault(target[0], set()).add(user)
                users.setdefault(target, set()).add(user)
    by_definition = {target: log1p(len(others)) for target, others in users.items()}
    values = {file: log1p(len(others)) for file, others in by_file.items()}
    matched = {
        file: f"used by {len(others)} file{'s' if len(others) > 1 else ''}"
        for file, others in by_file.items()
    }
    pieces = {
        (file, place): by_definition[(file, piece.definition)]
        for file, analysis in candidates.items()
        for place, piece in enumerate(analysis.pieces)
        if (file, piece.definition) in by_definition
    }
    return Evidence("used by others", files=scaled(values), pieces=scaled(pieces), matched=matched)


def _chances(
    inquiry: Inquiry, observation: Observation
) -> tuple[Mapping[int, Sequence[float]], Mapping[int, float]]:
    # What the others' pieces would add is taken to be the least that it is for a candidate, so that they stand behind
    # those.
    scored = observation.pieces.items()
    least = min((max(row) - observation.files[file] for file, row in scored if row), default=0.0)
    others = {
        file: observation.files[file] + least + _logarithm_of_count(facts.pieces)
        for file, facts in enumerate(inquiry.files)
        if file not in observation.candidates and facts.pieces
    }
    return probabilities(observation.pieces, others)


# Files beyond the candidates that get reasons: nobody reads further down, and a monorepo has 100,000.
_MOST_EXPLAINED = 200


def rank(corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS) -> Ranking:
    """Rank the files of a corpus, and their pieces, by how likely a question touches them (rules T-1 to T-5).

    Args:
        corpus: The candidates.
        question: What is asked; an empty one is answered by structure alone.
        weights: By kind of evidence; a kind that is left out counts nothing.
    """
    if question.is_empty:
        return rank_by_structure(corpus, question)
    inquiry = Inquiry.of(corpus, question)
    if (spelled := spelt(inquiry)) is not question:
        inquiry = Inquiry.of(corpus, spelled)
    observation = observe(inquiry, weights)
    pieces, rest = _chances(inquiry, observation)
    best_pieces = {
        file: (file, max(range(len(values)), key=lambda place: values[place]))
        for file, values in pieces.items()
        if values
    }
    explained = [*observation.candidates, *best_keys(rest, _MOST_EXPLAINED)]
    why = reasons(observation.evidences, weights, best_pieces=best_pieces, files=explained)
    files = in_order(len(corpus.files), pieces=pieces, others=rest, why=why)
    by_share = {
        file: evidence.kind
        for evidence in observation.evidences
        if evidence.kind in COMPANIONS
        for file in evidence.files
    }
    evidences, candidates = observation.evidences, observation.candidates
    missing = missing_evidence(inquiry, evidences, candidates)
    guess = guess_of(inquiry, evidences, candidates=candidates, files=files)
    # A chore that changes settings is not helped by names: it edits a line here and there, and all settings are shown.
    is_chore = kind_of_chore(chore_of(question.task)) is PathKind.SETTINGS
    is_broad = guess is not None and not is_chore
    unpicked = unpicked_scale(pieces, evidences, weights)
    return Ranking(files, missing, by_share, guess, is_broad, unpicked)
