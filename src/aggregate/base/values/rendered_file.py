"""A file of a prompt after reading and rendering."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aggregate.base.values.file_item import FileRecord
from aggregate.base.values.redaction import Finding
from aggregate.base.values.shown_text import ShownText
from aggregate.base.values.view import Span, ViewMode


class FileRow(NamedTuple):
    """What is told of a file once its text is gone; its fields are those of ``RenderedFile``."""

    path: str
    entry: str
    view_mode: ViewMode
    auto_aggregate: bool
    error: bool


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """One file as a prompt shows it; a ``FileRecord`` is its public form.

    Attributes:
        path: As the prompt shows it: relative to the base directory with ``/``, also where the file
            lies outside (``../other/c.py``).
        entry: The path or glob that the caller wrote.
        content: The view, or the text that stands for a file that could not be shown.
        source: The decoded text of the file, ``""`` where it could not be read.
        mtime: Unix time of the last change in seconds, ``0.0`` where there is no file.
        error: Whether ``content`` says why the file is not shown.
        view_mode: The view that was asked for.
        auto_aggregate: ``False`` keeps the file out of the prompt unless it is a focus file.
        force_full: Whether the raw text is shown whatever the strategy says.
        tier: ``3`` marks a focus file of a Tier 3 context.
        ast_mask: The symbols of the masked view.
        custom_slices: The runs of lines of the custom view.
        language: The language tag for the fence around ``content``, ``""`` for none.
        spans: Where the lines of ``content`` come from; none for a file in full, whose lines are its
            own.
        secrets: Those that the file holds, replaced or not.
        redacted: Runs of lines ``(first, last)`` of ``source`` in which secrets were replaced.
    """

    path: str
    entry: str = ""
    content: str = ""
    source: str = ""
    mtime: float = 0.0
    error: bool = False
    view_mode: ViewMode = ViewMode.FULL
    auto_aggregate: bool = True
    force_full: bool = False
    tier: int | None = None
    ast_mask: Mapping[str, str] = field(default_factory=dict)
    custom_slices: Sequence[Mapping[str, Any]] = ()
    language: str = ""
    spans: Sequence[Span] = ()
    secrets: Sequence[Finding] = ()
    redacted: Sequence[tuple[int, int]] = ()

    @property
    def shown(self) -> ShownText:
        """What ``content`` was made of."""
        is_raw = self.content == self.source and not self.error
        spans = None if is_raw else self.spans
        return ShownText(self.source, spans, self.redacted, self.error)

    @property
    def shown_raw(self) -> ShownText:
        """What a block is made of that shows ``source`` itself."""
        return ShownText(self.source, None, self.redacted)

    @property
    def is_excluded(self) -> bool:
        """Whether its content was left out on purpose."""
        return self.view_mode is ViewMode.NONE and not self.error and not self.force_full

    @property
    def row(self) -> FileRow:
        """What is told of it without its text."""
        return FileRow(self.path, self.entry, self.view_mode, self.auto_aggregate, self.error)

    def to_record(self) -> FileRecord:
        """Return the file as a mapping of plain values, masks and slices as copies."""
        return FileRecord(
            path=self.path,
            entry=self.entry,
            content=self.content,
            source=self.source,
            mtime=self.mtime,
            error=self.error,
            view_mode=self.view_mode.value,
            auto_aggregate=self.auto_aggregate,
            force_full=self.force_full,
            tier=self.tier,
            ast_mask=dict(self.ast_mask),
            custom_slices=[dict(piece) for piece in self.custom_slices],
            language=self.language,
            spans=tuple(self.spans),
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RenderedFile":
        """Return the file that a record describes; one written by hand may lack any key.

        Without ``path`` the entry stands for it, and without ``source`` the content, unless that
        is an error.
        """
        content = str(record.get("content", ""))
        error = bool(record.get("error"))
        source = (record.get("source") or "") if error else record.get("source", content)
        return cls(
            path=str(record.get("path") or record.get("entry") or ""),
            entry=str(record.get("entry", "")),
            content=content,
            source=str(source),
            mtime=record.get("mtime", 0.0),
            error=error,
            view_mode=_known_mode(record.get("view_mode")),
            auto_aggregate=bool(record.get("auto_aggregate", True)),
            force_full=bool(record.get("force_full")),
            tier=record.get("tier"),
            ast_mask=record.get("ast_mask") or {},
            custom_slices=record.get("custom_slices") or (),
            language=str(record.get("language") or ""),
            spans=record.get("spans", ()),
        )


def _known_mode(value: object) -> ViewMode:
    """Return the mode of a record: what its content is, so nothing is read into odd spellings."""
    try:
        return ViewMode(str(value))
    except ValueError:
        return ViewMode.FULL
