"""The commits of the project's history: read from git once, and kept by their ids.

Git is asked each time which commits there are, which is quick, and what they hold only for those that are new (I-6).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Final

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
# Commits that are kept together on average: a new commit costs reading its block again, 3,000 take 47 rows.
_COMMITS_OF_BLOCK: Final = 64
_LARGEST_BLOCK: Final = 256
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
    kept = _KeptBlocks(head, ids, index)
    answer: Callable[[], object] = partial(_read, folder, head, kept.unknown, ())
    if len(kept.unknown) > _LARGEST_BLOCK:
        answer = begin_in_child(_read, folder, head, kept.unknown, ids[:RECENT])

    def history() -> CommitHistory:
        # A child that was given up has read nothing.
        read, named = told if isinstance(told := answer(), tuple) else ({}, {})
        commits = kept.with_read(read)
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


class _KeptBlocks:
    """The commits that the index knows, in blocks, and the ids of the others."""

    def __init__(self, head: Head, ids: Sequence[str], index: "Index") -> None:
        self._index = index
        self._blocks = commit_blocks(ids)
        self._keys = [_key("commits", head.prefix, block) for block in self._blocks]
        self._rows = index.get_many(_kind("commits"), self._keys)
        self._commits: dict[str, Commit] = {}
        self.unknown: list[str] = []
        for block, row in zip(self._blocks, self._rows, strict=True):
            unpacked = () if row is None else unpack_commits(row)
            if len(unpacked) == len(block):
                self._commits.update(zip(block, unpacked, strict=True))
            else:
                self.unknown += block

    def with_read(self, read: Mapping[str, Commit]) -> Mapping[str, Commit]:
        """Return all commits by their ids, and keep the blocks of those that were ``read``."""
        commits = {**self._commits, **read}
        for block, key, row in zip(self._blocks, self._keys, self._rows, strict=True):
            if row is None and all(commit_id in commits for commit_id in block):
                packed = pack_commits([commits[name] for name in block])
                self._index.put_many(_kind("commits"), [(key, packed)])
        return commits


def _read(
    folder: str, head: Head, ids: Sequence[str], recent: Sequence[str]
) -> tuple[dict[str, Commit], dict[str, Names]]:
    return _digested(folder, ids), _names_in(folder, head, recent)


def _digested(folder: str, ids: Sequence[str]) -> dict[str, Commit]:
    commits = read_commits(folder, ids) if ids else {}
    texts = chain.from_iterable((commit.message, *commit.paths) for commit in commits.values())
    clean = redact_words(texts, _ALL)
    return {commit_id: _commit(commit, clean) for commit_id, commit in commits.items()}


def commit_blocks(ids: Sequence[str]) -> list[Sequence[str]]:
    """Return the commits in blocks whose ends the ids decide, so that new commits change one block only.

    Of a history that is longer than what is read the last block is left out where it has no such end: it would be
    another one with each new commit.
    """
    blocks: list[Sequence[str]] = []
    start = 0
    for place, commit_id in enumerate(ids):
        is_end = int(commit_id[:8], 16) % _COMMITS_OF_BLOCK == 0
        if is_end or place - start + 1 == _LARGEST_BLOCK:
            blocks.append(ids[start : place + 1])
            start = place + 1
    if start < len(ids) and (len(ids) < MOST_COMMITS or not blocks):
        blocks.append(ids[start:])
    return blocks


def pack_commits(commits: Sequence[Commit]) -> bytes:
    rows = [(sorted(each.terms), sorted(each.change_words), each.paths) for each in commits]
    return json.dumps(rows).encode()


def unpack_commits(row: bytes) -> list[Commit]:
    return [
        Commit(frozenset(terms), tuple(paths), change_words=frozenset(words))
        for terms, words, paths in json.loads(row)
    ]


def _commit(commit: LoggedCommit, clean: Mapping[str, str]) -> Commit:
    terms, words = message_words(clean.get(commit.message, commit.message))
    paths = tuple(clean.get(path, path) for path in commit.paths)
    return Commit(terms, paths, change_words=words)


def _kept_names(
    folder: str, head: Head, ids: Sequence[str], read: Mapping[str, Names], index: "Index"
) -> dict[str, Names]:
    """Return the definitions that commits changed, each with the path of its file, and keep what is new of them."""
    kind = _kind("commit names")
    key_of = {commit_id: _key("names", head.prefix, [commit_id]) for commit_id in ids}
    rows = zip(key_of, index.get_many(kind, list(key_of.values())), strict=True)
    names = {name: tuple(map(tuple, json.loads(row))) for name, row in rows if row is not None}
    unknown = [commit_id for commit_id in ids if commit_id not in names]
    new = {commit_id: read[commit_id] for commit_id in unknown if commit_id in read}
    new |= _names_in(folder, head, [commit_id for commit_id in unknown if commit_id not in new])
    for commit_id, found in new.items():
        index.put_many(kind, [(key_of[commit_id], json.dumps(found).encode())])
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
