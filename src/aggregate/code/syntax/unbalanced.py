"""Repair missing and extra braces by indentation, for the parser only.

With one missing brace a grammar reads all later definitions as a part of the unclosed one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from typing import Final

from tree_sitter import Language as Grammar, Node, Query, QueryCursor, Tree

# Labels, directives, comments and continued lines may be indented less than their block.
_UNINDENTED: Final = re.compile(
    rb"\#(?:if|el|end)|\#(?!\w+\s*[(={;])|[*/)\]}{:.,&|+?]|--|\w[\w \t]*+:(?!:)|(?:case|default|else)\b|\Z"
)
_COMMENT: Final = re.compile(rb"\s*(?:[*/]|\#(?!\w+\s*[(={;])|--)")
_BLANKS: Final = re.compile(rb"[ \t]*+")
_TEXT: Final = re.compile(r".*(?:string|heredoc|comment|raw_text).*")
# Deepest nesting of braces; deeper texts stay unchanged.
_DEEPEST: Final = 60
_COMPLETE: Final = re.compile(rb"(?:[;{}]|\*/|\A)\s*\Z|\A\s*[#@/]")
_CONDITION: Final = re.compile(rb"\s*\#\s*(?:if|el|endif)")
_LONGEST_HEAD: Final = 30  # lines of a head up to its brace


@dataclass(slots=True)
class _Block:
    """An open brace, and the next line indented no deeper than its head, 0 for none."""

    start: int
    row: int
    indent: int
    is_indented: bool
    dedent: int = 0


@cache
def _query(grammar: Grammar) -> Query | None:
    numbers = range(grammar.node_kind_count)
    names = {number: grammar.node_kind_for_id(number) or "" for number in numbers}
    braces = {name for name in names.values() if name in ("{", "${", "#{", "^{", "}")}
    texts = {
        name
        for number, name in names.items()
        if grammar.node_kind_is_visible(number)
        and grammar.node_kind_is_named(number)
        and _TEXT.fullmatch(name)
    }
    patterns = [f'"{name}" @brace' for name in sorted(braces)]
    patterns += [f"({name}) @text" for name in sorted(texts)]
    return Query(grammar, " ".join(patterns)) if braces else None


def balanced(source: bytes, written: bytes, tree: Tree, grammar: Grammar) -> bytes:
    """Return ``source`` with balanced braces; its ``tree`` has an error.

    ``written`` is the text with its macros, which shows the indentation of lines.
    """
    if b"{" not in source and b"}" not in source:
        return source  # a query takes quadratic time on a deep tree
    query = _query(grammar)
    nodes = QueryCursor(query).captures(tree.root_node) if query else {}
    braces = sorted(
        (node.end_byte - 1, node.start_point.row)
        for node in nodes.get("brace", ())
        if node.end_byte > node.start_byte
    )
    depth = lowest = 0
    for start, _ in braces:
        depth += 1 if source[start : start + 1] == b"{" else -1
        lowest = min(lowest, depth)
    if not depth and not lowest:
        return source
    in_text: set[int] = set()
    for node in nodes.get("text", ()):
        last = node.end_point.row - (not node.end_point.column)
        in_text.update(range(node.start_point.row + 1, last + 1))
    return _Balancing(source, written, in_text).balanced(braces)


@dataclass(slots=True)
class _Balancing:
    """Matches braces by the indentation of their lines."""

    source: bytes
    written: bytes
    in_text: set[int]  # lines that continue a string or a comment
    texts: list[bytes] = field(init=False)
    starts: list[int] = field(init=False)  # of lines
    indents: list[int] = field(init=False)
    opened: list[_Block] = field(init=False, default_factory=list)
    unclosed: list[_Block] = field(init=False, default_factory=list)
    openings: dict[int, int] = field(init=False, default_factory=dict)  # by their closing braces
    extra: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.texts = self.source.split(b"\n")
        self.starts = [0]
        for text in self.texts:
            self.starts.append(self.starts[-1] + len(text) + 1)
        lines = self.written.split(b"\n")
        self.indents = [len(text) - len(text.lstrip(b" \t")) for text in lines]

    def balanced(self, braces: list[tuple[int, int]]) -> bytes:
        row = -1
        for start, own_row in braces:
            for passed in range(row + 1, own_row + 1):
                self._dedent(passed)
            row = own_row
            if self.source[start] == ord("{"):
                self._open(start, row)
            else:
                self._close(start, row)
            if len(self.opened) > _DEEPEST:
                return self.source
        for passed in range(row + 1, len(self.texts)):
            self._dedent(passed)
        self.unclosed += (block for block in self.opened if block.dedent or not block.is_indented)
        mended = bytearray(self.source)
        is_damaged = self._damaged_rows(braces)
        for start, own_row in braces:
            if start in self.extra and is_damaged[own_row]:
                mended[start : start + 1] = b" "
        for block in sorted(self.unclosed, key=lambda block: -block.start):
            if is_damaged[block.row]:
                self._end(block, mended)
        return bytes(mended)

    def _damaged_rows(self, braces: list[tuple[int, int]]) -> list[bool]:
        """Return for each row whether its statement or member has unbalanced braces."""
        least = min((indent for indent in self.indents if indent), default=0)
        members: list[int] = []  # the first row of each
        for row, indent in enumerate(self.indents):
            begun = members[-1] if members else 0
            is_end = self.texts[row][indent : indent + 1] == b"}" and indent < self.indents[begun]
            begins = is_end or (indent <= least and self._begins_statement(row))
            members.append(row if begins else begun)
        depths, lowest = Counter[int](), Counter[int]()
        for start, row in braces:
            member = members[row]
            depths[member] += 1 if self.source[start] == ord("{") else -1
            lowest[member] = min(lowest[member], depths[member])
        return [bool(depths[member] or lowest[member]) for member in members]

    def _dedent(self, row: int) -> None:
        indent = self.indents[row]
        waiting = [b for b in self.opened if b.is_indented and not b.dedent and b.indent >= indent]
        if waiting and self._begins_statement(row):
            for block in waiting:
                block.dedent = row

    def _begins_statement(self, row: int) -> bool:
        is_unindented = _UNINDENTED.match(self.texts[row].rstrip(), self.indents[row])
        return not is_unindented and row not in self.in_text

    def _next_row(self, row: int) -> int:
        rows = range(row + 1, min(row + _LONGEST_HEAD, len(self.texts)))
        return next((below for below in rows if self.texts[below].strip()), row)

    def _open(self, start: int, row: int) -> None:
        below = self._next_row(row)
        inner, head = self.indents[below], row
        if inner <= self.indents[row] and not self.texts[below].lstrip().startswith(b"}"):
            # A head of several lines, or a block without indentation.
            above = range(row - 1, max(row - _LONGEST_HEAD, -1), -1)
            parts = takewhile(lambda r: not _COMPLETE.search(self.texts[r]), above)
            head = next((r for r in parts if self.indents[r] < inner), row)
        self.opened.append(_Block(start, row, self.indents[head], self.indents[head] < inner))

    def _close(self, start: int, row: int) -> None:
        opened, indent = self.opened, self.indents[row]
        index = len(opened) - 1
        if start == self.starts[row] + indent:
            same = [number for number, block in enumerate(opened) if block.indent == indent]
            sound = [number for number in same if not opened[number].dedent]
            if same:
                index = (sound or same)[-1]
            elif opened and opened[-1].indent < indent and opened[-1].is_indented:
                index = -1
        if index < 0:
            self.extra.add(start)
            return
        for block in opened[index + 1 :]:
            if block.is_indented:
                block.dedent = block.dedent or row
            self.unclosed.append(block)
        self.openings[start] = opened[index].start
        del opened[index:]

    def _end(self, block: _Block, mended: bytearray) -> None:
        """Close a block before the line that ends it, by replacing the characters before."""
        rows = range(block.row + 1, block.dedent)
        inside = [
            row
            for row in rows
            if self.indents[row] > block.indent
            and self.texts[row].strip()
            and not _COMMENT.match(self.texts[row])
        ]
        if not inside or any(map(_CONDITION.match, self.texts[block.row : block.dedent])):
            _empty(block.start, mended)
            return
        begin, text = self.starts[inside[-1]], self.texts[inside[-1]].rstrip()
        end = begin + len(text)
        brace = mended.rfind(b"}", begin, end)
        inner = self.openings.get(brace, begin)
        mended[inner:end] = re.sub(rb"[^\n]", b" ", bytes(mended[inner:end]))
        if inner != begin:
            _empty(inner, mended)
        closing = (b"}" + b")" * _unclosed(mended, block.start))[: len(text)]
        mended[end - len(closing) : end] = closing


def body_end(source: bytes, body: Node) -> int:
    """Return the end of a body in a damaged file: before a line indented no deeper than its head."""
    start, end = body.start_byte, body.end_byte
    first = source.rfind(b"\n", 0, body.parent.start_byte if body.parent else start) + 1
    indent = _indented(source, first) - first
    line = source.find(b"\n", start, end) + 1
    while line:
        text = _indented(source, line)
        if text - line <= indent and source[text : text + 1] == b"}":
            return min(text + 1, end)
        line_end = source.find(b"\n", line, end)
        written = source[line : end if line_end < 0 else line_end].rstrip()
        if text - line <= indent and not _UNINDENTED.match(written, text - line):
            return max(start, line - 1)
        line = line_end + 1
    return end


def _indented(source: bytes, line: int) -> int:
    match = _BLANKS.match(source, line)
    return match.end() if match else line


def _unclosed(text: bytearray, end: int) -> int:
    """Return the number of open parentheses in the line up to ``end``."""
    line = text[text.rfind(b"\n", 0, end) + 1 : end]
    return max(0, line.count(b"(") - line.count(b")"))


def _empty(start: int, mended: bytearray) -> None:
    """Empty the block at ``start``, or hide its head if it is part of an expression."""
    if _unclosed(mended, start):
        begin = mended.rfind(b"\n", 0, start) + 1
        mended[begin : start + 1] = b" " * (start + 1 - begin)
    elif mended[start - 1 : start] == b" ":
        mended[start - 1 : start + 1] = b"{}"
    else:
        mended[start : start + 1] = b";"
