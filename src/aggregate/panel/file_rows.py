"""The rows of all files beside a prompt: what is shown of each, what it costs, and why."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aggregate.base.values import FileChoice, ViewMode
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.file_table import Row
from aggregate.panel.protocol import FileState
from aggregate.prompt import ResolvedFile

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
