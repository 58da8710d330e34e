"""Read messages and files of past commits, within limits.

Uses git's plumbing. Repositories may have commits with a million files and messages of gigabytes. Git's output is cut
after some megabytes, and such a commit counts as empty.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from aggregate.base.disk.witnesses import note_repository
from aggregate.project.git.guarded_git import bounded_git

MOST_PATHS: Final = (
    200  # files of a commit; one with more, such as a new layout, says nothing of each
)
_LONGEST_MESSAGE: Final = 20_000  # characters; longer ones contain logs or merged messages
_COMMITS_AT_ONCE: Final = 256  # per run of git; a hostile commit affects only these
# Output per run: 256 ordinary commits take 100 KB, 256 with 200 long names 10 MB.
MOST_BYTES: Final = 16_000_000
MOST_FAILURES: Final = 3  # timeouts and failures, each of some seconds
# Runs with more output than is read; each continues after the part read, mostly within a twentieth of a second. Even a
# history of 3,000 imports of whole trees has no more.
_MOST_FLOODS: Final = 250
_MESSAGE: Final = 2  # index of the message in a record
# Typical header above a message.
_HEADER: Final = b"tree 0123456789abcdef\nauthor committer <a@b> +0000\nparent encoding\n\n"
_LOG: Final = (
    "diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames", "--relative", "--always", "--encoding=UTF-8",
    "--format=%x00%H %e%x00%B", "--ignore-submodules=none",
)  # fmt: skip
# A record has an empty field, id and encoding, message, names of files, each terminated by NUL.
_ID: Final = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)
# Without replacement objects, since an id must identify the content.
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
    """Return the newest one-parent commits that touch ``folder``.

    Merges repeat other commits. A root commit, or the last one of a shallow clone, adds all files at once. If git takes
    too long to filter by folder, all commits of the repository are returned; if it fails, none.
    """
    # Filtering by folder takes git much longer, even for the root folder.
    newest = (AS_STORED, "rev-list", "--no-merges", "--min-parents=1", f"--max-count={most}")
    for paths in ((".",), ()) if head.prefix else ((),):
        output = bounded_git(folder, *newest, head.commit, "--", *paths, most=MOST_BYTES)
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
        batch = waiting[:_COMMITS_AT_ONCE]
        output = bounded_git(folder, AS_STORED, *_LOG, stdin=id_lines(batch), most=most_bytes)
        if output is None:
            break
        data, is_complete = output.data, output.is_complete
        parsed = _commits(data, is_complete=is_complete)
        if len(data) >= most_bytes and not is_complete:
            floods += 1
            if not parsed and len(fields := _decoded(data).split("\0", 3)) > _MESSAGE:
                # A single commit exceeds the limit: use its message without files.
                parsed = [_commit(fields[1], fields[_MESSAGE], ())]
        elif not is_complete:
            failures += 1
        waiting = waiting[len(batch) if is_complete else max(len(parsed), 1) :]
        commits |= {commit.id: commit for commit in parsed}
    return commits


def _commits(data: bytes, *, is_complete: bool) -> list[LoggedCommit]:
    """Parse git's output; if it was cut, keep the last commit only if it is complete."""
    fields = _decoded(data).split("\0")
    if not is_complete:
        fields.pop()  # part of a name
    end = len(fields)
    fields.append("")
    commits: list[LoggedCommit] = []
    start = 0
    while start + 2 < end:
        # An empty field begins a commit: no file has an empty name.
        next_start = fields.index("", start + 3)
        names = [name for name in fields[start + 3 : next_start] if name]
        if names:
            names[0] = names[0].removeprefix("\n")
        is_last = next_start >= end - 1
        if not is_last or is_complete or len(names) > MOST_PATHS:
            paths = tuple(names) if len(names) <= MOST_PATHS else ()
            commits.append(_commit(fields[start + 1], fields[start + _MESSAGE], paths))
        start = next_start
    return commits


def _commit(head: str, message: str, paths: tuple[str, ...]) -> LoggedCommit:
    commit_id, _, encoding = head.partition(" ")
    text = message[:_LONGEST_MESSAGE] if _extends_ascii(encoding) else ""
    return LoggedCommit(commit_id, text, paths)


@lru_cache(maxsize=64)
def _extends_ascii(encoding: str) -> bool:
    """Return whether an encoding is a superset of ASCII.

    ``""`` means UTF-8. With other encodings, such as UTF-16, git misreads the header, does not find the message and
    prints random memory.
    """
    try:
        return not encoding or _HEADER.decode(encoding) == _HEADER.decode("ascii")
    except (LookupError, ValueError):  # unknown, or a codec of bytes
        return False


def id_lines(ids: Sequence[str]) -> bytes:
    return "".join(f"{commit}\n" for commit in ids).encode()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
