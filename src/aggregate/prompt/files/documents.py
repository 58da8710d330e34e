"""The files of a prompt as XML documents.

The form is that of Anthropic's guide to long contexts (rule T-16).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from aggregate.base.files import Span
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.prompt.files.layout import file_heading, is_fenced

MORE_TOKENS: Final = 20  # upper bound by which a document's tags exceed a heading and a fence
_CLOSING: Final = re.compile(r"<(?=/\s*(?:documents?|document_content|source)\b)", re.IGNORECASE)


def as_documents(files: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the segments of the Files section with each file as a numbered document."""
    number = 0
    is_open = False
    for segment in files:
        if bool(segment.source) is not is_open:
            is_open = not is_open
            yield _tag("<documents>" if is_open else "</documents>")
        number += bool(segment.source)
        yield _document(segment, number) if segment.source else segment
    if is_open:
        yield _tag("</documents>")


def _tag(text: str) -> Segment:
    return Segment(Section.FILES, text, Stability.STABLE)


def _document(segment: Segment, number: int) -> Segment:
    """Return a file's block as a document, with as many lines around the content."""
    heading, _, *lines = segment.text.split("\n")
    shown, content = segment.shown, lines
    if is_fenced(segment.text):
        content = lines[1:-1]
    elif shown:
        shown = shown._replace(is_message=True)
    name = heading.removeprefix(file_heading("")).replace("&", "&amp;").replace("<", "&lt;")
    escaped = [_CLOSING.sub("&lt;", line) for line in content]
    if shown and shown.spans is None and escaped != content:
        shown = shown._replace(spans=(Span(1, len(content), 1, len(content)),))
    opening = f'<document index="{number}">\n<source>{name}</source>\n<document_content>'
    text = "\n".join((opening, *escaped, "</document_content></document>"))
    return replace(segment, text=text, shown=shown)
