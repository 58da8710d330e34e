"""What the user says about one file, and what the pipeline found there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NotRequired, TypedDict

from aggregate.base.values.view import Span


class SliceDict(TypedDict):
    """A run of lines that the user picked, with what is needed to find it again after edits (rule M-41).

    ``start_line`` and ``end_line`` are 1-based and inclusive. The anchor keys are written by
    ``FuzzyAnchor.create_slice`` and read by nothing but ``FuzzyAnchor.resolve``; a slice written by hand may leave them
    out and is then taken by its line numbers alone.
    """

    start_line: int
    end_line: int
    tag: NotRequired[str | None]
    comment: NotRequired[str | None]
    content_hash: NotRequired[str]
    anchor_lines: NotRequired[list[str]]
    lines: NotRequired[list[str]]
    prints_before: NotRequired[str]
    prints: NotRequired[str]
    prints_after: NotRequired[str]
    hash_before: NotRequired[str]
    hash_after: NotRequired[str]
    copies: NotRequired[int]
    rival: NotRequired[int]
    total_lines: NotRequired[int]
    symbol: NotRequired[str]


class FileRecord(TypedDict):
    """One file after reading and rendering: what ``build_file_items`` returns (rule M-5).

    ``path`` is relative to the base directory with ``/``, also where the file lies outside (``../other/c.py``).
    ``content`` is the rendered view or the error text. ``source`` is the decoded text of the file, ``""`` where it
    could not be read. ``spans`` map the lines of ``content`` to lines of the file; a file in full has none, its lines
    are its own.
    """

    path: str
    entry: str
    content: str
    source: str
    mtime: float
    error: bool
    view_mode: str
    auto_aggregate: bool
    force_full: bool
    tier: int | None
    ast_mask: dict[str, str]
    custom_slices: list[dict[str, Any]]
    language: str
    spans: tuple[Span, ...]


@dataclass
class FileItem:
    """How one file (or every file of a glob) is shown: the per-file curation memory (rule M-40).

    Attributes:
        path: Relative to the base directory, absolute, or a glob.
        auto_aggregate: ``False`` keeps the file in the items but out of the markdown.
        force_full: Show the raw text whatever the view mode or strategy says.
        view_mode: One of the seven modes; unknown or empty means ``summary``.
        selected: For batch operations of a user interface.
        ast_signatures: Shortcut for the skeleton view.
        ast_definitions: Shortcut for the skeleton view.
        ast_mask: ``{symbol path: "def" | "sig" | "hide"}`` for the masked view.
        custom_slices: Runs of lines for the custom view; each gets ``tag`` and ``comment``.
        injected_at: Unix time of the last injection.
    """

    path: str
    auto_aggregate: bool = True
    force_full: bool = False
    view_mode: str = "full"
    selected: bool = False
    ast_signatures: bool = False
    ast_definitions: bool = False
    ast_mask: dict[str, str] = field(default_factory=dict)
    custom_slices: list[dict[str, Any]] = field(default_factory=list)
    injected_at: float | None = None

    def __post_init__(self) -> None:
        self.custom_slices = [
            {"tag": None, "comment": None, **piece} for piece in self.custom_slices
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all ten fields as plain values; slices and masks are copies."""
        data = {item_field.name: getattr(self, item_field.name) for item_field in fields(self)}
        data["ast_mask"] = dict(self.ast_mask)
        data["custom_slices"] = [dict(piece) for piece in self.custom_slices]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FileItem":
        """Build an item from a mapping; unknown keys are ignored, missing ones and ``None`` take the default."""
        known = {item_field.name for item_field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known and value is not None}
        return cls(**{"path": "", **values})
