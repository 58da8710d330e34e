"""Rank the files of a request by its task; list the likeliest for a model (rule T-10)."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from math import fsum
from posixpath import normpath
from typing import Final, NamedTuple

from aggregate.base.errors import SeedError
from aggregate.base.files import FOCUS_TIER, ViewMode
from aggregate.base.monitor import timed
from aggregate.base.nearest_names import nearest_path
from aggregate.base.task_budget import FileChoice, Level, Missing, Pick, Place, Task
from aggregate.base.text import printable
from aggregate.project.git import changed_lines
from aggregate.project.index import Index
from aggregate.prompt.asking import Request, find_named
from aggregate.prompt.corpus.commit_history import CommitHistory
from aggregate.prompt.corpus.file_corpus import FileCorpus, read_files
from aggregate.ranking import WEIGHTS, Question, Ranking, no_definitions, rank, read_task, term_list
from aggregate.ranking.files import Analysis

_MOST_SEARCHED: Final = 300  # files that are searched for names like a symbol
SHEET_TOKENS: Final = 6_000  # the most
_FILES: Final = 40  # contain the right sources of 87 % of commits, 20 files those of 81 %
_DEFINITIONS: Final = 5  # of each file
_SIGNATURE: Final = 100  # characters; longer ones are cut
_PICKED, _NAMED = 5, 8  # files and definitions that an answer may pick
_SURE: Final = 0.6  # total score of the likeliest files from which no second look is needed
_EXPECTED: Final = 8  # names and words missing in the sheet
_UNSEEN: Final = 0.4  # confidence in a file or definition that was named unseen, but exists
_WHY: Final = 200  # characters of a reason that are kept
# Views with signatures.
_TELLING: Final = frozenset({ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE})


class RankedFiles(NamedTuple):
    corpus: FileCorpus
    question: Question
    ranking: Ranking


@timed("rank_files")
def rank_files(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: FileCorpus | None = None,
) -> RankedFiles:
    """Read and rank the files of a request by its task.

    See ``read_files`` for the arguments.
    """
    history = None
    if request.task:  # read while the files are
        history = CommitHistory(str(request.base_dir), index=index)
    corpus = files or read_files(request, index=index, on_start=on_start, on_done=on_done)
    paths = [facts.path for facts in corpus.files]
    question = question_for(request, index=index, paths=paths, history=history)
    # The task's unknown names are errors; for Tier 3 prompts they only cause warnings.
    is_strict = request.task and request.task.is_strict and request.tier != FOCUS_TIER
    if is_strict:
        corpus.selection.check_focus(request)
    ranking = rank(corpus, question, weights=weights)
    if is_strict and question.symbols and no_definitions(question.symbols) in ranking.missing:
        raise _unknown_symbols(question.symbols, corpus)
    return RankedFiles(corpus, question, ranking)


def question_for(
    request: Request, *, index: Index, paths: Sequence[str], history: CommitHistory | None = None
) -> Question:
    """Return the question for ranking files.

    It is empty for a request without a task. ``paths`` are the candidates' paths in the prompt; ``history`` has
    the commits.
    """
    task = request.task or Task()
    folder = str(request.base_dir)
    candidates = frozenset(paths)
    changes = changed_lines(folder, task.since) if task.since else ()
    question = Question(
        is_overview=request.is_structural,
        task=read_task("\n\n".join(filter(None, (task.text, " ".join(task.expected))))),
        focus=tuple(resolve_place(place, candidates) for place in task.focus),
        symbols=tuple(dict.fromkeys(name.strip() for name in task.symbols if name.strip())),
        # Only candidates are ever shown (T-6).
        changes=tuple(change for change in changes if change.path in candidates),
        picks=tuple(pick for pick in task.picks if pick.path in candidates),
    )
    missing: list[Missing] = []
    if request.task and not task.text.strip():
        missing.append(Missing("text", "the task has no text"))
    elif request.task and not question.task.terms:
        missing.append(Missing("text", "the task has only common words"))
    if task.since and not question.changes:
        missing.append(
            Missing(
                "changes",
                f"none of the files differs from {task.since}; an older revision has committed changes",
            )
        )
    if question.is_empty:
        return replace(question, missing=tuple(missing))
    history = history or CommitHistory(folder, index=index)
    commits = history.commits_for(question.task.change_words)
    if history.missing:
        missing.insert(0, history.missing)
    return replace(question, commits=commits, missing=tuple(missing))


def resolve_place(place: Place, candidates: Set[str]) -> tuple[str, int, int]:
    """Return path, first and last line of a named place.

    The user has named the place; the path is that of a candidate. A place names a candidate by its path, or by the
    path's last parts if they are unique. A file with a name such as ``a:1`` takes precedence over a place. Unknown
    paths are returned unchanged.
    """
    file = _candidate(str(place), candidates) if place.first else None
    if file:
        return file, 0, 0
    return _candidate(place.path, candidates) or place.path, place.first, place.last


def _candidate(name: str, candidates: Set[str]) -> str | None:
    if name in candidates:
        return name
    normalized = normpath(name.replace("\\", "/")) if name else ""
    if not normalized or normalized in candidates:
        return normalized or None
    ending = [path for path in candidates if path.endswith(f"/{normalized}")]
    return ending[0] if len(ending) == 1 else None


def _unknown_symbols(symbols: Sequence[str], corpus: FileCorpus) -> SeedError:
    code = [number for number, facts in enumerate(corpus.files) if facts.is_code]
    holding = {
        number
        for symbol in symbols
        for term in term_list(symbol)
        for number in corpus.files_with(term)
    }
    # Files that hold a part of the name come first.
    code.sort(key=lambda number: number not in holding)
    names = {
        definition.path[-1]
        for analysis in corpus.analyses(code[:_MOST_SEARCHED])
        for definition in analysis.definitions
        if definition.path
    }
    nearest = dict.fromkeys(nearest_path(symbol, sorted(names)) for symbol in symbols)
    proposals = " or ".join(f'"{name}"' for name in nearest if name)
    remedy = f": did you mean {proposals}?" if proposals else ": name a function, class or constant"
    return SeedError(f"{no_definitions(symbols).reason}{remedy}")


def scored_choices(ranked: RankedFiles) -> list[FileChoice]:
    """Return the choices of a prompt with a task but no budget: all files, with scores (rule T-3)."""
    corpus, ranking = ranked.corpus, ranked.ranking
    by_path = {
        corpus.files[entry.file].path: (position, entry)
        for position, entry in enumerate(ranking.files, start=1)
    }
    choices: list[FileChoice] = []
    for file in corpus.selection.files:
        level = Level((file.entry.view_mode if file.item.auto_aggregate else ViewMode.NONE).value)
        choice = FileChoice(file.path, file.item.path, Level.LEFT_OUT, level)
        if file.path in by_path:
            position, entry = by_path[file.path]
            choice = choice._replace(
                level=level,
                score=entry.score,
                rank=position,
                reasons=entry.reasons,
                content_hash=corpus.content_hash(entry.file).hex(),
            )
        choices.append(choice)
    return choices


class _Row(NamedTuple):
    path: str
    content_hash: bytes
    definitions: Sequence[tuple[int, str, str]]  # line, name, signature; the likeliest first

    def text(self, number: int) -> str:
        signatures = (f"   {signature}\n" for _, _, signature in sorted(self.definitions))
        return f"{number}. {printable(self.path)}\n" + "".join(signatures)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The list of likely files for a model's picks."""

    text: str
    names: Mapping[str, tuple[str, ...]]  # its definitions by path
    hashes: tuple[tuple[str, str], ...]  # of the files' contents, in the order of their paths


def make_sheet(
    ranked: RankedFiles, count: Callable[[str], int], *, most: int = SHEET_TOKENS
) -> Sheet:
    """Return the longest list within ``most`` tokens; definitions are left out before files."""
    rows = list(islice(_rows(ranked), _FILES))
    sizes = [(len(rows), number) for number in range(_DEFINITIONS, -1, -1)]
    sizes += [(files, 0) for files in range(len(rows) - 1, -1, -1)]
    for files, definitions in sizes:
        listed = [row._replace(definitions=row.definitions[:definitions]) for row in rows[:files]]
        if count(text := "".join(row.text(number) for number, row in enumerate(listed, 1))) <= most:
            break
    names: dict[str, tuple[str, ...]] = {}
    for row in listed:
        names[row.path] = tuple(name for _, name, _ in row.definitions)
    return Sheet(text, names, tuple(sorted((row.path, row.content_hash.hex()) for row in listed)))


def _rows(ranked: RankedFiles) -> Iterator[_Row]:
    corpus = ranked.corpus
    for number, _, chances, _ in ranked.ranking.files:
        file, definitions = corpus.shown[number], []
        if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
            continue
        lines = corpus.text(number).split("\n")
        analysis = corpus.analysis(number)
        for index in _likeliest(analysis, chances) if file.entry.view_mode in _TELLING else ():
            definition = analysis.definitions[index]
            first, last = definition.signature_lines
            signature = _signature(lines[first - 1 : last], definition.path[-1])
            outer = f"{'.'.join(definition.path[:-1])}: " if len(definition.path) > 1 else ""
            signature = printable(f"{outer}{signature}"[:_SIGNATURE])
            definitions.append((first, ".".join(definition.path), signature))
        yield _Row(file.path, corpus.content_hash(number), definitions)


def _signature(lines: Sequence[str], name: str) -> str:
    """Return a signature in one line, without decorators and attributes."""
    naming = (number for number, line in enumerate(lines) if name in line)
    plain = (number for number in naming if not lines[number].lstrip().startswith(("@", "#[")))
    return " ".join(" ".join(lines[next(plain, 0) :]).split())


def _likeliest(analysis: Analysis, chances: Sequence[float]) -> list[int]:
    masses = [0.0] * len(analysis.definitions)
    # No chances for a file that was not analysed.
    for piece, chance in zip(analysis.pieces, chances, strict=False):
        if piece.definition >= 0:
            masses[piece.definition] += chance
    named = [number for number, definition in enumerate(analysis.definitions) if definition.path]
    return sorted(named, key=lambda number: -masses[number])[:_DEFINITIONS]


def is_unsure(ranked: RankedFiles) -> bool:
    """Return whether the ranking is so unsure that a model's picks would improve it (rule T-17)."""
    likeliest = fsum(file.score for file in ranked.ranking.files[:_PICKED])
    return not ranked.ranking.is_pointed and likeliest < _SURE


class Answer(NamedTuple):
    """A model's answer to the list: picked files and definitions, and expected names."""

    picks: tuple[Pick, ...] = ()
    expected: tuple[str, ...] = ()  # names or words of the project outside of the sheet


def read_answer(sheet: Sheet, answer: str) -> Answer:
    """Parse a model's JSON answer; a malformed one is empty.

    ``files`` are objects with ``file``, a number of the sheet, ``confidence`` and ``why``; ``definitions`` are texts
    such as ``3 Class.name``; ``expected`` are paths, names and words. Unknown picks are ignored.
    """
    try:
        parsed = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
        files = [
            (str(entry["file"]), float(entry["confidence"]), str(entry.get("why", "")))
            for entry in parsed["files"]
        ]
        names = [str(name) for name in parsed.get("definitions", ())]
        expected = [str(name).strip() for name in parsed.get("expected", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Answer()
    paths = {str(number): path for number, path in enumerate(sheet.names, 1)}
    picked = {
        paths[number]: Pick(
            paths[number], "", min(1.0, max(0.0, sure)), " ".join(why.split())[:_WHY]
        )
        for number, sure, why in files
        if number in paths
    }
    definition_picks: dict[tuple[str, str], Pick] = {}
    for number, _, name in (entry.strip().partition(" ") for entry in names):
        path = paths.get(number, "")
        for listed in sheet.names.get(path, ()):
            if name and (listed == name or listed.endswith(f".{name}")):
                definition_picks.setdefault((path, listed), Pick(path, listed))
                break
    picks = (*islice(picked.values(), _PICKED), *islice(definition_picks.values(), _NAMED))
    return Answer(picks, tuple(islice(dict.fromkeys(filter(None, expected)), _EXPECTED)))


def with_answer(task: Task, answer: Answer, ranked: RankedFiles) -> Task:
    """Return a task with the picks of an answer.

    It also gets the expected names found in the project.
    """
    corpus = ranked.corpus
    picks, words = list(answer.picks), []
    for name in answer.expected:
        unseen = _unseen(name, corpus)
        picks += unseen
        terms = () if unseen else term_list(name)
        if terms and all(map(corpus.files_with, terms)):
            words.append(name)
    first: dict[tuple[str, str], Pick] = {}
    for pick in picks:
        first.setdefault((pick.path, pick.definition), pick)
    return replace(task, picks=tuple(first.values()), expected=tuple(words))


def _unseen(name: str, corpus: FileCorpus) -> list[Pick]:
    """Return picks for an expected name outside of the list.

    If several files match, there are none.
    """
    pairs = zip(corpus.files, corpus.shown, strict=True)
    numbers = find_named(((facts.path, file.item.path) for facts, file in pairs), name)
    if len(numbers) == 1:
        return [Pick(corpus.files[numbers[0]].path, "", _UNSEEN, "expected")]
    last = re.split(r"[.:#]+", name.rstrip("()"))[-1]
    defining = corpus.files_defining(last)
    if len(defining) != 1:
        return []
    analysis, path = corpus.analysis(defining[0]), corpus.files[defining[0]].path
    definitions = (
        definition for definition in analysis.definitions if definition.path[-1:] == (last,)
    )
    return [
        Pick(path, ".".join(definition.path), _UNSEEN) for definition in islice(definitions, _NAMED)
    ]
