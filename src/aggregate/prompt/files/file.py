"""A file on its way into the prompt, runs of its lines, and remarks on files that globs leave out."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from aggregate.base.files import Entry, FileItem, FileRecord, ShownText, View, ViewMode, ViewRequest
from aggregate.base.text import heading_text
from aggregate.code.syntax import fence_tag
from aggregate.code.views import is_the_text
from aggregate.project.files import UTF_8, SourceFile

_UNREAD: Final = SourceFile("")
_NO_VIEW: Final = View("")


class File(NamedTuple):
    """A file on its way from a path to its block in the prompt.

    A named tuple takes little memory: large projects have 100,000 files.
    """

    path: str  # in the prompt: relative to the base directory with ``/``
    file: str  # its location, ``""`` for an unread file
    entry: Entry  # the settings of the path or glob that matches it
    by_glob: bool = False
    problem: str = ""  # why it is not read; ``""`` for a file to read
    refused: bool = False  # the scope forbids to read it
    source: SourceFile = _UNREAD  # its text, once read
    view: View = _NO_VIEW  # its content in the prompt, once rendered
    is_error: bool = False  # the view is a message in place of the content

    @property
    def item(self) -> FileItem:
        return self.entry.item

    @property
    def view_mode(self) -> ViewMode:
        return self.entry.view_mode

    @property
    def is_rendered(self) -> bool:
        """Whether the file is shown by a view.

        Raw files, files with a problem and files with ``auto_aggregate`` off are not.
        """
        item = self.entry.item
        is_raw = item.force_full or is_the_text(self.path, self.entry.view_mode)
        return not is_raw and item.auto_aggregate and not self.problem

    @property
    def note(self) -> str:
        """A doubt about the text, shown in the heading."""
        return encoding_note(self.source.encoding) if self.source.is_guess else ""

    @property
    def error_sentence(self) -> str:
        """The first line of the message in place of the content."""
        return self.view.text.splitlines()[0]

    @property
    def shown(self) -> ShownText:
        is_raw = self.view.text == self.source.text and not self.is_error
        spans = None if is_raw else self.view.spans
        return ShownText(self.source.text, spans, self.source.redacted, self.is_error)

    def with_item(self, item: FileItem) -> "File":
        return self._replace(entry=Entry(item, self.entry.tier))

    def without_text(self) -> "File":
        return self._replace(source=_UNREAD, view=_NO_VIEW)

    def request(self, mode: ViewMode) -> ViewRequest:
        item = self.item
        slices = tuple(item.custom_slices)
        return ViewRequest(self.path, self.source.text, mode, item.ast_mask, slices)

    def with_view(self, result: View | str, mode: ViewMode) -> "File":
        """Return the file with a view in ``mode``, or with the error that prevented it."""
        if isinstance(result, View):
            return self._replace(view=result, is_error=False)
        title = f"ERROR in {mode.value} view mode for {heading_text(self.path)}"
        return self.as_message(f"{title}:\n{result}")

    def as_message(self, message: str) -> "File":
        """Return the file with a message in place of its view."""
        view = View(message, language=fence_tag(self.path, self.source.text))
        return self._replace(view=view, is_error=True)

    def unreadable(self) -> "File":
        """Return the file with the reason why it cannot be read in place of its view."""
        return self.as_message(f"ERROR: {self.source.error}: {heading_text(self.path)}")

    def to_record(self) -> FileRecord:
        item = self.item
        return {
            "path": self.path,
            "entry": item.path,
            "content": self.view.text,
            "source": self.source.text,
            "mtime": self.source.mtime,
            "error": self.is_error,
            "view_mode": self.view_mode.value,
            "auto_aggregate": item.auto_aggregate,
            "force_full": item.force_full,
            "tier": self.entry.tier,
            "ast_mask": dict(item.ast_mask),
            "custom_slices": [dict(piece) for piece in item.custom_slices],
            "language": self.view.language,
            "spans": tuple(self.view.spans),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "File":
        """Build a file from a record, in which any key may be missing."""
        fields = {name: record.get(name) for name in FileRecord.__annotations__}
        values = {name: value for name, value in fields.items() if value is not None}
        entry_path, is_error = values.get("entry", ""), bool(values.get("error"))
        content = values.get("content", "")
        mode = str(values.get("view_mode"))
        mode = mode if mode in [*ViewMode] else ViewMode.FULL.value
        item = FileItem.from_dict({**values, "path": entry_path, "view_mode": mode})
        source = values.get("source", "" if is_error else content)
        return cls(
            path=str(values.get("path") or entry_path),
            file="",
            entry=Entry(item, values.get("tier")),
            source=SourceFile(source, mtime=values.get("mtime", 0.0)),
            view=View(content, values.get("spans", ()), values.get("language", "")),
            is_error=is_error,
        )


class Remark(NamedTuple):
    """A remark on files that a glob leaves out, shown like a file."""

    path: str  # the glob
    entry: Entry
    problem: str  # the number of the files and why they are left out
    details: tuple[str, ...] = ()  # further lines

    @property
    def file(self) -> File:
        lines = (f"NOTE: {self.problem}: {heading_text(self.path)}", *self.details)
        return File(self.path, "", self.entry).as_message("\n".join(lines))


def encoding_note(encoding: str) -> str:
    """Return the note about a guessed encoding."""
    if encoding == UTF_8:
        return f"its encoding is unknown: invalid bytes are shown as {chr(0xFFFD)}"
    return f"its encoding is a guess: read as {encoding}, characters may be wrong"
