"""Rank the files of a request by its task.

Read files stay in memory for later questions.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from posixpath import normpath
from typing import TYPE_CHECKING, Final

from aggregate.base.errors import SeedError
from aggregate.base.messages import nearest_path
from aggregate.base.monitor import get_monitor
from aggregate.base.redaction import Redaction
from aggregate.base.task import Missing, Place, Task
from aggregate.project.git import changed_lines
from aggregate.project.index import Index, describe
from aggregate.prompt.asking.request import (
    FOCUS_TIER,
    FocusIndex,
    Request,
    focus_paths,
    unknown_focus,
)
from aggregate.prompt.corpus.commit_history import RECENT, CommitHistory, begin_history
from aggregate.prompt.corpus.file_corpus import FileCorpus, read_corpus
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_reading import FileReader
from aggregate.prompt.files.selection import Selection, select_files
from aggregate.ranking import (
    WEIGHTS,
    ChangedLines,
    Question,
    Ranking,
    no_definitions,
    rank,
    read_task,
    similar_commits,
    term_list,
)
from aggregate.ranking.files import DefinedName

if TYPE_CHECKING:
    from aggregate.prompt.files.line_runs import Run

_LONGEST = 60  # lines of a nested definition that a place pins whole
_CONTEXT: Final = 12  # lines on each side of a place in a longer one


def question_for(
    request: Request,
    *,
    index: Index,
    paths: Sequence[str],
    history: Callable[[], CommitHistory] | None = None,
) -> Question:
    """Return the question for ranking files.

    It is empty for a request without a task. ``paths`` are the candidates' paths in the prompt; ``history`` waits for
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
        changes=tuple(ChangedLines(*change) for change in changes if change.path in candidates),
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
    past = (history or begin_history(folder, index=index))()
    if past.missing:
        missing.insert(0, past.missing)
    # Changed definitions of recent and similar commits only.
    similar = similar_commits(past.commits, question.task.change_words)
    ages = {*range(min(RECENT, len(past.commits))), *(commit.age for commit in similar)}
    commits = past.with_names(sorted(ages), index=index)
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


@dataclass(frozen=True, slots=True)
class Pins:
    """Files and lines shown always, since the user named them."""

    files: dict[str, tuple[Place, ...]]  # places by path, ``()`` for the whole file
    doubts: tuple[str, ...] = ()  # a sentence for each place outside of the prompt's files

    def runs(self, path: str, definitions: Sequence[DefinedName]) -> "tuple[Run, ...]":
        from aggregate.prompt.files.line_runs import ALL_LINES  # most rankings fit nothing

        return tuple(_runs_around(self.files[path], definitions)) or (ALL_LINES,)


def find_pins(request: Request, files: Sequence[File]) -> Pins:
    pinned: dict[str, tuple[Place, ...]] = {
        file.path: ()
        for file in files
        if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
    }
    doubts: list[str] = []
    focus = request.task.focus if request.task else ()
    focus_paths = {place.path for place in focus}
    wanted = (*focus, *(Place(path) for path in request.focus_files if path not in focus_paths))
    if not wanted:
        return Pins(pinned)
    index = FocusIndex((file.path, file.item.path) for file in files)
    for place in wanted:
        paths = [files[number].path for number in index.find(place.path)]
        # A Tier 3 prompt reports its focus files itself.
        if not paths and place.path not in request.focus_files:
            doubts.append(unknown_focus(place.path, [file.path for file in files]))
        for path in paths:
            earlier = pinned.get(path)
            is_whole = not place.first or earlier == ()
            pinned[path] = () if is_whole else (*(earlier or ()), place)
    return Pins(pinned, tuple(doubts))


def task_is_strict(request: Request) -> bool:
    """Return whether the task's unknown names are errors.

    The names are places and symbols. For Tier 3 prompts unknown names only cause warnings.
    """
    return request.task is not None and request.task.is_strict and request.tier != FOCUS_TIER


def check_focus(request: Request, selection: Selection) -> None:
    """Raise ``SeedError`` if no focus file of a request exists."""
    files = [(file.path, file.item.path) for file in selection.files]
    if request.focus_paths and not focus_paths(files, request.focus_paths):
        paths = [path for path, _ in files]
        raise SeedError("; ".join(unknown_focus(path, paths) for path in request.focus_paths))


_MOST_SEARCHED: Final = 300  # files that are searched for names like a symbol


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


def _runs_around(places: Sequence[Place], definitions: Sequence[DefinedName]) -> "Iterator[Run]":
    """Yield for each place the lines of its innermost definition, and the signatures around it."""
    from aggregate.prompt.files.line_runs import signature_run

    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            yield signature_run(definitions[number])
            if number not in outer:
                yield _lines_around(place, number, definitions)


def _lines_around(place: Place, number: int, definitions: Sequence[DefinedName]) -> "Run":
    """Return a definition's lines around a place.

    A long definition with inner definitions is shown in part, any other one whole.
    """
    definition = definitions[number]
    inner = [definition for definition in definitions if definition.outer == number]
    if not inner or definition.last - definition.first < _LONGEST:
        return definition.first, definition.last
    starts = (definition.last + 1 for definition in inner if definition.last < place.first)
    behind = (definition.first - 1 for definition in inner if definition.first > place.last)
    first = max(definition.first, place.first - _CONTEXT, *starts)
    return first, min(definition.last, place.last + _CONTEXT, *behind)


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """Files that were read for a request; requests for the same files can share them."""

    selection: Selection
    reader: FileReader
    corpus: FileCorpus


@dataclass(frozen=True, slots=True)
class RankedFiles:
    files: ReadFiles
    question: Question
    ranking: Ranking


def read_files(
    request: Request,
    *,
    index: Index,
    selection: Selection | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> ReadFiles:
    """Read the files of a request for the ranking.

    ``on_start`` and ``on_done`` count the new or changed files.
    """
    selection = selection or select_files(request)
    reader = FileReader(request.redaction, selection)
    corpus = read_corpus(
        selection.files,
        index=index,
        redaction=request.redaction,
        reader=reader,
        on_start=on_start,
        on_done=on_done,
    )
    return ReadFiles(selection, reader, corpus)


class OpenFiles:
    """Files read for the last question.

    The next question in the same process reuses them. Each question selects the files again and compares device, inode,
    size and times (rule I-4). New analyses are read from the index once before they are reused, so that answers never
    depend on earlier questions. Not thread-safe.
    """

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._last: tuple[ReadFiles, bytes, Redaction, Index] | None = None

    def read(
        self,
        request: Request,
        *,
        index: Index,
        on_start: Callable[[int], None] | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> ReadFiles:
        selection = select_files(request)
        now = self._now()
        paths = (file.file for file in selection.files if not file.problem)
        described = describe(paths, seen_ns=now)
        states = sha256(described).digest()
        last, self._last = self._last, None
        files = None
        if last and described and last[1:] == (states, request.redaction, index):
            files = last[0] if last[0].selection == selection else None
        if files is None:
            last = None  # free memory before reading more
            files = read_files(
                request, index=index, selection=selection, on_start=on_start, on_done=on_done
            )
            if files.corpus.known.grouped or not index.is_used:
                return files
        else:
            files.corpus.trim()
            if on_start:
                on_start(0)
        if described:
            self._last = files, states, request.redaction, index
        return files


@get_monitor().scope("rank_files")
def rank_files(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: ReadFiles | None = None,
) -> RankedFiles:
    """Read and rank the files of a request by its task.

    See ``read_files`` for the arguments.
    """
    history = None
    if request.task:  # while the files are read
        history = begin_history(str(request.base_dir), index=index)
    if files is None:
        files = read_files(request, index=index, on_start=on_start, on_done=on_done)
    corpus = files.corpus
    paths = [facts.path for facts in corpus.files]
    question = question_for(request, index=index, paths=paths, history=history)
    is_strict = task_is_strict(request)
    if is_strict:
        check_focus(request, files.selection)
    ranking = rank(corpus, question, weights=weights)
    if is_strict and no_definitions(question.symbols) in ranking.missing:
        raise _unknown_symbols(question.symbols, corpus)
    return RankedFiles(files, question, ranking)
