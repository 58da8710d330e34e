"""What past commits changed, and what they say: read by git's plumbing, within bounds.

A repository may hold commits of a million files and messages of gigabytes. What git prints is cut after some
megabytes, and such a commit counts as one that tells nothing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.sources.git_patch import PATCH_OPTIONS, read_hunks
from aggregate.sources.git_process import Output, bounded_git

MOST_PATHS: Final = 200
"""Files of a commit from which they are left out: what touches so many, as a new layout does, tells of none of them."""
_LONGEST_MESSAGE: Final = 20_000
"""Characters of a message that are read: longer ones hold logs or the messages of what was merged."""
_COMMITS_AT_ONCE: Final = 256
"""For which git is run once, so that one hostile commit costs only those around it."""
_MOST_BYTES: Final = 16_000_000
"""Of what git prints at once: 256 ordinary commits take 100 KB, and 256 of 200 files with long names 10 MB."""
_MOST_CUTS: Final = 3
"""How often git may be ended, or fail, before no more is asked: a whole history of huge commits is an attack."""
_MOST_PARTS: Final = 12
"""How often git may be ended while it told of some: each time it goes on behind them, and takes a second or two."""
_PATCHES_AT_ONCE: Final = 40
"""Commits whose changes git compares at once."""
_PATCH_SECONDS: Final = 2
"""Of a processor, for them: 40 ordinary commits take 0.05. A repository can say by a pattern how its definitions begin,
and git matches some patterns for minutes."""
_LARGE_FILE: Final = "core.bigFileThreshold=1m"
"""Git compares no larger files: they are data, and a comparison can take the square of their lines."""
_ATTRIBUTES: Final = Path(__file__).with_name("function_context.gitattributes")
_ID: Final = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
_AS_STORED: Final = "--no-replace-objects"
"""A commit's id stands for what it holds: no other object is taken in its place."""


class Head(NamedTuple):
    """Where a repository's history begins, seen from a folder.

    Attributes:
        commit: The id of the newest commit.
        git_folder: Where the repository's own files lie.
        prefix: The folder below the repository's root, with ``/`` at its end; ``""`` for the root.
        is_shallow: Whether older commits were not fetched.
    """

    commit: str
    git_folder: str
    prefix: str
    is_shallow: bool


class LoggedCommit(NamedTuple):
    """A commit as git tells of it.

    Attributes:
        id: In hexadecimal digits.
        message: At most its first 20,000 characters.
        paths: The files that it changed, relative to the folder; none where they are more than ``MOST_PATHS``.
    """

    id: str
    message: str
    paths: tuple[str, ...]


class HunkContext(NamedTuple):
    """Where a commit changed a file.

    Attributes:
        path: Relative to the folder.
        line: The line that the definition around the change begins with, as far as git knows the language.
    """

    path: str
    line: str


def find_head(folder: str) -> Head | None:
    """Return where the history of ``folder`` begins, ``None`` where there is none that git can read."""
    questions = ("--is-shallow-repository", "--absolute-git-dir", "--show-prefix")
    output = bounded_git(folder, _AS_STORED, "rev-parse", *questions, "HEAD", most=_MOST_BYTES)
    lines = _decoded(output.data).splitlines() if output and output.is_complete else []
    if len(lines) != len(questions) + 1:  # no commit, or names with line breaks
        return None
    is_shallow, git_folder, prefix, commit = lines
    return Head(commit, git_folder, prefix, is_shallow == "true")


def commit_ids(folder: str, head: Head, *, most: int) -> tuple[str, ...]:
    """Return the newest commits that have exactly one parent and touch ``folder``, the newest first.

    Merges repeat what others did. A commit without a parent adds what was there before its history began; so does the
    last one of a shallow clone. Where git takes too long to find those that touch the folder, the newest of the whole
    repository are returned; where it cannot tell, none.
    """
    # Git takes much longer to tell which commits touch a folder, even where that is all of the repository.
    ids = _listed(folder, head, most, ".") if head.prefix else None
    if ids is None:
        ids = _listed(folder, head, most)
    return ids or ()


def _listed(folder: str, head: Head, most: int, *within: str) -> tuple[str, ...] | None:
    output = bounded_git(
        folder,
        _AS_STORED,
        "rev-list",
        "--no-merges",
        "--min-parents=1",
        f"--max-count={most}",
        head.commit,
        "--",
        *within,
        most=_MOST_BYTES,
    )
    if output is None or not output.is_complete:
        return None
    return tuple(_ID.findall(output.data.decode("ascii", "replace")))


def read_commits(
    folder: str, ids: Sequence[str], *, most_bytes: int = _MOST_BYTES
) -> dict[str, LoggedCommit]:
    """Return the commits by their ids; those that git cannot tell of in time are left out.

    Args:
        folder: What paths are relative to.
        ids: Of the commits.
        most_bytes: Of what git prints at once.
    """
    commits: dict[str, LoggedCommit] = {}
    waiting = [*ids]
    cuts = 0
    while waiting and cuts < _MOST_CUTS:
        asked = waiting[:_COMMITS_AT_ONCE]
        output = _log(folder, asked, most_bytes)
        if output is None:
            break
        data, is_complete = output
        read = _commits(data, is_complete=is_complete)
        commits |= {commit.id: commit for commit in read}
        done = {commit.id for commit in read} if not is_complete else set(asked)
        waiting = [commit for commit in waiting if commit not in done]
        if not is_complete:
            cuts += 1
            waiting = waiting if done else waiting[1:]
    return commits


def _log(folder: str, ids: Sequence[str], most_bytes: int) -> Output | None:
    """Return a record for each commit: an empty field, id, message, and the names of files, each ended by NUL."""
    return bounded_git(
        folder,
        _AS_STORED,
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--relative",
        "--always",
        "--encoding=UTF-8",
        "--format=%x00%H%x00%B",
        "--ignore-submodules=none",
        stdin=_lines(ids),
        most=most_bytes,
    )


def _commits(data: bytes, *, is_complete: bool) -> list[LoggedCommit]:
    """Return the commits that git has told of; of what was cut, the last one only if that does not matter."""
    fields = _decoded(data).split("\0")
    if not is_complete:
        fields.pop()  # part of a name
    commits: list[LoggedCommit] = []
    place = 0
    while place + 2 < len(fields):
        # No file has an empty name: an empty field begins a commit, whatever files and messages are called.
        next_place = _next_record(fields, place + 3)
        names = [name for name in fields[place + 3 : next_place] if name]
        if names:
            names[0] = names[0].removeprefix("\n")
        is_last = next_place >= len(fields) - 1
        if not is_last or is_complete or len(names) > MOST_PATHS:
            paths = tuple(names) if len(names) <= MOST_PATHS else ()
            message = fields[place + 2][:_LONGEST_MESSAGE]
            commits.append(LoggedCommit(fields[place + 1], message, paths))
        place = next_place
    return commits


def _next_record(fields: Sequence[str], start: int) -> int:
    try:
        return fields.index("", start)
    except ValueError:
        return len(fields)


def context_rules() -> bytes:
    """Return what decides which line git takes for the beginning of a definition.

    Raises:
        OSError: It is not on the disk, as in a zip file; git then takes the nearest line that begins with a letter.
    """
    return _ATTRIBUTES.read_bytes()


def read_contexts(
    folder: str, head: Head, ids: Sequence[str], *, most_bytes: int = _MOST_BYTES
) -> dict[str, list[HunkContext]]:
    """Return what each commit changed within the files that were there before; what git cannot tell is left out.

    Where git is ended amid a commit, the next one begins with it: what is told of a commit must not depend on those
    that are asked for with it, of which the index knows some and some not (rule I-2).

    Args:
        folder: What paths are relative to.
        head: Of its history.
        ids: Of the commits.
        most_bytes: Of what git prints at once.
    """
    contexts: dict[str, list[HunkContext]] = {}
    waiting = [*ids]
    untold = cuts = 0
    while waiting and untold < _MOST_CUTS and cuts < _MOST_PARTS:
        asked = waiting[:_PATCHES_AT_ONCE]
        output = _patches(folder, head, asked, most_bytes)
        if output is None:
            break
        told = list(_contexts_by_commit(output.data))
        if output.is_complete:
            waiting = waiting[len(asked) :]
        else:
            told = told[:-1]
            untold += not told  # the first one: git cannot tell of it, whatever is asked with it
            cuts += 1
            waiting = waiting[max(len(told), 1) :]
        contexts |= dict(told)
    return contexts


def _patches(folder: str, head: Head, ids: Sequence[str], most_bytes: int) -> Output | None:
    # Without a work tree and an index, and started elsewhere, git reads no attributes of the files as they are now,
    # which change while commits do not.
    within = (f"--relative={head.prefix}", "--", head.prefix) if head.prefix else ("--",)
    return bounded_git(
        folder,
        _AS_STORED,
        "-C",
        head.git_folder,
        f"--git-dir={head.git_folder}",
        "--bare",
        "-c",
        f"core.attributesFile={_ATTRIBUTES}",
        "-c",
        _LARGE_FILE,
        "diff-tree",
        "--stdin",
        "-r",
        *PATCH_OPTIONS,
        "--diff-filter=M",
        "--always",
        "--format=%x00%H",
        *within,
        stdin=_lines(ids),
        most=most_bytes,
        processor_seconds=_PATCH_SECONDS,
        variables={"GIT_INDEX_FILE": f"{head.git_folder}/aggregate-reads-no-index"},
    )


def _contexts_by_commit(data: bytes) -> Iterator[tuple[str, list[HunkContext]]]:
    contexts: list[HunkContext] = []
    for hunk in read_hunks(data):
        if hunk.commit:
            contexts = []
            yield hunk.commit, contexts
        elif hunk.context and len(contexts) < MOST_PATHS:
            context = HunkContext(hunk.path, hunk.context)
            if context not in contexts:
                contexts.append(context)


def _lines(ids: Sequence[str]) -> bytes:
    return "".join(f"{commit}\n" for commit in ids).encode()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
