"""The commits of a project, cached by commit id.

Each commit is read from git only once (rule I-6).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.concurrency import begin_in_child
from aggregate.base.redaction import Redaction, redact_words
from aggregate.base.task import Missing
from aggregate.project.git import (
    Head,
    commit_ids,
    context_rules,
    find_head,
    read_commits,
    read_contexts,
    why_no_history,
)
from aggregate.project.index import Kind, code_version
from aggregate.ranking import Commit, definition_name, message_words

if TYPE_CHECKING:
    from aggregate.project.index import Index

MOST_COMMITS: Final = 3_000  # older ones say little about the files of today
RECENT: Final = 120  # commits whose definitions count as current work; measured
_MANY: Final = 256  # new commits that a child process reads while this one looks at the files
# Modules hashed into the version of the cache.
HISTORY_CODE: Final = (
    "prompt.corpus.commit_history",
    "base.disk.programs",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "ranking.message_text",
    "ranking.terms",
    "base.redaction",
    "base.text",
    "project.git.git_log",
    "project.git.git_changes",
    "project.git.git_process",
)
HISTORY_LIBRARIES: Final = ("re2",)
_ALL: Final = Redaction()  # the cache serves runs with any allowances, so it has no secrets
_NO_COMMITS: Final = "the repository has no commit with a parent, or git cannot read its history"
_UNREADABLE: Final = "git cannot read the changes of the commits, as in a partial clone"
Names = tuple[tuple[str, str], ...]  # path and name of definitions


@dataclass(frozen=True, slots=True)
class CommitHistory:
    folder: str
    head: Head | None
    ids: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    missing: Missing | None = None
    names: Mapping[str, Names] = field(default_factory=dict)  # by commit id, not cached yet

    def with_names(self, ages: Sequence[int], *, index: "Index") -> tuple[Commit, ...]:
        """Return all commits, some with names of changed definitions.

        ``ages`` are the positions of these commits; 0 is the newest.
        """
        if self.head is None or not ages:
            return self.commits
        ids = [self.ids[age] for age in ages]
        rows = _cached("commit names", self.head, ids, index)
        names: dict[str, Names] = {name: tuple(map(tuple, row)) for name, row in rows.items()}
        new = {name: self.names[name] for name in ids if name not in names and name in self.names}
        unknown = [name for name in ids if name not in names and name not in new]
        new |= _read_names(self.folder, self.head, unknown)
        _store("commit names", self.head, new, index)
        names |= new
        commits = [*self.commits]
        for age in ages:
            commits[age] = commits[age]._replace(names=names.get(self.ids[age], ()))
        return tuple(commits)


def begin_history(folder: str, *, index: "Index") -> Callable[[], CommitHistory]:
    """Start reading the newest commits below ``folder``; the returned function waits for them."""
    reason = why_no_history(folder)
    head = None if reason else find_head(folder)
    ids = _commit_ids(folder, head, index) if head else ()
    if head is None or not ids:
        missing = Missing("history", reason or _NO_COMMITS)
        return lambda: CommitHistory(folder, None, missing=missing)
    cached = {
        name: Commit(frozenset(terms), tuple(paths), change_words=frozenset(words))
        for name, (terms, words, paths) in _cached("commits", head, ids, index).items()
    }
    unknown = [name for name in ids if name not in cached]
    answer: Callable[[], object] = partial(_read, folder, head, unknown, ())
    if len(unknown) > _MANY:
        answer = begin_in_child(_read, folder, head, unknown, ids[:RECENT])
    return partial(_finished, folder, head, ids, cached, answer, index)


def _finished(
    folder: str,
    head: Head,
    ids: Sequence[str],
    cached: Mapping[str, Commit],
    answer: Callable[[], object],
    index: "Index",
) -> CommitHistory:
    """Wait for the new commits, and store them."""
    result = answer()
    new, names = result if isinstance(result, tuple) else ({}, {})  # the child has stopped
    rows = {
        name: (sorted(commit.terms), sorted(commit.change_words), commit.paths)
        for name, commit in new.items()
    }
    _store("commits", head, rows, index)
    commits = {**cached, **new}
    readable = tuple(commit_id for commit_id in ids if commit_id in commits)
    if not readable:
        return CommitHistory(folder, None, missing=Missing("history", _UNREADABLE))
    return CommitHistory(
        folder, head, readable, tuple(map(commits.__getitem__, readable)), names=names
    )


def _commit_ids(folder: str, head: Head, index: "Index") -> tuple[str, ...]:
    """Return the ids of the commits; git needs at least 100 ms for the list."""
    if head.is_shallow:  # older ones may be fetched without a new head
        return commit_ids(folder, head, most=MOST_COMMITS)
    cached = _cached("ids", head, [head.commit], index)
    ids = tuple(cached.get(head.commit, ())) or commit_ids(folder, head, most=MOST_COMMITS)
    if ids and not cached:
        _store("ids", head, {head.commit: ids}, index)
    return ids


def _cached(kind: str, head: Head, ids: Sequence[str], index: "Index") -> dict[str, Any]:
    rows = index.get_many(_kind(kind), [_key(kind, head.prefix, name) for name in ids])
    return {name: json.loads(row) for name, row in zip(ids, rows, strict=True) if row is not None}


def _store(kind: str, head: Head, values: Mapping[str, object], index: "Index") -> None:
    keys = (_key(kind, head.prefix, name) for name in values)
    rows = (json.dumps(value).encode() for value in values.values())
    index.put_many(_kind(kind), zip(keys, rows, strict=True))


def _key(kind: str, prefix: str, name: str) -> bytes:
    return sha256("\0".join((kind, prefix, name)).encode("utf-8", "surrogatepass")).digest()


def _read(
    folder: str, head: Head, ids: Sequence[str], recent: Sequence[str]
) -> tuple[dict[str, Commit], dict[str, Names]]:
    logged = read_commits(folder, ids) if ids else {}
    texts = chain.from_iterable((commit.message, *commit.paths) for commit in logged.values())
    clean = redact_words(texts, _ALL)
    commits: dict[str, Commit] = {}
    for commit_id, commit in logged.items():
        terms, words = message_words(clean.get(commit.message, commit.message))
        paths = tuple(clean.get(path, path) for path in commit.paths)
        commits[commit_id] = Commit(terms, paths, change_words=words)
    return commits, _read_names(folder, head, recent)


def _read_names(folder: str, head: Head, ids: Sequence[str]) -> dict[str, Names]:
    names: dict[str, Names] = {}
    for commit_id, texts in (read_contexts(folder, head, ids) if ids else {}).items():
        clean = redact_words(chain.from_iterable(texts), _ALL)
        definitions = (
            (clean.get(path, path), definition_name(clean.get(line, line))) for path, line in texts
        )
        names[commit_id] = tuple(dict.fromkeys((path, name) for path, name in definitions if name))
    return names


@cache
def history_version() -> str:
    """Return the version of the cached commits, which depends on git, ``""`` if unknown."""
    version = code_version(HISTORY_CODE, installed=HISTORY_LIBRARIES)
    try:
        rules = sha256(context_rules()).hexdigest()
    except OSError:
        return ""
    return version and f"{version}:{rules[:16]}"


@cache
def _kind(name: str) -> Kind:
    return Kind(name, history_version())
