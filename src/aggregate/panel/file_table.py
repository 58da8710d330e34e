"""The table of all files that could enter a prompt: what is shown of each, what it costs, and why."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aggregate.base.disk import open_regular
from aggregate.base.values import FileChoice, RenderedFile, ViewMode
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.prompt_data import CacheMarks
from aggregate.panel.protocol import FilesData, FileState
from aggregate.prompt import ResolvedFile

_CHARACTERS: Final = 4
"""Of a token, about; where a file was not counted its size tells roughly what it costs."""
_SCORE_DIGITS: Final = 6
"""Of a score: more would only make the table longer."""
_PROBE: Final = 8_192
"""Bytes of a file in which a NUL is looked for, as git does."""
_OMITTED: Mapping[FileState, str] = {
    "binary": "binary: a glob leaves it out",
    "generated": "generated: a glob leaves it to its list",
}
"""Why a file that a glob stands for is not shown."""


class Row(NamedTuple):
    """One file; the fields are those of ``FilesData``."""

    view: str
    mode: str
    tokens: int
    whole: int
    score: float | None
    state: FileState
    why: str


class FileTable:
    """The rows of all files, kept from one prompt to the next; for one thread at a time."""

    def __init__(self) -> None:
        self.listed: Mapping[str, ResolvedFile] = {}
        self._rows: Mapping[str, Row] = {}
        self._first = self._revision = 0
        self._since: dict[str, int] = {}
        self._removed: dict[str, int] = {}
        self._sizes: Mapping[str, int] = {}
        self._shown_sizes: Mapping[str, int] | None = None
        self._omitted: dict[str, tuple[_Stamp, FileState]] = {}

    def list(self, listed: Mapping[str, ResolvedFile]) -> None:
        """Take all files that there are now."""
        self._sizes = _file_sizes(listed)
        self.listed = listed

    def measure(self, paths: Iterable[str]) -> None:
        """Measure files that were changed."""
        touched = {path: self.listed[path] for path in paths if path in self.listed}
        self._sizes = {**self._sizes, **_file_sizes(touched)}

    def show_names(self, revision: int) -> None:
        """Let the page see names and sizes of the files, before there is a prompt."""
        self.show(
            {path: Row("", "", 0, size, None, "", "") for path, size in self._sizes.items()},
            revision,
        )
        self._shown_sizes = None

    def show(self, rows: Mapping[str, Row], revision: int) -> None:
        """Let the page see the rows of a later revision."""
        if not self._rows:
            self._first = revision
        for path, row in rows.items():
            if self._rows.get(path) != row:
                self._since[path] = revision
                self._removed.pop(path, None)
        for path in self._rows.keys() - rows.keys():
            self._since.pop(path, None)
            self._removed[path] = revision
        self._rows, self._revision = rows, revision
        self._shown_sizes = self._sizes

    def data(self, since: int | None) -> FilesData:
        """Return the table as the page takes it that has the one of a revision, ``None`` for none."""
        if since is None or not self._first <= since <= self._revision:
            return _data(self._revision, self._rows, is_full=True)
        changed = {path: row for path, row in self._rows.items() if self._since[path] > since}
        removed = sorted(path for path, gone in self._removed.items() if gone > since)
        return _data(self._revision, changed, is_full=False, removed=removed)

    def rows(
        self, composed: ComposedDraft, marks: CacheMarks, last: ComposedDraft | None = None
    ) -> Mapping[str, Row]:
        """Return the rows of all files beside a prompt.

        Args:
            composed: The prompt.
            marks: What a cache does with it.
            last: The prompt that the rows of now are of; they are looked through for what may stay.
        """
        shown = {file.path: file for file in composed.composition.files}
        known = _Known(composed, shown, marks.changed, self._look_at_omitted(composed, shown))
        if last is not None and self._is_alike(last, composed):
            # While a slider moves or one view is set, nothing is shown of most files, as before.
            return {
                path: row
                if _is_same(path, composed, last)
                else known.row(path, self._sizes.get(path, 0))
                for path, row in self._rows.items()
            }
        paths = dict.fromkeys((*self.listed, *composed.selected))
        return {
            path: known.row(path, self._sizes.get(path, 0))
            for path in sorted(paths, key=_tree_order)
        }

    def _is_alike(self, last: ComposedDraft, composed: ComposedDraft) -> bool:
        """Tell whether two prompts with a budget are of the same files, none of which was changed."""
        return (
            last.request.budget is not None
            and composed.request.budget is not None
            and self._sizes is self._shown_sizes
            and last.selected.keys() == composed.selected.keys()
        )

    def _look_at_omitted(
        self, composed: ComposedDraft, shown: Mapping[str, RenderedFile]
    ) -> Mapping[str, FileState]:
        """Return what the files are that a glob stands for and that a prompt without a budget does not show.

        Each is looked at once, and again where it has changed.
        """
        if composed.request.budget is not None:
            return {}
        states: dict[str, tuple[_Stamp, FileState]] = {}
        for path, file in composed.selected.items():
            if not file.by_glob or path in shown or file.problem:
                continue
            stamp = _stamp(file.file)
            last, state = self._omitted.get(path, ((), ""))
            if not state or last != stamp:
                state = "binary" if _is_binary(file.file) else "generated"
            states[path] = stamp, state
        self._omitted = states
        return {path: state for path, (_, state) in states.items()}


def _data(
    revision: int, rows: Mapping[str, Row], *, is_full: bool, removed: Sequence[str] = ()
) -> FilesData:
    return {
        "revision": revision,
        "full": is_full,
        "path": list(rows),
        "view": [row.view for row in rows.values()],
        "mode": [row.mode for row in rows.values()],
        "tokens": [row.tokens for row in rows.values()],
        "whole": [row.whole for row in rows.values()],
        "score": [row.score for row in rows.values()],
        "state": [row.state for row in rows.values()],
        "why": [row.why for row in rows.values()],
        "removed": list(removed),
    }


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of files beside their prompt: those it shows, those that changed, and those a glob leaves out."""

    composed: ComposedDraft
    shown: Mapping[str, RenderedFile]
    changed: frozenset[str]
    omitted: Mapping[str, FileState]

    def row(self, path: str, size: int) -> Row:
        """Return the row of a file, of which ``size`` tokens are estimated."""
        composed = self.composed
        file, choice = composed.selected.get(path), composed.choices.get(path)
        tokens = composed.tokens.files.get(path, 0)
        mode = view = ""
        if file is not None:
            mode = file.view_mode.value if file.item.auto_aggregate else "out"
        if composed.request.budget is not None and choice is not None:
            view = "" if choice.level.is_hidden else choice.level.value
            size = choice.size or size
        elif tokens and path in self.shown:
            view = self.shown[path].view_mode.value
        if view == ViewMode.FULL and tokens:
            size = tokens
        score = None
        if choice is not None and choice.score is not None:
            score = round(choice.score, _SCORE_DIGITS)
        state, why = self._state(path, file, choice)
        return Row(view, mode, tokens, size, score, state, why)

    def _state(
        self, path: str, file: ResolvedFile | None, choice: FileChoice | None
    ) -> tuple[FileState, str]:
        """Return what is to be seen of a file at a glance, and why it is in or out."""
        shown, omitted = self.shown.get(path), self.omitted.get(path, "")
        if shown is not None and shown.error:
            return "error", shown.content.split("\n", 1)[0]
        if file is not None and file.problem:
            return "error", file.problem
        why = ""
        if choice is not None and choice.pinned:
            why = "pinned: shown whatever it costs"
        elif choice is not None:
            why = "; ".join(f"{reason.kind}: {reason.matched}" for reason in choice.reasons[:2])
        state = omitted
        if shown is not None and _has_stale(shown):
            state = "stale"
        elif shown is not None and shown.secrets:
            state = "secret"
        elif path in self.changed:
            state = "changed"
        return state, why or _OMITTED.get(omitted, "")


def _is_same(path: str, now: ComposedDraft, earlier: ComposedDraft) -> bool:
    """Tell whether two prompts of the same files show nothing of a file."""
    if now.selected.get(path) != earlier.selected.get(path):
        return False
    new, old = now.choices.get(path), earlier.choices.get(path)
    if new is old or new is None or old is None:
        return new is old
    told = [(choice.reasons, choice.score, choice.size, choice.pinned) for choice in (new, old)]
    return new.level.is_hidden and old.level.is_hidden and told[0] == told[1]


def _has_stale(file: RenderedFile) -> bool:
    """Tell whether a slice of a file was not found again."""
    if file.view_mode is not ViewMode.CUSTOM:
        return False
    heads = (line for line in file.content.split("\n") if line.startswith("--- [Slice"))
    return any(": orphaned: " in head or ": ambiguous: " in head for head in heads)


def _file_sizes(listed: Mapping[str, ResolvedFile]) -> dict[str, int]:
    """Return the tokens of each file as a whole, estimated from its bytes, in the order of the tree."""
    sizes: dict[str, int] = {}
    for path in sorted(listed, key=_tree_order):
        try:
            size = os.stat(listed[path].file).st_size  # noqa: PTH116 - runs for each file
        except (OSError, ValueError):  # it is gone
            size = 0
        sizes[path] = size // _CHARACTERS
    return sizes


def _tree_order(path: str) -> str:
    """Return what sorts paths as a tree shows them: the files of a folder stand together."""
    return path.replace("/", "\0")


_Stamp = tuple[int, ...]
"""What a file is known again by: its inode, size and both of its times, one of which nobody can set."""


def _stamp(file: str) -> _Stamp:
    try:
        info = os.stat(file)  # noqa: PTH116 - runs for each file
    except (OSError, ValueError):
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _is_binary(file: str) -> bool:
    try:
        descriptor, _ = open_regular(file)
        with os.fdopen(descriptor, "rb") as opened:
            return b"\0" in opened.read(_PROBE)
    except (OSError, ValueError):
        return False
