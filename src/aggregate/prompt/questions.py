"""What a ranking is asked, from what a request asks for: the task is read, changes and history are looked up."""

from collections.abc import Sequence, Set
from dataclasses import replace
from posixpath import normpath
from typing import TYPE_CHECKING, Final

from aggregate.base.values import Missing, Place, Task
from aggregate.project.git import changed_lines
from aggregate.prompt.commit_history import CommitHistory, read_history
from aggregate.prompt.request import Request
from aggregate.ranking import MOST_READ, ChangedLines, Commit, Question, read_task, similar_commits

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
