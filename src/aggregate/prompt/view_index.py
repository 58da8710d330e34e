"""Views that the index keeps: under which key, in which form, and what is told of their files beside them."""

import json
import struct
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from aggregate.base.text import generated_reason
from aggregate.base.values import Entry, GeneratedView, PackedSpans, Span, View
from aggregate.code.syntax import LANGUAGES
from aggregate.project.files import UTF_8
from aggregate.project.index import Kind, code_version
from aggregate.prompt.request_files import WrittenBy
from aggregate.prompt.selection import ResolvedFile

if TYPE_CHECKING:
    from aggregate.project.index import FileState, Index

VIEW_CODE = (
    "code.anchors",
    "prompt.file_reading",
    "prompt.file_rendering",
    "prompt.request_files",
    "prompt.redact_prompt",
    "prompt.view_index",
    "base.disk.reading",
    "base.errors",
    "base.values.files",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
    "code.views",
)
"""Whose code takes part in making a view of a file's bytes, and decides which are kept."""
VIEW_LIBRARIES = ("charset_normalizer", "rapidfuzz", "re2", "tree_sitter")
"""What others have made of that: encodings are guessed, slices found again, secrets and definitions found by them."""
_HEADER = struct.Struct("<??II")
"""Whether there is no text, and a view; the bytes of what is told of the file, and of the spans."""


class KnownView(NamedTuple):
    """What reading and rendering a file told: its view, and what is doubtful about its text.

    Attributes:
        text: The view's text, ``None`` where that is the file's own, which the index must not hold (rule I-5), and
            where no view was made.
        is_made: Whether a view was made; none is of generated files that are only listed.
        written_by: What the text says of who has written it.
        spans: Where its lines come from.
        language: The language tag for the fence around it.
        encoding: What the file was read in.
        invisible: The first line with characters that nobody sees, and a sentence about them; ``None`` for none.
    """

    text: str | None
    is_made: bool
    written_by: WrittenBy
    spans: Sequence[Span] = ()
    language: str = ""
    encoding: str = UTF_8
    invisible: tuple[int, str] | None = None

    def view(self, source: str) -> View:
        """Return the view of a file that holds ``source``, which is used only where ``text`` is ``None``."""
        return View(source if self.text is None else self.text, self.spans, self.language)

    def pack(self) -> bytes:
        """Return it as bytes."""
        line, sentence = self.invisible or (0, "")
        reason, size = self.written_by
        fields = (self.language, self.encoding, str(line), sentence, reason, str(size))
        facts = "\0".join(fields).encode()
        spans = PackedSpans.of(self.spans).data
        text = b"" if self.text is None else self.text.encode("utf-8", "surrogatepass")
        header = _HEADER.pack(self.text is None, self.is_made, len(facts), len(spans))
        return header + facts + spans + text

    @classmethod
    def unpack(cls, data: bytes) -> "KnownView":
        """Return what ``pack`` made bytes."""
        is_whole, is_made, facts_size, spans_size = _HEADER.unpack_from(data)
        spans_start = _HEADER.size + facts_size
        text_start = spans_start + spans_size
        facts = data[_HEADER.size : spans_start].decode()
        language, encoding, line, sentence, reason, size = facts.split("\0")
        text = None if is_whole else data[text_start:].decode("utf-8", "surrogatepass")
        spans = PackedSpans(data[spans_start:text_start])
        invisible = (int(line), sentence) if sentence else None
        written_by = WrittenBy(reason, int(size))
        return cls(text, is_made, written_by, spans, language, encoding, invisible)


class NameTraits(NamedTuple):
    """All of a file's path that decides on its views and its sizes.

    Attributes:
        name: Its last part.
        generated: Why that and the folders above show that a program has written the file, ``""`` where they do not.
    """

    name: str
    generated: str

    @classmethod
    def of(cls, path: str) -> "NameTraits":
        """Return those of a path."""
        return cls(path[path.rfind("/") + 1 :], generated_reason(path, ""))


class ViewIndex:
    """Finds views of files without secrets by what these hold and how they are shown.

    Args:
        index: Where they are kept.
        generated: What is shown of generated files that a glob stands for.

    Attributes:
        index: Where they are kept, and what is known of files.
    """

    def __init__(self, index: "Index", generated: GeneratedView) -> None:
        self.index = index
        self._generated = generated
        # By entry and name, since a glob stands for thousands of files; the entry stays, so that its id is its own.
        self._asked: dict[tuple[int, NameTraits], tuple[Entry, bytes]] = {}

    def states(self, files: Sequence[ResolvedFile]) -> "list[FileState | None]":
        """Return what is known of the files that can be read, without reading them."""
        return self.index.known(["" if file.problem else file.file for file in files])

    def key(self, file: ResolvedFile, content_hash: bytes) -> bytes:
        """Return what a file's view is kept under."""
        name = NameTraits.of(file.path)
        place = id(file.entry), name
        if place not in self._asked:
            self._asked[place] = (file.entry, self._digest(file, name))
        return sha256(content_hash + self._asked[place][1]).digest()

    def get(self, keys: Sequence[bytes | None]) -> list[KnownView | None]:
        """Return the view under each key, ``None`` where none is known."""
        wanted = [key for key in keys if key]
        row_by_key = dict(zip(wanted, self.index.get_many(_kind(), wanted), strict=True))
        rows = (row_by_key.get(key) if key else None for key in keys)
        return [KnownView.unpack(row) if row else None for row in rows]

    def _digest(self, file: ResolvedFile, name: "NameTraits") -> bytes:
        """Return a digest of all that decides on a view besides the content."""
        item = file.item
        asked = [
            file.view_mode.value if file.is_rendered else "",
            name,
            item.ast_mask,
            item.custom_slices,
            file.generated_view(self._generated).value,
        ]
        return sha256(json.dumps(asked, default=str).encode()).digest()

    def put(self, key: bytes, known: KnownView) -> None:
        """Keep a view for later runs."""
        self.index.put_many(_kind(), [(key, known.pack())])


@cache
def view_version() -> str:
    """Return a version of all that makes views, ``""`` where it cannot be told."""
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(VIEW_CODE, installed=(*VIEW_LIBRARIES, *sorted(grammars)))


@cache
def _kind() -> Kind:
    return Kind("view", view_version())
