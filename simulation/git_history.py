"""Read the histories of files from a git clone and compose the hunks of their steps into maps of lines."""

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from rapidfuzz.process import extractOne

from simulation.trees import git

# fmt: off
SOURCES = frozenset((
    ".c", ".cc", ".cpp", ".cs", ".css", ".go", ".h", ".hpp", ".html", ".java", ".js", ".jsx", ".kt", ".md", ".php",
    ".py", ".rb", ".rs", ".rst", ".sh", ".swift", ".toml", ".ts", ".tsx", ".yml",
))
# fmt: on
MOST_FILES = 24
MOST_REVISIONS = 400

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which line of the old text each line of the new one is: ``places[old]`` is the new number, ``0`` where it went.

    ``pure`` are the old lines that went in hunks which add nothing; ``added`` the stripped lines that the step brought.
    """

    places: tuple[int, ...]
    pure: frozenset[int] = frozenset()
    added: frozenset[str] = frozenset()

    @classmethod
    def identity(cls, total: int) -> "LineMap":
        """Return the map of a text that did not change; line 0 stands for nothing."""
        return cls(tuple(range(total + 1)))

    def then(self, step: "LineMap") -> "LineMap":
        """Return the map of this change followed by ``step``."""
        places = tuple(step.places[at] if at < len(step.places) else 0 for at in self.places)
        pure = {old for old, at in enumerate(self.places) if at in step.pure}
        return LineMap(places, self.pure | pure)

    def touched(self, total: int) -> list[int]:
        """Return the old lines that went or beside which something was put in or taken out."""
        return [
            n
            for n in range(1, total + 1)
            if not self.places[n] or self.places[n] != self.places[n - 1] + 1
        ]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the new range of a slice whose first and last lines are left."""
        first, last = self.places[start], self.places[end]
        return (first, last) if first and last else None

    def truth(
        self, start: int, end: int, text: str, added: list[frozenset[str]]
    ) -> tuple[str, tuple[int, int] | None]:
        """Return what became of a slice and its range where that is known."""
        span = self.span(start, end)
        if span is not None:
            return "located", span
        if any(self.places[start : end + 1]):
            return "partial", None
        lines = [line.strip() for line in text.split("\n")[start - 1 : end]]
        telling = [line for line in lines if len(line) > 3]
        again = sum(
            any(line in step or extractOne(line, step, score_cutoff=70) for step in added)
            for line in telling
        )
        if (
            telling
            and again <= 0.2 * len(telling)
            and all(n in self.pure for n in range(start, end + 1))
        ):
            return "deleted", None
        return "partial", None

    def agrees(self, start: int, end: int, first: int, last: int, telling: frozenset[int]) -> bool:
        """Tell whether a range holds most surviving ``telling`` lines of the slice and few of its surroundings."""
        ours = [at for old in range(start, end + 1) if old in telling and (at := self.places[old])]
        inside = sum(first <= at <= last for at in ours)
        others = [at for old in telling if not start <= old <= end and (at := self.places[old])]
        strange = sum(first <= at <= last for at in others)
        return 2 * inside >= len(ours) and 2 * strange <= last - first + 1

    def keeps_order(self, start: int, end: int, first: int, last: int) -> bool:
        """Tell whether all surviving lines above the slice stay above a range and those below stay below."""
        above = max(self.places[:start], default=0)
        below = min((at for at in self.places[end + 1 :] if at), default=last + 1)
        return above < first and last < below


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a file."""

    commit: str
    text: str


@dataclass(slots=True)
class FileHistory:
    """The states of one file from old to new, with the map of each step (``steps[i]`` leads from state i to i + 1)."""

    clone: Path
    path: str
    revisions: list[Revision]
    steps: list[LineMap] = field(default_factory=list)

    def direct(self, old: int, new: int) -> LineMap:
        """Return the map of one diff from state to state: the baseline."""
        ends = [f"{self.revisions[at].commit}:{self.path}" for at in (old, new)]
        diff = git(self.clone, "diff", "--no-ext-diff", "--histogram", "-w", "-U0", *ends)
        return parse_diff(diff, self.revisions[old].text)


def histories(clone: Path, chance: random.Random) -> list[FileHistory]:
    """Return the histories of some source files: half of them those with most revisions."""
    listed = (
        git(clone, "ls-tree", "-r", "-z", "--name-only", "HEAD")
        .decode("utf-8", "replace")
        .split("\0")
    )
    paths = [path for path in listed if Path(path).suffix in SOURCES]
    log = git(clone, "log", "--first-parent", "-m", "--format=", "--name-only", "-z", "HEAD")
    changes: dict[str, int] = {}
    for path in log.decode("utf-8", "replace").split("\0"):
        changes[path.strip("\n")] = changes.get(path.strip("\n"), 0) + 1
    often = sorted(paths, key=lambda path: (-changes.get(path, 0), path))[: MOST_FILES // 2]
    others = [path for path in paths if path not in often and changes.get(path, 0) > 1]
    chosen = [*often, *chance.sample(others, min(len(others), MOST_FILES // 2))]
    found = [_history(clone, path) for path in chosen]
    return [history for history in found if len(history.revisions) > 1]


def _history(clone: Path, path: str) -> FileHistory:
    """Read the youngest unbroken run of states of one file with the diffs between them."""
    marker = "\x01commit "
    log = git(
        clone, "log", "--first-parent", "-m", "--no-ext-diff", "--histogram", "-w", "-U0", "--reverse", "--no-renames",
        f"-{MOST_REVISIONS}", f"--format={marker}%H", "HEAD", "--", path,
    )  # fmt: skip
    history = FileHistory(clone, path, [])
    for entry in log.split(marker.encode())[1:]:
        commit, _, diff = entry.partition(b"\n")
        if b"\ndeleted file mode" in diff or b"\nBinary files" in diff:
            history.revisions.clear()
            history.steps.clear()
            continue
        text = git(clone, "show", f"{commit.decode()}:{path}").decode("utf-8", "replace")
        if history.revisions:
            history.steps.append(parse_diff(diff, history.revisions[-1].text))
        history.revisions.append(Revision(commit.decode(), text))
    return history


def parse_diff(diff: bytes, old: str) -> LineMap:
    """Return the map of lines that a diff without context gives."""
    places: list[int] = [0]
    pure: set[int] = set()
    shift = 0
    for match in _HUNK.finditer(diff):
        old_at, old_size = int(match[1]), int(match[2] or 1)
        new_size = int(match[4] or 1)
        first = old_at if old_size else old_at + 1
        places.extend(n + shift for n in range(len(places), first))
        places.extend(0 for _ in range(old_size))
        if not new_size:
            pure.update(range(first, first + old_size))
        shift += new_size - old_size
    places.extend(n + shift for n in range(len(places), old.count("\n") + 2))
    added = {
        line[1:].strip().decode("utf-8", "replace")
        for line in diff.split(b"\n")
        if line.startswith(b"+")
    }
    return LineMap(tuple(places), frozenset(pure), frozenset(added))
