"""What git says of changed lines: since a revision, and in the hunks of commits."""

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.errors import ConfigError
from aggregate.project.git.git import names_in, other_files, without_filters
from aggregate.project.git.git_log import (
    AS_STORED,
    MOST_BYTES,
    MOST_FAILURES,
    MOST_PATHS,
    Head,
    id_lines,
)
from aggregate.project.git.git_process import (
    GitLimits,
    Output,
    bounded_git,
    git,
    unquoted,
    why_no_history,
)

# What makes git print patches in the form that ``changes_in`` reads, whatever the user has configured.
PATCH_OPTIONS: Final = (
    "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
# Of more files git tells only the renames of unchanged ones: it compares each new one with each that is gone.
_WITH_RENAMES: Final = (*PATCH_OPTIONS, "-M", "-l300")

# Of the lines as they are now the first, or the one before where some were only removed, and how many; then what git
# takes for the beginning of the definition around them.
_HUNK: Final = re.compile(
    r"@@ -[\d,]{1,19} \+(?P<first>\d{1,9})(?:,(?P<count>\d{1,9}))? @@ ?(?P<context>.*)"
)


class FileChange(NamedTuple):
    """What has changed in a file, and what kind of change it is, ``""`` for one of its lines."""

    path: str
    kind: str = ""
    # Runs of changed lines with some around them, as ``diff -u`` shows them.
    hunks: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        """The lines that were added."""
        return sum(line[:1] == "+" for hunk in self.hunks for line in hunk.split("\n"))

    @property
    def removed(self) -> int:
        """The lines that were removed."""
        return sum(line[:1] == "-" for hunk in self.hunks for line in hunk.split("\n"))


def changes_in(patch: bytes) -> Iterator[FileChange]:
    """Yield what a patch tells of each file; each line of a file's own has a mark before it.

    Of a patch that was cut, what stands before the cut is told.
    """
    _, *blocks = (b"\n" + patch).split(b"\ndiff --git ")
    for block in blocks:
        head, *hunks = block.split(b"\n@@ -")
        names, *lines = head.split(b"\n")
        path, kind = _same_path(names), ""
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
        # Of a file that was only touched some versions of git print the first line.
        if path and lines:
            yield FileChange(path, kind, tuple(texts))


def _path(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return unquoted(text[1:-1]) if text.startswith('"') and text.endswith('"') else text


def _same_path(names: bytes) -> str:
    """Return the path that stands twice in the first line of a file's patch, ``""`` where it has two names."""
    half = len(names) // 2
    old, new = _path(names[:half]), _path(names[half + 1 :])
    return new[2:] if old[2:] == new[2:] else ""


# How often git may be ended while it told of some: each time it goes on behind them, and takes a second or two.
_MOST_PARTS: Final = 12

_PATCHES_AT_ONCE: Final = 40  # Commits whose changes git compares at once

# Of a processor, for them: 40 ordinary commits take 0.05. A repository can say by a pattern how its definitions begin,
# and git matches some patterns for minutes.
_PATCH_LIMITS: Final = GitLimits(processor=2)

# Git compares no larger files: they are data, and a comparison can take the square of their lines.
_LARGE_FILE: Final = "core.bigFileThreshold=1m"

_ATTRIBUTES: Final = Path(__file__).with_name("function_context.gitattributes")


class HunkContext(NamedTuple):
    path: str
    line: str


def context_rules() -> bytes:
    return _ATTRIBUTES.read_bytes()


def read_contexts(
    folder: str, head: Head, ids: Sequence[str], *, most_bytes: int = MOST_BYTES
) -> dict[str, list[HunkContext]]:
    """Return what each commit changed within the files that were there before; what git cannot tell is left out.

    Where git is ended amid a commit, the next one begins with it: what is told of a commit must not depend on those
    that are asked for with it, of which the index knows some and some not (rule I-2).
    """
    # Without a work tree and an index, and started elsewhere, git reads no attributes of the files as they are now,
    # which change while commits do not.
    command = (
        AS_STORED, "-C", head.git_folder, f"--git-dir={head.git_folder}", "--bare",
        "-c", f"core.attributesFile={_ATTRIBUTES}", "-c", _LARGE_FILE,
        "diff-tree", "--stdin", "-r", *PATCH_OPTIONS, "--diff-filter=M", "--always", "--format=%x00%H",
        *((f"--relative={head.prefix}", "--", head.prefix) if head.prefix else ("--",)),
    )  # fmt: skip
    contexts: dict[str, list[HunkContext]] = {}
    waiting = [*ids]
    untold = cuts = 0
    while waiting and untold < MOST_FAILURES and cuts < _MOST_PARTS:
        asked = waiting[:_PATCHES_AT_ONCE]
        output = bounded_git(
            folder,
            *command,
            stdin=id_lines(asked),
            most=most_bytes,
            limits=_PATCH_LIMITS,
            variables={"GIT_INDEX_FILE": f"{head.git_folder}/aggregate-reads-no-index"},
        )
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


def _contexts_by_commit(data: bytes) -> Iterator[tuple[str, list[HunkContext]]]:
    for part in (b"\n" + data).split(b"\n\0")[1:]:
        commit, _, patch = part.partition(b"\n")
        contexts = {
            HunkContext(change.path, match["context"]): None
            for change in changes_in(patch)
            for hunk in change.hunks
            if (match := _HUNK.match(hunk)) and match["context"]
        }
        yield commit.decode("ascii", "replace"), [*contexts][:MOST_PATHS]


# Of what git prints of the differences: what is longer is told by files alone.
_MOST_BYTES: Final = 32_000_000

_MOST_SHOWN: Final = 4_000_000  # Of what is shown of them: more than any model reads

# Runs of lines and files, those that git knows first: beyond them a change tells nothing of what it is about.
_MOST_CHANGES: Final = 5_000

_LONGEST_REVISION: Final = 200  # Characters; longer ones name nothing


class ChangedRange(NamedTuple):
    path: str
    first: int = 0
    last: int = 0


def changed_lines(
    folder: str, revision: str, *, most_bytes: int = _MOST_BYTES
) -> list[ChangedRange]:
    """Return what below ``folder`` differs from ``revision``, also what is not committed, in the order of the paths.

    Lines that were removed count by the line before them; files that are no more do not count.
    """
    commit = find_commit(folder, revision)
    changes = [
        *_tracked(folder, commit, most_bytes),
        *(ChangedRange(path) for path in other_files(folder)),
    ]
    return sorted(changes[:_MOST_CHANGES])


def find_commit(folder: str, revision: str) -> str:
    """Return the id of a revision's commit; a ``ConfigError`` says that there is none."""
    if reason := why_no_history(folder):
        shown = revision[:_LONGEST_REVISION]
        raise ConfigError(f"{shown!r} is no revision to compare with, as {reason}: leave it out")
    # What begins with a dash could be an option of git's.
    is_odd = revision.startswith("-") or not revision.isprintable() or not revision.strip()
    if not is_odd and len(revision) <= _LONGEST_REVISION:
        name = f"{revision}^{{commit}}"
        answer = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if answer:
            return answer.decode("ascii", "replace").split()[-1]
    shown = revision[:_LONGEST_REVISION]
    raise ConfigError(
        f"git knows no revision {shown!r} here: name a commit, a branch or a tag, such as HEAD~1 or main"
    )


def _tracked(folder: str, commit: str, most_bytes: int) -> list[ChangedRange]:
    output = _diff_index(folder, commit, *_WITH_RENAMES, most=most_bytes)
    if output is None:
        return []
    changes = [each for change in changes_in(output.data) for each in _ranges(change)]
    if not output.is_complete:
        known = {change.path for change in changes}
        changes += [ChangedRange(path) for path in _changed_paths(folder, commit, known)]
    return list(dict.fromkeys(changes))


def _ranges(change: FileChange) -> Iterator[ChangedRange]:
    is_deleted = change.kind == "deleted"
    if change.kind in ("new", "binary") or not (change.hunks or is_deleted):
        yield ChangedRange(change.path)
    for hunk in change.hunks if change.kind != "new" and not is_deleted else ():
        if match := _HUNK.match(hunk):
            first, count = max(int(match["first"]), 1), int(match["count"] or 1)
            yield ChangedRange(change.path, first, first + max(count, 1) - 1)


def _diff_index(folder: str, commit: str, *options: str, most: int) -> Output | None:
    settings = without_filters(folder)
    # Where a filter cannot be switched off, files are not compared: what is staged is, which needs no filter.
    compared = () if settings is not None else ("--cached",)
    text = ("-c", _LARGE_FILE, "-c", "core.quotePath=false", "diff-index", *options)
    # Which commit of a submodule is checked out is compared; in it nothing is looked at.
    within = ("--ignore-submodules=dirty", "--relative", *compared, commit, "--", ".")
    return bounded_git(folder, *(settings or ()), *text, *within, most=most)


def _changed_paths(folder: str, commit: str, known: Container[str]) -> list[str]:
    """Return the files that differ from a commit, and are there, without the known ones."""
    names = ("-z", "--name-only", "--no-renames", "--diff-filter=d")
    listed = _diff_index(folder, commit, *names, most=_MOST_BYTES)
    paths = names_in(listed.data) if listed else []
    return [path for path in paths if path not in known]


def read_changes(folder: str, revision: str) -> list[FileChange]:
    """Return what below ``folder`` differs from ``revision``, also what is not committed, in the order of the paths."""
    commit = find_commit(folder, revision)
    output = _diff_index(folder, commit, *_WITH_RENAMES, "-U3", most=_MOST_SHOWN)
    changes = [*changes_in(output.data)] if output else []
    if output and not output.is_complete:
        known = {change.path for change in changes}
        changes += [FileChange(path, "large") for path in _changed_paths(folder, commit, known)]
    changes += [FileChange(path, "not tracked") for path in other_files(folder)]
    return sorted(changes)
