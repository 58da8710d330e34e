"""The commits of the project's history: read from git once, and kept by their ids.

Git is asked each time which commits there are, which is quick, and what they hold only for those that are new (I-6).
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
from aggregate.base.request import Missing
from aggregate.project.git import (
    Head,
    LoggedCommit,
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

# How far back it goes: what is older tells little of the files as they are.
MOST_COMMITS: Final = 3_000
# Commits whose definitions count for what is being worked on; measured with the weights of ``ranking.weights``.
RECENT: Final = 120
# New commits from which a child process reads them, while this one looks at the files.
_MANY: Final = 256
# The modules that decide on what is kept of a commit.
HISTORY_CODE: Final = (
    "prompt.commit_history",
    "base.disk.programs",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "ranking.message_text",
    "ranking.terms",
    "base.redaction",
    "project.git.git_log",
    "project.git.git_changes",
    "project.git.git_process",
)
HISTORY_LIBRARIES: Final = ("re2",)  # What others have made of that
# What is kept is for runs with whatever allowances, so it has no secrets at all.
_ALL: Final = Redaction()
_NO_COMMITS: Final = "the repository has no commit with a parent, or git cannot read its history"
_UNREADABLE: Final = (
    "git could not tell what the commits changed, as in a clone without the contents of the past"
)
Names = tuple[tuple[str, str], ...]  # Of definitions, each behind the path of its file


@dataclass(frozen=True, slots=True)
class CommitHistory:
    folder: str
    head: Head | None
    ids: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    missing: Missing | None = None
    named: Mapping[str, Names] = field(default_factory=dict)  # of some, what is kept nowhere yet

    def with_names(self, places: Sequence[int], *, index: "Index") -> tuple[Commit, ...]:
        """Return all commits; those at ``places`` with the names of the definitions that they changed."""
        if self.head is None or not places:
            return self.commits
        ids = [self.ids[place] for place in places]
        named = _kept_names(self.folder, self.head, ids, self.named, index)
        commits = [*self.commits]
        for place in places:
            commits[place] = commits[place]._replace(names=named.get(self.ids[place], ()))
        return tuple(commits)


def begin_history(folder: str, *, index: "Index") -> Callable[[], CommitHistory]:
    """Begin to read the newest commits that changed files below ``folder``; what is returned waits for them.

    Where many are new, a child process reads them. Without any, the history says why.
    """
    reason = why_no_history(folder)
    head = None if reason else find_head(folder)
    ids = _kept_ids(folder, head, index) if head else ()
    if head is None or not ids:
        missing = Missing("history", reason or _NO_COMMITS)
        return lambda: CommitHistory(folder, None, missing=missing)
    kept = {name: _unpacked(*row) for name, row in _kept("commits", head, ids, index).items()}
    unknown = [name for name in ids if name not in kept]
    answer: Callable[[], object] = partial(_read, folder, head, unknown, ())
    if len(unknown) > _MANY:
        answer = begin_in_child(_read, folder, head, unknown, ids[:RECENT])

    def history() -> CommitHistory:
        # A child that was given up has read nothing.
        read, named = told if isinstance(told := answer(), tuple) else ({}, {})
        _keep("commits", head, {name: _packed(commit) for name, commit in read.items()}, index)
        commits = kept | read
        known = tuple(commit_id for commit_id in ids if commit_id in commits)
        if not known:
            return CommitHistory(folder, None, missing=Missing("history", _UNREADABLE))
        return CommitHistory(
            folder, head, known, tuple(map(commits.__getitem__, known)), named=named
        )

    return history


def _kept_ids(folder: str, head: Head, index: "Index") -> tuple[str, ...]:
    """Return the ids of the commits: they are kept too, since git takes a tenth of a second and more to list them."""
    if head.is_shallow:  # older ones may be fetched without a new head
        return commit_ids(folder, head, most=MOST_COMMITS)
    key = _key("ids", head.prefix, [head.commit])
    (kept,) = index.get_many(_kind("commit list"), [key])
    if kept is not None:
        return tuple(kept.decode("ascii").split())
    ids = commit_ids(folder, head, most=MOST_COMMITS)
    if ids:
        index.put_many(_kind("commit list"), [(key, " ".join(ids).encode())])
    return ids


def _kept(what: str, head: Head, ids: Sequence[str], index: "Index") -> dict[str, Any]:
    """Return what the index keeps of some commits, by their ids."""
    rows = index.get_many(_kind(what), [_key(what, head.prefix, [name]) for name in ids])
    return {name: json.loads(row) for name, row in zip(ids, rows, strict=True) if row is not None}


def _keep(what: str, head: Head, told: Mapping[str, object], index: "Index") -> None:
    rows = ((_key(what, head.prefix, [name]), json.dumps(told[name]).encode()) for name in told)
    index.put_many(_kind(what), rows)


def _read(
    folder: str, head: Head, ids: Sequence[str], recent: Sequence[str]
) -> tuple[dict[str, Commit], dict[str, Names]]:
    return _digested(folder, ids), _names_in(folder, head, recent)


def _digested(folder: str, ids: Sequence[str]) -> dict[str, Commit]:
    commits = read_commits(folder, ids) if ids else {}
    texts = chain.from_iterable((commit.message, *commit.paths) for commit in commits.values())
    clean = redact_words(texts, _ALL)
    return {commit_id: _commit(commit, clean) for commit_id, commit in commits.items()}


def _packed(commit: Commit) -> tuple[list[str], list[str], tuple[str, ...]]:
    return sorted(commit.terms), sorted(commit.change_words), commit.paths


def _unpacked(terms: Sequence[str], words: Sequence[str], paths: Sequence[str]) -> Commit:
    return Commit(frozenset(terms), tuple(paths), change_words=frozenset(words))


def _commit(commit: LoggedCommit, clean: Mapping[str, str]) -> Commit:
    terms, words = message_words(clean.get(commit.message, commit.message))
    paths = tuple(clean.get(path, path) for path in commit.paths)
    return Commit(terms, paths, change_words=words)


def _kept_names(
    folder: str, head: Head, ids: Sequence[str], read: Mapping[str, Names], index: "Index"
) -> dict[str, Names]:
    """Return the definitions that commits changed, each with the path of its file, and keep what is new of them."""
    kept = _kept("commit names", head, ids, index)
    names = {name: tuple(map(tuple, row)) for name, row in kept.items()}
    unknown = [name for name in ids if name not in names]
    new = {name: read[name] for name in unknown if name in read}
    new |= _names_in(folder, head, [name for name in unknown if name not in new])
    _keep("commit names", head, new, index)
    return names | new


def _names_in(folder: str, head: Head, ids: Sequence[str]) -> dict[str, Names]:
    names: dict[str, Names] = {}
    for commit_id, contexts in (read_contexts(folder, head, ids) if ids else {}).items():
        clean = redact_words((part for each in contexts for part in (each.path, each.line)), _ALL)
        named = (
            (clean.get(each.path, each.path), definition_name(clean.get(each.line, each.line)))
            for each in contexts
        )
        names[commit_id] = tuple(dict.fromkeys((path, name) for path, name in named if name))
    return names


def _key(what: str, prefix: str, ids: Sequence[str]) -> bytes:
    asked = "\0".join((what, prefix, *ids))
    return sha256(asked.encode("utf-8", "surrogatepass")).digest()


@cache
def history_version() -> str:
    """Return a version of all that decides on what is kept of a commit, ``""`` where it cannot be told."""
    version = code_version(HISTORY_CODE, installed=HISTORY_LIBRARIES)
    try:
        rules = sha256(context_rules()).hexdigest()
    except OSError:
        return ""
    return version and f"{version}:{rules[:16]}"


@cache
def _kind(name: str) -> Kind:
    return Kind(name, history_version())
