"""Where files differ, read from what git prints of their differences, and the definitions that past commits changed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.project.git.git_log import (
    AS_STORED,
    MOST_BYTES,
    MOST_FAILURES,
    MOST_PATHS,
    Head,
    id_lines,
)
from aggregate.project.git.git_process import bounded_git, unquoted

# What makes git print patches in the form that ``read_hunks`` reads, whatever the user has configured.
PATCH_OPTIONS: Final = (
    "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_HUNK: Final = re.compile(
    rb"@@ -(?P<old>\d{1,9})(?:,(?P<removed>\d{1,9}))? \+(?P<new>\d{1,9})(?:,(?P<added>\d{1,9}))? @@ ?(?P<context>.*)",
    re.DOTALL,
)


class Hunk(NamedTuple):
    """A run of changed lines, or what stands before the first one of a commit or of a file."""

    commit: str = ""  # the id of the commit that begins here, else ``""``
    path: str = ""  # as it is now; ``""`` where a commit begins
    # The first changed line as it is now, 1-based; the line before where lines were only removed. ``0`` where it says
    # nothing of lines: the file is new, or none that is compared line by line.
    first: int = 0
    last: int = 0  # the last one, inclusive
    context: str = ""  # what git takes for the beginning of the definition around it


def read_hunks(patch: bytes) -> Iterator[Hunk]:
    """Yield what stands in a patch with no lines around changes, prefixes ``a/`` and ``b/``, and commits behind NUL.

    A file's lines are skipped by their number, so that none of them passes for a line of git's own. Of a patch that was
    cut, what stands before the cut is told.
    """
    lines = patch.split(b"\n")
    place = 0
    path, is_new = "", False
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith(b"@@ ") and (match := _HUNK.match(line)):
            added = int(match["added"] or 1)
            place += added + int(match["removed"] or 1)
            if path and not is_new:
                first = max(int(match["new"]), 1)
                context = match["context"].decode("utf-8", "replace")
                yield Hunk("", path, first, first + max(added, 1) - 1, context)
        elif line.startswith(b"\0"):
            path = ""
            yield Hunk(commit=line[1:].decode("ascii", "replace"))
        elif line.startswith(b"diff --git "):
            path, is_new = "", False
        elif line.startswith(b"new file mode "):
            is_new = True
        elif line.startswith(b"+++ "):
            path = _path(line[4:])
            if is_new and path:
                yield Hunk(path=path)
        elif line.startswith(b"Binary files ") and (path := _binary_path(line)):
            yield Hunk(path=path)


def _path(quoted: bytes) -> str:
    # Git puts a tab behind names with spaces.
    name = quoted.removesuffix(b"\t").decode("utf-8", "surrogateescape")
    if name.startswith('"') and name.endswith('"'):
        name = unquoted(name[1:-1])
    return name[2:] if name.startswith("b/") else ""


def _binary_path(line: bytes) -> str:
    names = line.removeprefix(b"Binary files ").removesuffix(b" differ")
    if names.startswith(b"/dev/null and "):
        return _path(names.removeprefix(b"/dev/null and "))
    old, _, new = names[: (len(names) - 5) // 2], b" and ", names[(len(names) - 5) // 2 + 5 :]
    # Both names are the same but for their prefix, since renames are not looked for.
    return _path(new) if old.lstrip(b'"')[2:] == new.lstrip(b'"')[2:] else ""


# How often git may be ended while it told of some: each time it goes on behind them, and takes a second or two.
_MOST_PARTS: Final = 12
_PATCHES_AT_ONCE: Final = 40  # Commits whose changes git compares at once
# Of a processor, for them: 40 ordinary commits take 0.05. A repository can say by a pattern how its definitions begin,
# and git matches some patterns for minutes.
_PATCH_SECONDS: Final = 2
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
            processor_seconds=_PATCH_SECONDS,
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
    contexts: list[HunkContext] = []
    for hunk in read_hunks(data):
        if hunk.commit:
            contexts = []
            yield hunk.commit, contexts
        elif hunk.context and len(contexts) < MOST_PATHS:
            context = HunkContext(hunk.path, hunk.context)
            if context not in contexts:
                contexts.append(context)
