"""The commits of the project's history: read from git once, and kept by their ids.

Git is asked each time which commits there are, which is quick, and what they hold only for those that are new (I-6).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

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


@dataclass(frozen=True, slots=True)
class CommitHistory:
    folder: str
    head: Head | None
    ids: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    missing: Missing | None = None

    def with_names(self, places: Sequence[int], *, index: "Index") -> tuple[Commit, ...]:
        """Return all commits; those at ``places`` with the names of the definitions that they changed."""
        if self.head is None or not places:
            return self.commits
        named = _read_names(self.folder, self.head, [self.ids[place] for place in places], index)
        commits = [*self.commits]
        for place in places:
            commits[place] = commits[place]._replace(names=named.get(self.ids[place], ()))
        return tuple(commits)


def read_history(folder: str, *, index: "Index") -> CommitHistory:
    """Return the newest commits that changed files below ``folder``; without any, it says why."""
    reason = why_no_history(folder)
    head = None if reason else find_head(folder)
    ids = _kept_ids(folder, head, index) if head else ()
    if head is None or not ids:
        return CommitHistory(folder, None, missing=Missing("history", reason or _NO_COMMITS))
    commits = _read_blocks(folder, head, ids, index)
    known = [(commit_id, commits[commit_id]) for commit_id in ids if commit_id in commits]
    if not known:
        return CommitHistory(folder, None, missing=Missing("history", _UNREADABLE))
    return CommitHistory(
        folder,
        head,
        tuple(commit_id for commit_id, _ in known),
        tuple(commit for _, commit in known),
    )


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


def _read_blocks(folder: str, head: Head, ids: Sequence[str], index: "Index") -> dict[str, Commit]:
    blocks = commit_blocks(ids)
    kind = _kind("commits")
    keys = [_key("commits", head.prefix, block) for block in blocks]
    rows = index.get_many(kind, keys)
    commits: dict[str, Commit] = {}
    unknown: list[str] = []
    for block, row in zip(blocks, rows, strict=True):
        unpacked = () if row is None else unpack_commits(row)
        if len(unpacked) == len(block):
            commits.update(zip(block, unpacked, strict=True))
        else:
            unknown += block
    if unknown:
        read = read_commits(folder, unknown)
        commits |= {commit_id: _commit(commit) for commit_id, commit in read.items()}
    for block, key, row in zip(blocks, keys, rows, strict=True):
        if row is None and all(commit_id in commits for commit_id in block):
            index.put_many(kind, [(key, pack_commits([commits[name] for name in block]))])
    return commits


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


def _commit(commit: LoggedCommit) -> Commit:
    clean = redact_words((commit.message, *commit.paths), _ALL)
    terms, words = message_words(clean.get(commit.message, commit.message))
    paths = tuple(clean.get(path, path) for path in commit.paths)
    return Commit(terms, paths, change_words=words)


def _read_names(
    folder: str, head: Head, ids: Sequence[str], index: "Index"
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the definitions that commits changed, each with the path of its file."""
    kind = _kind("commit names")
    key_of = {commit_id: _key("names", head.prefix, [commit_id]) for commit_id in ids}
    rows = zip(key_of, index.get_many(kind, list(key_of.values())), strict=True)
    names = {name: tuple(map(tuple, json.loads(row))) for name, row in rows if row is not None}
    unknown = [commit_id for commit_id in ids if commit_id not in names]
    for commit_id, contexts in (read_contexts(folder, head, unknown) if unknown else {}).items():
        clean = redact_words((part for each in contexts for part in (each.path, each.line)), _ALL)
        named = (
            (clean.get(each.path, each.path), definition_name(clean.get(each.line, each.line)))
            for each in contexts
        )
        found = tuple(dict.fromkeys((path, name) for path, name in named if name))
        names[commit_id] = found
        index.put_many(kind, [(key_of[commit_id], json.dumps(found).encode())])
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
