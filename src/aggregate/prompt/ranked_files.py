"""The files of a request in the order of what the task says: read, asked about, ranked."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from posixpath import normpath
from typing import TYPE_CHECKING, Final

from aggregate.base.monitor import get_monitor
from aggregate.base.values import FileChoice, Level, Missing, Place, Task, ViewMode
from aggregate.project.git import changed_lines
from aggregate.project.index import Index, user_index
from aggregate.prompt.commit_history import CommitHistory, read_history
from aggregate.prompt.corpus_reading import read_corpus
from aggregate.prompt.file_corpus import FileCorpus
from aggregate.prompt.file_reading import FileReader
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile, Selection, select_files
from aggregate.ranking import (
    MOST_READ,
    WEIGHTS,
    ChangedLines,
    Commit,
    Question,
    RankedFile,
    Ranking,
    rank,
    read_task,
    similar_commits,
)

if TYPE_CHECKING:
    from aggregate.project.index import Index

_RECENT: Final = 120
"""Commits whose definitions count for what is being worked on; measured with the weights of ``ranking.weights``."""


def question_for(request: Request, *, index: "Index", paths: Sequence[str]) -> Question:
    """Return what a ranking of the request's files is asked.

    Args:
        request: With its task; without one, or with an empty one, nothing is asked and no history is read.
        index: Keeps what the commits hold.
        paths: The candidates, as the prompt shows them.

    Raises:
        ConfigError: The task names a revision that there is none of, or there is no repository.
    """
    task = request.task or Task()
    folder = str(request.base_dir)
    candidates = frozenset(paths)
    seeds = Question(
        task=read_task(task.text),
        focus=tuple(resolve_place(place, candidates) for place in task.focus),
        symbols=tuple(dict.fromkeys(name.strip() for name in task.symbols if name.strip())),
        changes=_changes(folder, task.since, candidates),
    )
    words = _missing_seeds(task, seeds) if request.task else ()
    if seeds.is_empty:
        return replace(seeds, missing=words)
    history = read_history(folder, index=index)
    commits = _named_commits(history, seeds, index)
    missing = (history.missing,) if history.missing else ()
    return replace(seeds, commits=commits, missing=(*missing, *words))


def resolve_place(place: Place, candidates: Set[str]) -> tuple[str, int, int]:
    """Return a focus place as ``(path, first, last)`` with the path of the candidate that it names.

    It names a candidate by its path, or as focus files do by the last parts of it where only one ends so. A file whose
    name ends like a place, such as ``a:1``, is the file. What names no candidate is returned as written.
    """
    whole = _candidate(str(place), candidates) if place.first else None
    if whole:
        return whole, 0, 0
    return _candidate(place.path, candidates) or place.path, place.first, place.last


def _candidate(name: str, candidates: Set[str]) -> str | None:
    if name in candidates:
        return name
    plain = normpath(name.replace("\\", "/")) if name else ""
    if not plain or plain in candidates:
        return plain or None
    ending = [path for path in candidates if path.endswith(f"/{plain}")]
    return ending[0] if len(ending) == 1 else None


def _changes(folder: str, since: str, candidates: Set[str]) -> tuple[ChangedLines, ...]:
    """Return the changes of candidates; what is no candidate is never shown (T-6)."""
    if not since:
        return ()
    changes = changed_lines(folder, since)
    return tuple(ChangedLines(*change) for change in changes if change.path in candidates)


def _named_commits(history: CommitHistory, seeds: Question, index: "Index") -> tuple[Commit, ...]:
    """Return the commits, the newest and those like the task with the definitions that they changed."""
    recent = range(min(_RECENT, len(history.commits)))
    similar = similar_commits(history.commits, seeds.task.change_words, MOST_READ)
    alike = (commit.place for commit in similar)
    return history.with_names(sorted({*recent, *alike}), index=index)


def _missing_seeds(task: Task, seeds: Question) -> tuple[Missing, ...]:
    missing: list[Missing] = []
    if not task.text.strip():
        missing.append(Missing("text", "there is no text of a task"))
    elif not seeds.task.terms:
        missing.append(Missing("text", "the task has no word that tells what it is about"))
    if task.since and not seeds.changes:
        missing.append(Missing("changes", f"none of the files differs from {task.since}"))
    return tuple(missing)


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """The files of a request as they were read; many requests for the same files can share them.

    Attributes:
        selection: All files that were asked for.
        reader: Has read those that the index does not know.
        corpus: The readable ones.
    """

    selection: Selection
    reader: FileReader
    corpus: FileCorpus


@dataclass(frozen=True, slots=True)
class RankedFiles:
    """The files of a request and how likely its task touches each.

    Attributes:
        files: The files.
        question: What was asked.
        ranking: The answer.
    """

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
    """Read the files of a request as a ranking needs them.

    Args:
        request: Whose files.
        index: Where what follows from files is kept from run to run.
        selection: Its files, where they were selected just before.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.

    Raises:
        ConfigError: The base directory or the rules of what to leave out cannot be used.
    """
    selection = selection or select_files(request)
    reader = FileReader(request.redaction, selection.generated)
    corpus = read_corpus(
        selection.files,
        index=index,
        redaction=request.redaction,
        reader=reader,
        on_start=on_start,
        on_done=on_done,
    )
    return ReadFiles(selection, reader, corpus)


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
    """Rank the files of a request by its task.

    Args:
        request: Whose files and task.
        index: Where what follows from files is kept from run to run.
        weights: How much each kind of evidence counts.
        on_start: Called once with the number of files of which something is not known.
        on_done: Called with the number of these that have become known.
        files: The files, where they were read before.

    Raises:
        ConfigError: The base directory, the rules of what to leave out, or a revision cannot be used.
    """
    if files is None:
        files = read_files(request, index=index, on_start=on_start, on_done=on_done)
    corpus = files.corpus
    paths = [facts.path for facts in corpus.files]
    question = question_for(request, index=index, paths=paths)
    ranking = rank(corpus, question, weights=weights)
    return RankedFiles(files, question, ranking)


def file_scores(request: Request, *, index: Index | None = None) -> Mapping[str, float]:
    """Return how likely the task of a request touches each of its readable files, by their paths; in sum 1."""
    ranked = rank_files(request, index=index or user_index())
    return {
        ranked.files.corpus.files[entry.file].path: entry.score for entry in ranked.ranking.files
    }


def scores_of(ranked: RankedFiles) -> tuple[tuple[FileChoice, ...], tuple[Missing, ...]]:
    """Return the files of a prompt that has a task and no budget, with their scores, and what evidence is missing.

    Such a prompt shows what it would without a task (rule T-3).
    """
    by_path = {
        ranked.files.corpus.files[entry.file].path: (position, entry)
        for position, entry in enumerate(ranked.ranking.files, start=1)
    }
    choices = tuple(
        _choice(file, by_path.get(file.path), ranked.files.corpus)
        for file in ranked.files.selection.files
        if not file.is_remark
    )
    return choices, tuple(ranked.ranking.missing)


def _choice(
    file: ResolvedFile, scored: tuple[int, RankedFile] | None, corpus: FileCorpus
) -> FileChoice:
    mode = file.view_mode if file.item.auto_aggregate else ViewMode.NONE
    level = Level(mode.value)
    if scored is None:
        return FileChoice(file.path, file.item.path, Level.LEFT_OUT, level)
    position, ranked = scored
    return FileChoice(
        path=file.path,
        entry=file.item.path,
        level=level,
        most=level,
        score=ranked.score,
        rank=position,
        reasons=ranked.reasons,
        content_hash=corpus.content_hash(ranked.file).hex(),
    )
