"""Parse untrusted TOML within limits; find lines of keys."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aggregate.base.errors import DeadlineError

if TYPE_CHECKING:
    from tree_sitter import Node

# Parts of a dotted key: the parser takes quadratic time, and no key of ours has more.
MOST_PARTS = 6
# Characters of a number or unquoted name, within Python's limit for integers.
MOST_CHARACTERS = 1_000
_STRING = r"""\"(?:[^"\\\n]++|\\.)*+\"?|'[^'\n]*+'?"""
_PART = rf"(?:[\w-]++|{_STRING})[ \t]*+"
_TOKEN = re.compile(
    rf"(?P<parts>(?<![\w.\"'-]){_PART}(?:\.[ \t]*+{_PART}){{{MOST_PARTS}}})"
    r"""|(?P<text>\"{3}(?:\\[\s\S]|"[^"\\]|"\\[\s\S]|""[^"\\]|""\\[\s\S]|[^"\\]++)*+(?:"{3,5})?"""
    rf"|'{{3}}(?:'[^']|''[^']|[^']++)*+(?:'{{3,5}})?|{_STRING}|\#[^\n]*+)"
    rf"|(?P<word>[\w.+-]{{{MOST_CHARACTERS + 1}}})"
)


def parse_untrusted_toml(text: str) -> dict[str, Any]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"unpaired surrogate at character {error.start + 1}") from None
    for token in _TOKEN.finditer(text):
        if token.lastgroup != "text":
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"{_EXCESS[str(token.lastgroup)]} (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("the TOML is nested too deeply: use flat tables and lists") from None


_EXCESS = {
    "parts": f"a key has more than {MOST_PARTS} parts",
    "word": f"a number or name has more than {MOST_CHARACTERS:,} characters",
}
Keys = tuple[str | int, ...]


def nearest_line(lines: Mapping[Keys, int], keys: Sequence[str | int]) -> int | None:
    """Return the line that sets a key; without such a line that of the key's table."""
    path = tuple(keys)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def key_lines(text: str) -> dict[Keys, int]:
    from aggregate.base.concurrency import in_child  # needed only to explain a mistake

    try:
        return in_child(_key_lines, text)
    except DeadlineError:
        return {}


def _key_lines(text: str) -> dict[Keys, int]:
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    tree = Parser(Language(tree_sitter_toml.language())).parse(text.encode())
    lines: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    for node in tree.root_node.named_children:
        prefix: Keys = ()
        if node.type in ("table", "table_array_element"):
            prefix = _within_arrays(_names(node.named_children[0]), counts)
            if node.type == "table_array_element":
                counts[prefix] = counts.get(prefix, 0) + 1
                prefix += (counts[prefix] - 1,)
            for i in range(1, len(prefix) + 1):
                lines.setdefault(prefix[:i], node.start_point.row + 1)
        for pair in [node] if node.type == "pair" else node.named_children:
            if pair.type == "pair":
                lines.update(_pair(prefix, pair))
    return lines


def _pair(prefix: Keys, pair: "Node") -> Iterator[tuple[Keys, int]]:
    key, *values = pair.named_children
    path = prefix + _names(key)
    yield path, pair.start_point.row + 1
    for value in values:
        yield from _value(path, value)


def _value(path: Keys, value: "Node") -> Iterator[tuple[Keys, int]]:
    if value.type == "array":
        elements = [child for child in value.named_children if child.type != "comment"]
        for i, element in enumerate(elements):
            yield (*path, i), element.start_point.row + 1
            yield from _value((*path, i), element)
    elif value.type == "inline_table":
        for pair in value.named_children:
            if pair.type == "pair":
                yield from _pair(path, pair)


def _names(key: "Node") -> Keys:
    if key.type == "dotted_key":
        return tuple(name for child in key.named_children for name in _names(child))
    text = (key.text or b"").decode()
    return tuple(tomllib.loads(f"{text} = 0")) if key.type == "quoted_key" else (text,)


def _within_arrays(names: Keys, counts: dict[Keys, int]) -> Keys:
    """Add indexes of tables to a path of keys.

    After each key of an array of tables stands the index of its last table. ``counts`` has the tables so far.
    """
    path: Keys = ()
    for i, name in enumerate(names):
        path += (name,)
        if path in counts and i < len(names) - 1:
            path += (counts[path] - 1,)
    return path
