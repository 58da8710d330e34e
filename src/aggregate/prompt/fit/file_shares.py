"""Shares of the budget for groups of files: likely ones, tests, documents, and the folders of an overview."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aggregate.prompt.fit.candidates import Candidates
from aggregate.prompt.fit.entry_order import (
    CHARACTERS_PER_TOKEN,
    DENSITY,
    SEEN_FILES,
    WITH_TASK,
    FileShare,
    Fittable,
    StepOrder,
)
from aggregate.ranking import PathKind, kinds_of
from aggregate.ranking.files import Analysis, Piece

_LIKELY = 0.002  # files below this score follow all likelier ones (rule B-6)
_NEAR_BEST = 0.1  # all pieces of files with this part of the best score are relevant
# Likeliest files of a task that show a signature in any case; with 20, as without a task, 4,000 tokens show a hundredth
# fewer of the changed definitions.
_SEEN_FOR_TASK = 8
# Parts of the budget for tests and documents of the chosen sources (rule T-11). With 0.08 for tests a prompt of 27,000
# tokens shows 1 % fewer of the changed lines.
_PARTS: Final = {"tests": 0.1, "documents": 0.02}
_INTRODUCTION_DECAY = 0.9  # score of an introduction relative to the one before it
_OTHERS: Final = ("unlikely", "unread", "copy")  # kinds of files behind all likely ones
_FIRST_OTHERS = 100  # other files in the first group; each further group is twice as large
_NOTHING: Final = Piece(1, 1, -1, characters=0)  # the only piece of an empty file
_PART_BESIDE: Final = 0.05  # part of an overview for tests, examples and the like
_PART_OF_FOLDERS = 0.7  # part of an overview for large folders, by their code
_MOST_FOLDERS = 14
_LARGE: Final = 0.15  # part of all code from which a folder is split into its subfolders
_LARGE_FILE: Final = 2_000  # tokens of a file with a share of its own
_WITHOUT_TASK = 0.65  # part of signatures without a task: breadth explains a project better
_BROAD = 0.5  # the same if the task matches nothing (rule T-9) and changes no settings


def step_order(candidates: Candidates) -> StepOrder:
    """Return the order in which the candidates' lines enter a prompt."""
    signatures = _BROAD if candidates.ranking.is_broad else WITH_TASK
    signatures = _WITHOUT_TASK if candidates.question.is_empty else signatures
    shares = _overview_shares if candidates.question.is_overview else _shares
    return StepOrder(shares(candidates), signatures)


def _shares(candidates: Candidates) -> list[FileShare]:
    """Return the shares of likely files, of their tests and documents; all others follow the likely ones."""
    companions = candidates.ranking.companions
    by_kind: dict[str, list[int]] = {}
    for number, _, _, ranked in candidates.in_rank_order:
        kind = companions.get(number) or ("read" if ranked.pieces else "unread")
        kind = "copy" if number in candidates.copies else kind
        kind = "unlikely" if kind == "read" and ranked.score < candidates.least(_LIKELY) else kind
        is_hidden_copy = kind == "copy" and candidates.has_least  # the original shows its text
        if kind in _PARTS or (ranked.score >= candidates.relevant and not is_hidden_copy):
            by_kind.setdefault(kind, []).append(number)
    others = [number for kind in _OTHERS for number in by_kind.get(kind, [])]
    is_limited = candidates.has_least and candidates.request.is_finished
    first = _SEEN_FOR_TASK if candidates.has_least else SEEN_FILES
    groups = _groups(candidates, by_kind.get("read", []), others)
    shares = [FileShare(groups, 0.0, first, is_limited)]
    for kind, part in _PARTS.items():
        groups = _groups(candidates, by_kind.get(kind, []))
        shares.append(FileShare(groups, part, 0, is_limited))
    return shares


def _overview_shares(candidates: Candidates) -> list[FileShare]:
    """Return the shares of introductions, of large folders' sources, of tests and the like, and all others (T-12)."""
    corpus, introductions = candidates.corpus, candidates.ranking.companions
    kinds = kinds_of(corpus.files)
    first_read: list[int] = []
    sources: dict[str, int] = {}
    beside: list[int] = []
    others: list[int] = []
    for number, file, _, ranked in candidates.in_rank_order:
        is_code = corpus.files[number].is_code or file.path.endswith(".ipynb")
        if number in introductions:
            first_read.append(number)
        elif not ranked.pieces or not is_code:
            others.append(number)
        elif kinds[number] is PathKind.SOURCE:
            sources[file.path] = number
        else:
            beside.append(number)
    sizes = {
        path: corpus.files[number].characters // CHARACTERS_PER_TOKEN
        for path, number in sources.items()
    }
    total = sum(sizes.values()) or 1
    folders = large_folders(sizes, _MOST_FOLDERS)
    shares = [FileShare(_groups(candidates, first_read))]
    for paths in folders:
        part = _PART_OF_FOLDERS * sum(map(sizes.__getitem__, paths)) / total
        files = _groups(candidates, [sources[path] for path in paths])
        shares.append(FileShare(files, part, first=1 + SEEN_FILES // len(folders)))
    shares.append(FileShare(_groups(candidates, beside), _PART_BESIDE))
    return [*shares, FileShare(_groups(candidates, [], others))]


def large_folders(sizes: Mapping[str, float], most: int) -> list[list[str]]:
    """Group paths by folder, the largest first; large folders are split."""
    groups = {"": [*sizes]}
    total = sum(sizes.values()) or 1
    done: set[str] = set()
    while len(groups) < most:
        by_size = sorted(groups, key=lambda folder: -sum(sizes[path] for path in groups[folder]))
        folder = next((folder for folder in by_size if folder not in done), None)
        if folder is None or sum(sizes[path] for path in groups[folder]) < _LARGE * total:
            break
        done.add(folder)
        parts: dict[str, list[str]] = {}
        for path in groups.pop(folder):
            end = path.find("/", len(folder)) + 1
            is_large = sizes[path] >= max(_LARGE * total, _LARGE_FILE) or path.endswith(".ipynb")
            name = path if is_large and not end else path[:end] or folder
            parts.setdefault(name, []).append(path)
        groups |= parts
    return sorted(groups.values(), key=lambda paths: -sum(sizes[path] for path in paths))


def _groups(
    candidates: Candidates, ranked: Sequence[int], remaining: Sequence[int] = ()
) -> Iterator[Sequence[Fittable]]:
    """Yield groups of files, whose analyses are loaded only once a fit needs them."""
    if ranked:
        yield _fittables(candidates, ranked)
    size = _FIRST_OTHERS
    while remaining:
        yield _fittables(candidates, remaining[:size])
        remaining, size = remaining[size:], size * 2


def _fittables(candidates: Candidates, numbers: Sequence[int]) -> list[Fittable]:
    analyses = candidates.corpus.analyses(numbers)
    return [
        _fittable(candidates, number, analysis)
        for number, analysis in zip(numbers, analyses, strict=True)
    ]


def _fittable(candidates: Candidates, number: int, analysis: Analysis) -> Fittable:
    ranked = candidates.by_number[number].ranked
    is_likely = candidates.has_least and number in candidates.leading
    least = 0.0
    if candidates.is_relative and number not in candidates.ranking.companions:
        is_near = ranked.score >= _NEAR_BEST * candidates.in_rank_order[0].ranked.score
        least = 0.0 if is_near else candidates.least_piece
    pieces = analysis.pieces or (_NOTHING,)
    return Fittable(
        number,
        analysis.definitions,
        pieces,
        _chances(candidates, number, pieces),
        is_prose=not candidates.corpus.files[number].is_code,
        is_notebook=candidates.by_number[number].file.path.endswith(".ipynb"),
        is_likely=is_likely,
        calls=_calls(candidates, number) if is_likely else {},
        least=least,
    )


def _chances(candidates: Candidates, number: int, pieces: Sequence[Piece]) -> Sequence[float]:
    """Return the probability of each piece."""
    ranked = candidates.by_number[number].ranked
    chances = ranked.pieces
    if len(chances) != len(pieces):  # not analysed by the ranking, or changed since
        total = sum(piece.characters for piece in pieces) or 1
        chances = [ranked.score * piece.characters / total for piece in pieces]
    if not candidates.question.is_empty:
        return chances
    # Without a task pieces of likelier files enter first, even long ones; in an overview the introductions do.
    score = ranked.score
    if candidates.question.is_overview and number in candidates.ranking.companions:
        score = _INTRODUCTION_DECAY ** list(candidates.ranking.companions).index(number)
    best = max(chances, default=0.0) or 1.0
    sizes = [max(1, piece.characters / CHARACTERS_PER_TOKEN) ** DENSITY for piece in pieces]
    return [score * chance / best * size for chance, size in zip(chances, sizes, strict=True)]


def _calls(candidates: Candidates, number: int) -> Mapping[int, Sequence[int]]:
    """Return which definitions of a file each of its definitions calls; ambiguous names are ignored."""
    (analysis,) = candidates.corpus.analyses([number], with_references=True)
    calls: dict[int, list[int]] = {}
    for reference in analysis.references:
        definitions = analysis.named.get(reference.name, ())
        if reference.definition >= 0 and len(definitions) == 1:
            calls.setdefault(reference.definition, []).append(definitions[0])
    return calls
