"""The commits of a project, cached by commit id.

Each commit is read from git only once (rule I-6).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.concurrency import begin_in_child
from aggregate.base.redaction import Redaction, redact_words
from aggregate.base.task_budget import Missing
from aggregate.project.git import (
    Head,
    commit_ids,
    find_head,
    read_commits,
    read_contexts,
    why_no_history,
)
from aggregate.project.index import Kind, code_version
from aggregate.ranking import Commit, definition_name, message_words, similar_commits

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
    "base.task_budget",
    "ranking.message_text",
    "ranking.terms",
    "base.redaction",
    "base.text",
    "project.paths",
    "project.git",  # also its rules for the lines of enclosing definitions
)
HISTORY_LIBRARIES: Final = ("re2",)
_ALL: Final = Redaction()  # the cache serves runs with any allowances, so it has no secrets
_NO_COMMITS: Final = "the repository has no commit with a parent, or git cannot read its history"
_UNREADABLE: Final = "git cannot read the changes of the commits, as in a partial clone"
Names = tuple[tuple[str, str], ...]  # path and name of definitions


class CommitHistory:
    """The newest commits below a folder.

    If many are new, a child process reads them from the beginning; ``commits`` waits for it.

    Attributes:
        missing: Why there are no commits; complete once they are read.
    """

    def __init__(self, folder: str, *, index: "Index") -> None:
        self._folder, self._index = folder, index
        reason = why_no_history(folder)
        self._head = None if reason else find_head(folder)
        self._ids = self._commit_ids(self._head) if self._head else ()
        self.missing = None if self._ids else Missing("history", reason or _NO_COMMITS)
        self._names: Mapping[str, Names] = {}  # by commit id, not cached yet
        rows = self._cached("commits", self._ids)
        self._known = {
            name: Commit(frozenset(terms), tuple(paths), change_words=frozenset(words))
            for name, (terms, words, paths) in rows.items()
        }
        unknown = [name for name in self._ids if name not in self._known]
        self._read: Callable[[], object] = partial(_read, folder, self._head, unknown, ())
        if len(unknown) > _MANY:
            self._read = begin_in_child(_read, folder, self._head, unknown, self._ids[:RECENT])

    @cached_property
    def commits(self) -> tuple[Commit, ...]:
        if self.missing:
            return ()
        result = self._read()
        new, self._names = result if isinstance(result, tuple) else ({}, {})  # the child stopped
        rows = {
            name: (sorted(commit.terms), sorted(commit.change_words), commit.paths)
            for name, commit in new.items()
        }
        self._store("commits", rows)
        self._known |= new
        self._ids = tuple(name for name in self._ids if name in self._known)
        if not self._ids:
            self.missing = Missing("history", _UNREADABLE)
        return tuple(self._known[name] for name in self._ids)

    def commits_for(self, change_words: Sequence[str]) -> tuple[Commit, ...]:
        """Return all commits, recent and similar ones with names of changed definitions."""
        similar = similar_commits(self.commits, change_words)
        ages = {*range(min(RECENT, len(self.commits))), *(commit.age for commit in similar)}
        return self.with_names(sorted(ages))

    def with_names(self, ages: Sequence[int]) -> tuple[Commit, ...]:
        """Return all commits, some with names of changed definitions.

        ``ages`` are the positions of these commits; 0 is the newest.
        """
        commits = [*self.commits]
        if not commits or not ages:
            return tuple(commits)
        ids = [self._ids[age] for age in ages]
        rows = self._cached("commit names", ids)
        names: dict[str, Names] = {name: tuple(map(tuple, row)) for name, row in rows.items()}
        unknown = [name for name in ids if name not in names and name not in self._names]
        new = {name: self._names[name] for name in ids if name in self._names and name not in names}
        new |= _read_names(self._folder, self._head, unknown)
        self._store("commit names", new)
        names |= new
        for age in ages:
            commits[age] = commits[age]._replace(names=names.get(self._ids[age], ()))
        return tuple(commits)

    def _commit_ids(self, head: Head) -> tuple[str, ...]:
        """Return the ids of the commits; git needs at least 100 ms for the list."""
        if head.is_shallow:  # older ones may be fetched without a new head
            return commit_ids(self._folder, head, most=MOST_COMMITS)
        cached = self._cached("ids", [head.commit])
        if cached:
            return tuple(cached[head.commit])
        ids = commit_ids(self._folder, head, most=MOST_COMMITS)
        self._store("ids", {head.commit: ids} if ids else {})
        return ids

    def _cached(self, kind: str, ids: Sequence[str]) -> dict[str, Any]:
        rows = self._index.get_many(_kind(kind), [self._key(kind, name) for name in ids])
        pairs = zip(ids, rows, strict=True)
        return {name: json.loads(row) for name, row in pairs if row is not None}

    def _store(self, kind: str, values: Mapping[str, object]) -> None:
        items = values.items()
        rows = ((self._key(kind, name), json.dumps(value).encode()) for name, value in items)
        self._index.put_many(_kind(kind), rows)

    def _key(self, kind: str, name: str) -> bytes:
        prefix = self._head.prefix if self._head else ""
        return sha256("\0".join((kind, prefix, name)).encode("utf-8", "surrogatepass")).digest()


def _read(
    folder: str, head: Head | None, ids: Sequence[str], recent: Sequence[str]
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


def _read_names(folder: str, head: Head | None, ids: Sequence[str]) -> dict[str, Names]:
    names: dict[str, Names] = {}
    for commit_id, texts in (read_contexts(folder, head, ids) if head and ids else {}).items():
        clean = redact_words(chain.from_iterable(texts), _ALL)
        definitions = (
            (clean.get(path, path), definition_name(clean.get(line, line))) for path, line in texts
        )
        names[commit_id] = tuple(dict.fromkeys((path, name) for path, name in definitions if name))
    return names


@cache
def history_version() -> str:
    """Return the version of the cached commits, which depends on git, ``""`` if unknown."""
    return code_version(HISTORY_CODE, installed=HISTORY_LIBRARIES)


@cache
def _kind(name: str) -> Kind:
    return Kind(name, history_version())
