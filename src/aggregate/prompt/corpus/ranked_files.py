"""Rank the files of a request by its task."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from posixpath import normpath
from typing import Final, NamedTuple

from aggregate.base.errors import SeedError
from aggregate.base.messages import nearest_path
from aggregate.base.monitor import get_monitor
from aggregate.base.task import Missing, Place, Task
from aggregate.project.git import changed_lines
from aggregate.project.index import Index
from aggregate.prompt.asking.request import FOCUS_TIER, Request, focus_paths, unknown_focus
from aggregate.prompt.corpus.commit_history import RECENT, CommitHistory
from aggregate.prompt.corpus.file_corpus import FileCorpus, read_files
from aggregate.prompt.files.selection import Selection
from aggregate.ranking import (
    WEIGHTS,
    Question,
    Ranking,
    no_definitions,
    rank,
    read_task,
    similar_commits,
    term_list,
)

_MOST_SEARCHED: Final = 300  # files that are searched for names like a symbol


class RankedFiles(NamedTuple):
    corpus: FileCorpus
    question: Question
    ranking: Ranking


@get_monitor().scope("rank_files")
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
        check_focus(request, corpus.selection)
    ranking = rank(corpus, question, weights=weights)
    if is_strict and no_definitions(question.symbols) in ranking.missing:
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
    past = history.commits
    if history.missing:
        missing.insert(0, history.missing)
    # Changed definitions of recent and similar commits only.
    similar = similar_commits(past, question.task.change_words)
    ages = {*range(min(RECENT, len(past))), *(commit.age for commit in similar)}
    commits = history.with_names(sorted(ages))
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


def check_focus(request: Request, selection: Selection) -> None:
    """Raise ``SeedError`` if no focus file of a request exists."""
    files = [(file.path, file.item.path) for file in selection.files]
    if request.focus_paths and not focus_paths(files, request.focus_paths):
        paths = [path for path, _ in files]
        raise SeedError("; ".join(unknown_focus(path, paths) for path in request.focus_paths))


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
