"""Read changed lines: since a revision, and in the hunks of commits."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.errors import ConfigError
from aggregate.base.task_budget import ChangedLines
from aggregate.project.git.git_files import names_in, other_files, without_filters
from aggregate.project.git.git_log import (
    AS_STORED,
    MOST_BYTES,
    MOST_FAILURES,
    MOST_PATHS,
    Head,
    id_lines,
)
from aggregate.project.git.guarded_git import (
    GitLimits,
    Output,
    bounded_git,
    git,
    unquoted,
    why_no_history,
)

# Options for patches in the format of ``changes_in``, whatever the user has configured.
PATCH_OPTIONS: Final = (
    "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
# Above 300 files git only detects renames of unchanged files: it compares each new file with each deleted one.
_WITH_RENAMES: Final = (*PATCH_OPTIONS, "-M", "-l300")
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
    text = name.decode("utf-8", "surrogateescape")
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
    folder: str, head: Head, ids: Sequence[str], *, most_bytes: int = MOST_BYTES
) -> dict[str, list[HunkContext]]:
    """Return the changed hunks of existing files by commit.

    Skips commits that git cannot read. If git is stopped within a commit, the commit is read again: the result must not
    depend on which commits the index already has (rule I-2).
    """
    # Without a work tree and an index git ignores the current attributes, which change while commits do not.
    command = (
        AS_STORED, "-C", head.git_folder, f"--git-dir={head.git_folder}", "--bare",
        "-c", f"core.attributesFile={_ATTRIBUTES}", "-c", _LARGE_FILE,
        "diff-tree", "--stdin", "-r", *PATCH_OPTIONS, "--diff-filter=M", "--always", "--format=%x00%H",
        *((f"--relative={head.prefix}", "--", head.prefix) if head.prefix else ("--",)),
    )  # fmt: skip
    contexts: dict[str, list[HunkContext]] = {}
    waiting = [*ids]
    failures = cuts = 0
    while waiting and failures < MOST_FAILURES and cuts < _MOST_PARTS:
        batch = waiting[:_PATCHES_AT_ONCE]
        output = bounded_git(
            folder,
            *command,
            stdin=id_lines(batch),
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
        yield commit.decode("ascii", "replace"), [*contexts][:MOST_PATHS]


_MOST_BYTES: Final = 32_000_000  # of a diff; beyond, only changed files are listed
_MOST_SHOWN: Final = 4_000_000  # bytes of a diff to show: more than any model reads
_MOST_CHANGES: Final = 5_000  # ranges and files, tracked ones first; more would not be useful seeds
_LONGEST_REVISION: Final = 200  # characters


def changed_lines(
    folder: str, revision: str, *, most_bytes: int = _MOST_BYTES
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
        listed = _diff_index(folder, commit, *names, most=_MOST_BYTES)
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
