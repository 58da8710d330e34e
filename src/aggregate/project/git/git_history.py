"""Read past commits, their changed lines, and the changes since a revision, within limits.

Uses git's plumbing. Repositories may have commits with a million files and messages of gigabytes. Git's output is cut
after some megabytes, and such a commit counts as empty.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError
from aggregate.base.task_budget import ChangedLines
from aggregate.project.git.git_files import names_in, other_files, without_filters
from aggregate.project.git.guarded_git import (
    GitLimits,
    Output,
    bounded_git,
    git,
    unquoted,
    why_no_history,
)

_MOST_PATHS: Final = (
    200  # files of a commit; one with more, such as a new layout, says nothing of each
)
_LONGEST_MESSAGE: Final = 20_000  # characters; longer ones contain logs or merged messages
_COMMITS_AT_ONCE: Final = 256  # per run of git; a hostile commit affects only these
# Output per run: 256 ordinary commits take 100 KB, 256 with 200 long names 10 MB.
_MOST_LOGGED: Final = 16_000_000
_MOST_FAILURES: Final = 3  # timeouts and failures, each of some seconds
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
_AS_STORED: Final = "--no-replace-objects"


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
    note(repository=folder)
    questions = ("--is-shallow-repository", "--absolute-git-dir", "--show-prefix")
    output = bounded_git(folder, _AS_STORED, "rev-parse", *questions, "HEAD", most=_MOST_LOGGED)
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
    newest = (_AS_STORED, "rev-list", "--no-merges", "--min-parents=1", f"--max-count={most}")
    for paths in ((".",), ()) if head.prefix else ((),):
        output = bounded_git(folder, *newest, head.commit, "--", *paths, most=_MOST_LOGGED)
        if output is not None and output.is_complete:
            return tuple(_ID.findall(output.data.decode("ascii", "replace")))
    return ()


def read_commits(
    folder: str, ids: Sequence[str], *, most_bytes: int = _MOST_LOGGED
) -> dict[str, LoggedCommit]:
    commits: dict[str, LoggedCommit] = {}
    waiting = [*ids]
    floods = failures = 0
    while waiting and failures < _MOST_FAILURES and floods < _MOST_FLOODS:
        batch = waiting[:_COMMITS_AT_ONCE]
        output = bounded_git(folder, _AS_STORED, *_LOG, stdin=_id_lines(batch), most=most_bytes)
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
        if not is_last or is_complete or len(names) > _MOST_PATHS:
            paths = tuple(names) if len(names) <= _MOST_PATHS else ()
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


def _id_lines(ids: Sequence[str]) -> bytes:
    return "".join(f"{commit}\n" for commit in ids).encode()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# Options for patches in the format of ``changes_in``, whatever the user has configured.
_PATCH_OPTIONS: Final = (
    "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
# Above 300 files git only detects renames of unchanged files: it compares each new file with each deleted one.
_WITH_RENAMES: Final = (*_PATCH_OPTIONS, "-M", "-l300")
# First current line (the one before a pure removal), number of lines, and the line of the enclosing definition.
_HUNK: Final = re.compile(
    r"@@ -[\d,]{1,19} \+(?P<first>\d{1,9})(?:,(?P<count>\d{1,9}))? @@ ?(?P<context>.*)"
)


class FileChange(NamedTuple):
    """A changed file with its hunks; ``kind`` is ``""`` unless it is new, deleted or renamed."""

    path: str
    kind: str = ""
    hunks: tuple[str, ...] = ()  # as printed by ``diff -u``

    @property
    def added(self) -> int:
        """Number of added lines."""
        return sum(line[:1] == "+" for hunk in self.hunks for line in hunk.split("\n"))

    @property
    def removed(self) -> int:
        """Number of removed lines."""
        return sum(line[:1] == "-" for hunk in self.hunks for line in hunk.split("\n"))


def changes_in(patch: bytes) -> Iterator[FileChange]:
    """Parse a patch, which may be cut off, into the changes of each file."""
    _, *blocks = (b"\n" + patch).split(b"\ndiff --git ")
    for block in blocks:
        head, *hunks = block.split(b"\n@@ -")
        names, *lines = head.split(b"\n")
        # The first line has the path twice, unless the file was renamed.
        half = len(names) // 2
        old, new = _path(names[:half]), _path(names[half + 1 :])
        path, kind = new[2:] if old[2:] == new[2:] else "", ""
        for line in lines:
            if line.startswith((b"new file", b"deleted file")):
                kind = "new" if line.startswith(b"new") else "deleted"
            elif line.startswith(b"rename from "):
                kind = f"renamed from {_path(line.removeprefix(b'rename from '))}"
            elif line.startswith(b"rename to "):
                path = _path(line.removeprefix(b"rename to "))
            elif line.startswith(b"Binary files "):
                kind = kind or "binary"
        texts = ("@@ -" + hunk.decode("utf-8", "replace").removesuffix("\n") for hunk in hunks)
        # Some versions of git print only the first line for a touched file.
        if path and lines:
            yield FileChange(path, kind, tuple(texts))


def _path(name: bytes) -> str:
    text = _decoded(name)
    return unquoted(text[1:-1]) if text.startswith('"') and text.endswith('"') else text


# Interrupted runs of git; each continues after the commits already printed and takes a second or two.
_MOST_PARTS: Final = 12
_PATCHES_AT_ONCE: Final = 40  # commits per run of git
# CPU seconds per run: 40 ordinary commits take 0.05, but a repository can define patterns of definitions that take git
# minutes.
_PATCH_LIMITS: Final = GitLimits(processor=2)
# Larger files are data, and a comparison can take quadratic time.
_LARGE_FILE: Final = "core.bigFileThreshold=1m"
_ATTRIBUTES: Final = Path(__file__).with_name("function_context.gitattributes")


HunkContext = tuple[str, str]  # path, and the line of the enclosing definition


def read_contexts(
    folder: str, head: Head, ids: Sequence[str], *, most_bytes: int = _MOST_LOGGED
) -> dict[str, list[HunkContext]]:
    """Return the changed hunks of existing files by commit.

    Skips commits that git cannot read. If git is stopped within a commit, the commit is read again: the result must not
    depend on which commits the index already has (rule I-2).
    """
    # Without a work tree and an index git ignores the current attributes, which change while commits do not.
    command = (
        _AS_STORED, "-C", head.git_folder, f"--git-dir={head.git_folder}", "--bare",
        "-c", f"core.attributesFile={_ATTRIBUTES}", "-c", _LARGE_FILE,
        "diff-tree", "--stdin", "-r", *_PATCH_OPTIONS, "--diff-filter=M", "--always", "--format=%x00%H",
        *((f"--relative={head.prefix}", "--", head.prefix) if head.prefix else ("--",)),
    )  # fmt: skip
    contexts: dict[str, list[HunkContext]] = {}
    waiting = [*ids]
    failures = cuts = 0
    while waiting and failures < _MOST_FAILURES and cuts < _MOST_PARTS:
        batch = waiting[:_PATCHES_AT_ONCE]
        output = bounded_git(
            folder,
            *command,
            stdin=_id_lines(batch),
            most=most_bytes,
            limits=_PATCH_LIMITS,
            variables={"GIT_INDEX_FILE": f"{head.git_folder}/aggregate-reads-no-index"},
        )
        if output is None:
            break
        parsed = list(_contexts_by_commit(output.data))
        if output.is_complete:
            waiting = waiting[len(batch) :]
        else:
            parsed = parsed[:-1]
            failures += not parsed  # git fails on the first commit itself
            cuts += 1
            waiting = waiting[max(len(parsed), 1) :]
        contexts |= dict(parsed)
    return contexts


def _contexts_by_commit(data: bytes) -> Iterator[tuple[str, list[HunkContext]]]:
    for part in (b"\n" + data).split(b"\n\0")[1:]:
        commit, _, patch = part.partition(b"\n")
        contexts = {
            (change.path, match["context"]): None
            for change in changes_in(patch)
            for hunk in change.hunks
            if (match := _HUNK.match(hunk)) and match["context"]
        }
        yield commit.decode("ascii", "replace"), [*contexts][:_MOST_PATHS]


_MOST_CHANGED: Final = 32_000_000  # of a diff; beyond, only changed files are listed
_MOST_SHOWN: Final = 4_000_000  # bytes of a diff to show: more than any model reads
_MOST_CHANGES: Final = 5_000  # ranges and files, tracked ones first; more would not be useful seeds
_LONGEST_REVISION: Final = 200  # characters


def changed_lines(
    folder: str, revision: str, *, most_bytes: int = _MOST_CHANGED
) -> list[ChangedLines]:
    """Return changed line ranges below ``folder`` since ``revision``, by path.

    Uncommitted changes are included. A removal counts as the line before it; deleted files do not count.
    """
    changes = _changes(folder, revision, "-U0", most=most_bytes)
    ranges = dict.fromkeys(lines for change in changes for lines in _ranges(change))
    return sorted([*ranges][:_MOST_CHANGES])


def read_changes(folder: str, revision: str) -> list[FileChange]:
    """Return changes since a revision, including uncommitted ones, by path."""
    return sorted(_changes(folder, revision, "-U3", most=_MOST_SHOWN))


def find_commit(folder: str, revision: str) -> str:
    """Return the commit id of a revision; raise ``ConfigError`` for an unknown one."""
    if reason := why_no_history(folder):
        start = revision[:_LONGEST_REVISION]
        raise ConfigError(
            f"cannot compare with revision {start!r}, since {reason}: leave the comparison out"
        )
    # A leading dash could be an option of git.
    is_odd = revision.startswith("-") or not revision.isprintable() or not revision.strip()
    if not is_odd and len(revision) <= _LONGEST_REVISION:
        name = f"{revision}^{{commit}}"
        answer = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if answer:
            return answer.decode("ascii", "replace").split()[-1]
    start = revision[:_LONGEST_REVISION]
    raise ConfigError(
        f"unknown git revision {start!r}: use a commit, a branch or a tag, such as HEAD~1 or main"
    )


def _changes(folder: str, revision: str, context: str, *, most: int) -> list[FileChange]:
    """Return changes since a revision, of tracked files first; without hunks beyond ``most`` bytes."""
    commit = find_commit(folder, revision)
    output = _diff_index(folder, commit, *_WITH_RENAMES, context, most=most)
    changes = [*changes_in(output.data)] if output else []
    if output and not output.is_complete:
        names = ("-z", "--name-only", "--no-renames", "--diff-filter=d")
        listed = _diff_index(folder, commit, *names, most=_MOST_CHANGED)
        parsed = {change.path for change in changes}
        paths = names_in(listed.data) if listed else []
        changes += [FileChange(path, "large") for path in paths if path not in parsed]
    return changes + [FileChange(path, "not tracked") for path in other_files(folder)]


def _ranges(change: FileChange) -> Iterator[ChangedLines]:
    is_deleted = change.kind == "deleted"
    if change.kind in ("new", "binary") or not (change.hunks or is_deleted):
        yield ChangedLines(change.path)
    for hunk in change.hunks if change.kind != "new" and not is_deleted else ():
        if match := _HUNK.match(hunk):
            first, count = max(int(match["first"]), 1), int(match["count"] or 1)
            yield ChangedLines(change.path, first, first + max(count, 1) - 1)


def _diff_index(folder: str, commit: str, *options: str, most: int) -> Output | None:
    settings = without_filters(folder)
    # If a filter cannot be disabled, compare the index only, which needs no filter.
    cached = () if settings is not None else ("--cached",)
    command = ("-c", _LARGE_FILE, "-c", "core.quotePath=false", "diff-index", *options)
    # Compare the checked-out commit of submodules, not their content.
    scope = ("--ignore-submodules=dirty", "--relative", *cached, commit, "--", ".")
    return bounded_git(folder, *(settings or ()), *command, *scope, most=most)
