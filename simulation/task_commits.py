"""Commits of git clones as tasks with known answers: the message asks, and the lines that it changed are to be shown.

The choice is the newest suitable commits, whatever they are: nothing is picked by hand. What counts as source and what
as a test is decided here by paths alone, not by the program that is measured.
"""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from simulation.trees import git

COMMITS = 24
"""Of each clone: enough for an interval of a few hundredths over a dozen clones."""
LOOKED_AT = 3_000
"""Commits of a clone among which suitable ones are looked for, so that a clone with none ends."""
MOST_FILES = 10
"""Source files of a suitable commit; larger ones are sweeps, which no message describes."""
FEWEST_WORDS = 3
"""Of a suitable message; shorter ones, such as ``fix`` or ``v2.1``, ask nothing."""

FEWEST_WORDS_ASKED = 5
"""Of the first line of a task that can be asked; the others are chores."""
_CHORE = re.compile(r"\b(?:bump|releases?|typos?|merged?|merges)\b|^v?\d+\.\d+", re.IGNORECASE)

_SUFFIXES = (
    "bash c cc cjs clj cpp cs cts cxx dart erl ex exs go h hh hpp hs hxx java jl js jsx kt kts lua m mjs ml mts php pl"
    " pm py pyi pyx r rb rs scala sh sol svelte swift ts tsx vue zig"
)
CODE = frozenset(f".{suffix}" for suffix in _SUFFIXES.split(" "))
"""Suffixes of programs' sources."""

_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__|testing|testdata|specs?|fixtures|e2e|fuzz(?:ing)?|snapshots?|playground"
    r"|[a-z-]+-tests?|test-[a-z-]+|tests?[-_][a-z]+|[a-z]{4,}tests?)/",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*[_-]tests?|tests?|conftest|[^/]*\.(?:test|spec|test-d|spec-d|bench)|[^/]*[a-z]Tests?)"
    r"\.[a-z]+$"
)
_AUXILIARY = re.compile(
    r"(?:^|/)(?:docs?|documentation|website|examples?|samples?|demos?|sandbox|bench(?:es|marks?)?|vendor(?:ed)?"
    r"|third[-_]party|node_modules|dist|\.github|assets)/|\.min\.[a-z]+$|(?:^|/)docs?[-_][^/]*/",
    re.IGNORECASE,
)
_HUNK = re.compile(r"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")


class Kind(NamedTuple):
    """What a path says about a file."""

    is_code: bool
    is_test: bool
    is_auxiliary: bool


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changes, as it is before."""

    path: str
    text: str
    lines: tuple[int, ...]
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class TaskCommit:
    """A task and its answer."""

    name: str
    parent: str
    message: str
    files: tuple[ChangedFile, ...]

    @property
    def sources(self) -> tuple[ChangedFile, ...]:
        """The changed files that are no tests."""
        return tuple(file for file in self.files if not file.is_test)

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @property
    def is_chore(self) -> bool:
        """Whether nobody would ask for this: a bump, a release, a typo, a merge, or fewer than five words."""
        is_short = len(self.subject.split()) < FEWEST_WORDS_ASKED
        return is_short or bool(_CHORE.search(self.subject))


def kind_of(path: str) -> Kind:
    """Tell by its path what a file is."""
    return Kind(
        Path(path).suffix.lower() in CODE,
        bool(_TEST_FOLDER.search(path) or _TEST_NAME.search(path)),
        bool(_AUXILIARY.search(path)),
    )


def task_commits(clone: Path, count: int = COMMITS, *, skip: int = 0) -> Iterator[TaskCommit]:
    """Yield the newest suitable commits of a clone, the newest first.

    Suitable is a commit with one parent, a message of at least ``FEWEST_WORDS`` words, and one to ``MOST_FILES``
    changed source files that are no tests and existed before.
    """
    log = git(
        clone, "log", f"-{LOOKED_AT}", "--no-merges", "--no-show-signature",
        "--format=%H%x01%P%x01%B%x00", "HEAD",
    )  # fmt: skip
    suitable = 0
    for entry in log.decode("utf-8", "replace").split("\0"):
        name, _, rest = entry.strip("\n").partition("\x01")
        parents, _, message = rest.partition("\x01")
        if len(parents.split()) != 1 or len(message.split()) < FEWEST_WORDS:
            continue
        try:
            files = changed_files(clone, parents, name)
        except subprocess.CalledProcessError:  # a snapshot may lack what was large
            continue
        if not 1 <= sum(not file.is_test for file in files) <= MOST_FILES:
            continue
        suitable += 1
        if suitable > skip:
            yield TaskCommit(name, parents, message.strip(), files)
        if suitable == skip + count:
            return


def changed_files(clone: Path, parent: str, name: str) -> tuple[ChangedFile, ...]:
    """Return the source files that a commit changes; moved ones under their old paths."""
    diff = git(
        clone, "-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-U0", "-M", "--no-ext-diff",
        "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", parent, name,
    )  # fmt: skip
    files: list[ChangedFile] = []
    for path, hunks in _hunks(diff.decode("utf-8", "replace").split("\n")):
        kind = kind_of(path)
        if not kind.is_code or kind.is_auxiliary:
            continue
        text = git(clone, "show", f"{parent}:{path}").decode("utf-8", "replace")
        lines = _lines_of(hunks, text.split("\n"))
        if lines:
            files.append(ChangedFile(path, text, lines, kind.is_test))
    return tuple(files)


def _hunks(diff: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the old path of each file of a diff, with the first old line and the number of old lines of each hunk."""
    path, hunks = "", list[tuple[int, int]]()
    at = 0
    while at < len(diff):
        line = diff[at]
        at += 1
        if line.startswith("diff --git "):
            if path and hunks:
                yield path, hunks
            path, hunks = "", []
        elif line.startswith("--- a/"):
            path = line[len("--- a/") :].rstrip("\t")
        elif match := _HUNK.match(line):
            old, new = int(match[2] or 1), int(match[4] or 1)
            hunks.append((int(match[1]), old))
            at += old + new  # a line of the hunk may look like a heading
    if path and hunks:
        yield path, hunks


def _lines_of(hunks: Sequence[tuple[int, int]], lines: Sequence[str]) -> tuple[int, ...]:
    """Return the lines of the hunks that are not blank; of one that only adds, the line beside it."""
    numbers: set[int] = set()
    for first, count in hunks:
        if count:
            numbers.update(
                number
                for number in range(first, first + count)
                if number <= len(lines) and lines[number - 1].strip()
            )
        else:
            numbers.update(_beside(first, lines))
    return tuple(sorted(numbers))


def _beside(above: int, lines: Sequence[str]) -> Iterator[int]:
    """Yield the line that is not blank and nearest to a gap behind the line ``above``, upwards first."""
    for number in (*range(above, 0, -1), *range(above + 1, len(lines) + 1)):
        if lines[number - 1].strip():
            yield number
            return


class Tree:
    """A work tree of a clone in which no later commit than the one that was checked out can be reached.

    It has the clone's objects, but no branch, no tag and no log of references: a program that asks for history finds
    that of the parent and nothing else.
    """

    def __init__(self, clone: Path, folder: Path) -> None:
        self.folder = folder
        if (folder / ".git").exists():
            return
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "--template=")
        git(folder, "config", "core.logAllRefUpdates", "false")
        objects = Path(git(clone, "rev-parse", "--git-path", "objects").decode().strip())
        alternates = folder / ".git" / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{(clone / objects).resolve()}\n", encoding="utf-8")

    def check_out(self, commit: str) -> None:
        """Bring the files and ``HEAD`` to a commit; what was changed or put there before goes."""
        git(self.folder, "update-ref", "--no-deref", "HEAD", commit)
        try:
            git(self.folder, "read-tree", "--reset", "-u", commit)
        except (
            subprocess.CalledProcessError
        ):  # a snapshot may lack what was large: all files but those
            git(self.folder, "read-tree", "--reset", commit)
            with suppress(subprocess.CalledProcessError):
                git(self.folder, "checkout-index", "-q", "-f", "-a")
        git(self.folder, "clean", "-q", "-f", "-d", "-x")
        with suppress(FileNotFoundError):
            (self.folder / ".git" / "ORIG_HEAD").unlink()

    def knows(self, commit: str) -> bool:
        """Tell whether a commit can be reached from any reference."""
        return commit in git(self.folder, "rev-list", "--all", "HEAD").decode().split()

    def restore(self, commit: str, paths: Sequence[str]) -> None:
        """Put files there as they are in another commit, without committing them; what it lacks is deleted."""
        for path in paths:
            if git(self.folder, "ls-tree", "--name-only", commit, "--", path):
                content = git(self.folder, "show", f"{commit}:{path}")
                (self.folder / path).write_bytes(content)
            else:
                (self.folder / path).unlink(missing_ok=True)  # the commit deletes it
