"""What a CommonMark renderer makes of a text."""

from markdown_it import MarkdownIt
from markdown_it.token import Token


def tokens(text: str) -> list[Token]:
    """Return the block tokens of ``text``."""
    return MarkdownIt("commonmark").parse(text)


def headings(text: str) -> list[str]:
    """Return the text of every heading, wherever it is nested."""
    parsed = tokens(text)
    return [parsed[i + 1].content for i, token in enumerate(parsed) if token.type == "heading_open"]


def top_level(text: str) -> list[str]:
    """Return the types of the blocks that stand at the top level."""
    return [token.type for token in tokens(text) if token.level == 0 and token.nesting != -1]


def bullets(text: str) -> int:
    """Return how many list items there are, wherever they are nested."""
    return sum(token.type == "list_item_open" for token in tokens(text))


def images(text: str) -> list[tuple[str, str]]:
    """Return text and destination of every image."""
    inline = [child for token in tokens(text) for child in token.children or []]
    return [
        ("".join(part.content for part in child.children or []), str(child.attrs["src"]))
        for child in inline
        if child.type == "image"
    ]
