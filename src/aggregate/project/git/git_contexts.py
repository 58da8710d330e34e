"""Where past commits changed the definitions of a project: read by git's plumbing, within bounds."""

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
from aggregate.project.git.git_patch import PATCH_OPTIONS, read_hunks
from aggregate.project.git.git_process import Output, bounded_git

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


class HunkContext(NamedTuple):
    """Where a commit changed a file.

    Attributes:
        path: Relative to the folder.
        line: The line that the definition around the change begins with, as far as git knows the language.
    """

    path: str
    line: str


def context_rules() -> bytes:
    """Return what decides which line git takes for the beginning of a definition.

    Raises:
        OSError: It is not on the disk, as in a zip file; git then takes the nearest line that begins with a letter.
    """
    return _ATTRIBUTES.read_bytes()


def read_contexts(
    folder: str, head: Head, ids: Sequence[str], *, most_bytes: int = MOST_BYTES
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
    while waiting and untold < MOST_FAILURES and cuts < _MOST_PARTS:
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
        AS_STORED,
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
        stdin=id_lines(ids),
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
