"""What past commits changed, and what they say: read by git's plumbing, within bounds.

A repository may hold commits of a million files and messages of gigabytes. What git prints is cut after some
megabytes, and such a commit counts as one that tells nothing.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from aggregate.base.disk.witnesses import note_repository
from aggregate.project.git.git_process import bounded_git

# Files of a commit from which they are left out: what touches so many, as a new layout does, tells of none of them.
MOST_PATHS: Final = 200
# Characters of a message that are read: longer ones hold logs or the messages of what was merged.
_LONGEST_MESSAGE: Final = 20_000
# For which git is run once, so that one hostile commit costs only those around it.
_COMMITS_AT_ONCE: Final = 256
# Of what git prints at once: 256 ordinary commits take 100 KB, and 256 of 200 files with long names 10 MB.
MOST_BYTES: Final = 16_000_000
# How often git may take too long, or fail, before no more is asked: it takes seconds each time.
MOST_FAILURES: Final = 3
# How often git may print more than is read at once: it goes on behind what was read, a twentieth of a second later for
# most, and a history of 3,000 commits that is nothing but imports of whole trees has no more of them.
_MOST_FLOODS: Final = 250
_MESSAGE: Final = 2  # The place of a message among the fields of a record
# What stands above a message, about.
_HEADER: Final = b"tree 0123456789abcdef\nauthor committer <a@b> +0000\nparent encoding\n\n"
_LOG: Final = (
    "diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames", "--relative", "--always", "--encoding=UTF-8",
    "--format=%x00%H %e%x00%B", "--ignore-submodules=none",
)  # fmt: skip
# Has a record printed for each commit: an empty field, id and encoding, message, names of files, each ended by NUL.
_ID: Final = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
# A commit's id stands for what it holds: no other object is taken in its place.
AS_STORED: Final = "--no-replace-objects"


class Head(NamedTuple):
    commit: str
    git_folder: str
    prefix: str
    is_shallow: bool


class LoggedCommit(NamedTuple):
    id: str
    message: str
    paths: tuple[str, ...]


def find_head(folder: str) -> Head | None:
    note_repository(folder)
    questions = ("--is-shallow-repository", "--absolute-git-dir", "--show-prefix")
    output = bounded_git(folder, AS_STORED, "rev-parse", *questions, "HEAD", most=MOST_BYTES)
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
    newest = (AS_STORED, "rev-list", "--no-merges", "--min-parents=1", f"--max-count={most}")
    for within in ((".",), ()) if head.prefix else ((),):
        output = bounded_git(folder, *newest, head.commit, "--", *within, most=MOST_BYTES)
        if output is not None and output.is_complete:
            return tuple(_ID.findall(output.data.decode("ascii", "replace")))
    return ()


def read_commits(
    folder: str, ids: Sequence[str], *, most_bytes: int = MOST_BYTES
) -> dict[str, LoggedCommit]:
    commits: dict[str, LoggedCommit] = {}
    waiting = [*ids]
    floods = failures = 0
    while waiting and failures < MOST_FAILURES and floods < _MOST_FLOODS:
        asked = waiting[:_COMMITS_AT_ONCE]
        output = bounded_git(folder, AS_STORED, *_LOG, stdin=id_lines(asked), most=most_bytes)
        if output is None:
            break
        data, is_complete = output.data, output.is_complete
        read = _commits(data, is_complete=is_complete)
        if len(data) >= most_bytes and not is_complete:
            floods += 1
            if not read and len(fields := _decoded(data).split("\0", 3)) > _MESSAGE:
                # It alone is more than is read at once: it has a message, and tells of no file.
                read = [_commit(fields[1], fields[_MESSAGE], ())]
        elif not is_complete:
            failures += 1
        waiting = waiting[len(asked) if is_complete else max(len(read), 1) :]
        commits |= {commit.id: commit for commit in read}
    return commits


def _commits(data: bytes, *, is_complete: bool) -> list[LoggedCommit]:
    """Return the commits that git has told of; of what was cut, the last one only if that does not matter."""
    fields = _decoded(data).split("\0")
    if not is_complete:
        fields.pop()  # part of a name
    end = len(fields)
    fields.append("")
    commits: list[LoggedCommit] = []
    place = 0
    while place + 2 < end:
        # No file has an empty name: an empty field begins a commit, whatever files and messages are called.
        next_place = fields.index("", place + 3)
        names = [name for name in fields[place + 3 : next_place] if name]
        if names:
            names[0] = names[0].removeprefix("\n")
        is_last = next_place >= end - 1
        if not is_last or is_complete or len(names) > MOST_PATHS:
            paths = tuple(names) if len(names) <= MOST_PATHS else ()
            commits.append(_commit(fields[place + 1], fields[place + _MESSAGE], paths))
        place = next_place
    return commits


def _commit(head: str, message: str, paths: tuple[str, ...]) -> LoggedCommit:
    commit_id, _, encoding = head.partition(" ")
    shown = message[:_LONGEST_MESSAGE] if _extends_ascii(encoding) else ""
    return LoggedCommit(commit_id, shown, paths)


@lru_cache(maxsize=64)
def _extends_ascii(encoding: str) -> bool:
    """Tell whether text in an encoding has ASCII's letters and line breaks as ASCII has them; ``""`` is UTF-8.

    Of any other, such as UTF-16, git takes what stands above the message for text in it too, does not find where the
    message begins, and prints what happens to lie in its memory: another one each time.
    """
    try:
        return not encoding or _HEADER.decode(encoding) == _HEADER.decode("ascii")
    except (LookupError, ValueError):  # none of that name, or one of bytes
        return False


def id_lines(ids: Sequence[str]) -> bytes:
    return "".join(f"{commit}\n" for commit in ids).encode()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
