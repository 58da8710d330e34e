"""The table of all files that could enter a prompt, and since when each row is as it is."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aggregate.base.disk import open_regular
from aggregate.base.values import FileChoice, ViewMode
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.prompt_data import CacheMarks
from aggregate.panel.protocol import FilesData, FileState
from aggregate.prompt import ResolvedFile


class Row(NamedTuple):
    """One file; the fields are those of ``FilesData``."""

    view: str
    mode: str
    tokens: int
    whole: int
    score: float | None
    state: FileState
    why: str


@dataclass(slots=True)
class FileTable:
    """The rows of all files, and since which revision each is as it is.

    Attributes:
        revision: What the rows are of.
        rows: By path, sorted.
    """

    revision: int = 0
    rows: Mapping[str, Row] = field(default_factory=dict)
    _since: dict[str, int] = field(default_factory=dict)
    _removed: dict[str, int] = field(default_factory=dict)
    _first: int = 0

    def update(self, rows: Mapping[str, Row], revision: int) -> None:
        """Take the rows of a later revision."""
        if not self.rows:
            self._first = revision
        for path, row in rows.items():
            if self.rows.get(path) != row:
                self._since[path] = revision
                self._removed.pop(path, None)
        for path in self.rows.keys() - rows.keys():
            self._since.pop(path, None)
            self._removed[path] = revision
        self.rows, self.revision = rows, revision

    def data(self, since: int | None = None) -> FilesData:
        """Return the table as the page takes it.

        Args:
            since: The revision that the page has; ``None`` for none.
        """
        if since is None or not self._first <= since <= self.revision:
            return _data(self.revision, self.rows.items(), is_full=True)
        changed = [(path, row) for path, row in self.rows.items() if self._since[path] > since]
        removed = sorted(path for path, gone in self._removed.items() if gone > since)
        return _data(self.revision, changed, is_full=False, removed=removed)


def _data(
    revision: int,
    rows: Iterable[tuple[str, Row]],
    *,
    is_full: bool,
    removed: Sequence[str] = (),
) -> FilesData:
    pairs = list(rows)
    return {
        "revision": revision,
        "full": is_full,
        "path": [path for path, _ in pairs],
        "view": [row.view for _, row in pairs],
        "mode": [row.mode for _, row in pairs],
        "tokens": [row.tokens for _, row in pairs],
        "whole": [row.whole for _, row in pairs],
        "score": [row.score for _, row in pairs],
        "state": [row.state for _, row in pairs],
        "why": [row.why for _, row in pairs],
        "removed": list(removed),
    }


def plain_rows(sizes: Mapping[str, int]) -> dict[str, Row]:
    """Return rows of files of which nothing but names and sizes is known: what the page shows at first."""
    return {path: Row("", "", 0, size, None, "", "") for path, size in sizes.items()}


_CHARACTERS: Final = 4
"""Of a token, about; where a file was not counted its size tells roughly what it costs."""
_SCORE_DIGITS: Final = 6
"""Of a score: more would only make the table longer."""

_OMITTED: Mapping[FileState, str] = {
    "binary": "binary: a glob leaves it out",
    "generated": "generated: a glob leaves it to its list",
}
"""Why a file that a glob stands for is not shown."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of files beside their prompt.

    Attributes:
        changed: Files that are not as in the last prompt that was sent or written.
        secrets: Files in which secrets were found.
        stale: Files with a slice that was not found again.
        omitted: Files that a glob stands for and that are not shown, with what they are.
    """

    changed: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    omitted: Mapping[str, FileState] = field(default_factory=dict)


def composed_rows(
    composed: ComposedDraft,
    listed: Mapping[str, ResolvedFile],
    sizes: Mapping[str, int],
    marks: Marks,
    before: Mapping[str, Row],
    earlier: ComposedDraft | None,
) -> dict[str, Row]:
    """Return the rows of all files beside a prompt.

    Args:
        composed: The prompt.
        listed: All files that could enter.
        sizes: Their tokens as a whole, about.
        marks: What else is known of them.
        before: The rows beside the earlier prompt.
        earlier: The prompt before, where both have a budget and are of the same files; ``None`` where it was of others.
    """
    shown = _Shown.of(composed)
    if earlier is None:
        paths = dict.fromkeys((*listed, *composed.selected))
        return {
            path: _row(path, composed, shown, sizes.get(path, 0), marks)
            for path in sorted(paths, key=tree_order)
        }
    # While a slider moves or one view is set, nothing is shown of most files, as before.
    return {
        path: row
        if _is_same(path, composed, earlier)
        else _row(path, composed, shown, sizes.get(path, 0), marks)
        for path, row in before.items()
    }


def _is_same(path: str, now: ComposedDraft, earlier: ComposedDraft) -> bool:
    """Tell whether two prompts of the same files show nothing of a file."""
    if now.selected.get(path) != earlier.selected.get(path):
        return False
    new, old = now.choices.get(path), earlier.choices.get(path)
    if new is old or new is None or old is None:
        return new is old
    told = [(choice.reasons, choice.score, choice.size, choice.pinned) for choice in (new, old)]
    return new.level.is_hidden and old.level.is_hidden and told[0] == told[1]


class _Shown(NamedTuple):
    errors: Mapping[str, str]
    modes: Mapping[str, str]

    @classmethod
    def of(cls, composed: ComposedDraft) -> "_Shown":
        files = composed.composition.files
        errors = {file.path: file.content.split("\n", 1)[0] for file in files if file.error}
        return cls(errors, {file.path: file.view_mode.value for file in files})


def _row(path: str, composed: ComposedDraft, shown: _Shown, size: int, marks: Marks) -> Row:
    file, choice = composed.selected.get(path), composed.choices.get(path)
    tokens = composed.tokens.files.get(path, 0)
    mode = ""
    if file is not None:
        mode = file.view_mode.value if file.item.auto_aggregate else "out"
    if composed.request.budget is not None and choice is not None:
        view = "" if choice.level.is_hidden else choice.level.value
        size = choice.size or size
    else:
        view = shown.modes.get(path, "") if tokens else ""
    if view == ViewMode.FULL and tokens:
        size = tokens
    score = None if choice is None or choice.score is None else round(choice.score, _SCORE_DIGITS)
    state = _state(path, shown, file, marks)
    why = _why(path, file, choice, shown) or _OMITTED.get(marks.omitted.get(path, ""), "")
    return Row(view, mode, tokens, size, score, state, why)


def _state(path: str, shown: _Shown, file: ResolvedFile | None, marks: Marks) -> FileState:
    if path in shown.errors or (file is not None and file.problem):
        return "error"
    if path in marks.stale:
        return "stale"
    if path in marks.secrets:
        return "secret"
    if path in marks.changed:
        return "changed"
    return marks.omitted.get(path, "")


def _why(path: str, file: ResolvedFile | None, choice: FileChoice | None, shown: _Shown) -> str:
    if path in shown.errors:
        return shown.errors[path]
    if file is not None and file.problem:
        return file.problem
    if choice is None:
        return ""
    if choice.pinned:
        return "pinned: shown whatever it costs"
    return "; ".join(f"{reason.kind}: {reason.matched}" for reason in choice.reasons[:2])


def file_sizes(listed: Mapping[str, ResolvedFile]) -> dict[str, int]:
    """Return the tokens of each file as a whole, estimated from its bytes."""
    return {path: size // _CHARACTERS for path, size in _sizes(listed).items()}


def _sizes(listed: Mapping[str, ResolvedFile]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path in sorted(listed, key=tree_order):
        try:
            sizes[path] = os.stat(listed[path].file).st_size  # noqa: PTH116 - runs for each file
        except (OSError, ValueError):
            sizes[path] = 0
    return sizes


def tree_order(path: str) -> str:
    """Return what sorts paths as a tree shows them: the files of a folder stand together."""
    return path.replace("/", "\0")


def stale_slices(composed: ComposedDraft) -> Iterator[str]:
    """Yield the files with a slice that was not found again."""
    for file in composed.composition.files:
        if file.view_mode is ViewMode.CUSTOM and not file.error and _has_stale(file.content):
            yield file.path


def _has_stale(content: str) -> bool:
    heads = (line for line in content.split("\n") if line.startswith("--- [Slice"))
    return any(": orphaned: " in head or ": ambiguous: " in head for head in heads)


_PROBE: Final = 8_192
"""Bytes of a file in which a NUL is looked for, as git does."""


class OmittedFiles:
    """Tells why files that a glob stands for are not shown; each is looked at once, and again where it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamp, FileState]] = {}

    def of(self, composed: ComposedDraft) -> Mapping[str, FileState]:
        """Return the files of a prompt without a budget that are binary, or that a program has written."""
        if composed.request.budget is not None:
            return {}
        shown = {file.path for file in composed.composition.files}
        omitted = (
            (path, file)
            for path, file in composed.selected.items()
            if file.by_glob and path not in shown and not file.problem
        )
        self._known = {path: self._look_at(path, file.file) for path, file in omitted}
        return {path: state for path, (_, state) in self._known.items()}

    def _look_at(self, path: str, file: str) -> "tuple[_Stamp, FileState]":
        stamp = _Stamp.of(file)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known
        return stamp, "binary" if _is_binary(file) else "generated"


class _Stamp(NamedTuple):
    """What a file is known again by: its inode, size and both of its times, one of which nobody can set."""

    inode: int = 0
    size: int = 0
    modified_ns: int = 0
    changed_ns: int = 0

    @classmethod
    def of(cls, file: str) -> "_Stamp":
        try:
            info = os.stat(file)  # noqa: PTH116 - runs for each file
        except (OSError, ValueError):
            return cls()
        return cls(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _is_binary(file: str) -> bool:
    try:
        descriptor, _ = open_regular(file)
        with os.fdopen(descriptor, "rb") as opened:
            return b"\0" in opened.read(_PROBE)
    except (OSError, ValueError):
        return False


class FileOverview:
    """The table of files and what its rows are made of; for one thread at a time.

    Attributes:
        listed: All files that could enter.
    """

    def __init__(self) -> None:
        self.listed: Mapping[str, ResolvedFile] = {}
        self._table = FileTable()
        self._omitted = OmittedFiles()
        self._sizes: Mapping[str, int] = {}
        self._shown_sizes: Mapping[str, int] | None = None

    def list(self, listed: Mapping[str, ResolvedFile]) -> None:
        """Take all files that there are now."""
        self._sizes = file_sizes(listed)
        self.listed = listed

    def measure(self, paths: Iterable[str]) -> None:
        """Measure files that were changed."""
        touched = {path: self.listed[path] for path in paths if path in self.listed}
        self._sizes = {**self._sizes, **file_sizes(touched)}

    def show_names(self, revision: int) -> None:
        """Let the page see the names of the files, before there is a prompt."""
        self._table.update(plain_rows(self._sizes), revision)

    def rows(
        self, composed: ComposedDraft, marks: CacheMarks, last: ComposedDraft | None = None
    ) -> Mapping[str, Row]:
        """Return the rows of all files beside a prompt.

        Args:
            composed: The prompt.
            marks: What a cache does with it.
            last: The prompt that the rows of now are of; they are looked through for what may stay.
        """
        known = Marks(
            marks.changed,
            frozenset(file.path for file in composed.composition.files if file.secrets),
            frozenset(stale_slices(composed)),
            self._omitted.of(composed),
        )
        earlier = last if last is not None and self._is_alike(last, composed) else None
        return composed_rows(composed, self.listed, self._sizes, known, self._table.rows, earlier)

    def _is_alike(self, last: ComposedDraft, composed: ComposedDraft) -> bool:
        """Tell whether two prompts with a budget are of the same files, none of which was changed."""
        return (
            last.request.budget is not None
            and composed.request.budget is not None
            and self._sizes is self._shown_sizes
            and last.selected.keys() == composed.selected.keys()
        )

    def show(self, rows: Mapping[str, Row], revision: int) -> None:
        """Let the page see the rows of a prompt."""
        self._table.update(rows, revision)
        self._shown_sizes = self._sizes

    def data(self, since: int | None) -> FilesData:
        """Return the table as the page takes it; the argument is that of ``FileTable.data``."""
        return self._table.data(since)
