"""Repair missing and extra block ends by indentation.

Without one brace or ``end`` a grammar reads all later definitions as a part of the unclosed one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, takewhile
from typing import Final, NamedTuple

from tree_sitter import Language as Grammar, Node, Query

# Labels, clauses, directives, comments and continued lines may be indented less than their block.
_UNINDENTED: Final = re.compile(
    rb"\#(?:if|el|end)|\#(?!\w+\s*[(={;])|[*/)\]}{:.,&|+?]|--|\w[\w \t]*+:\Z|\Z"
    rb"|(?:case|catch|default|else|els?e?if)\b|(?:after|end|ensure|finally|in|rescue|then|when)(?![\w(])"
)
_COMMENT: Final = re.compile(rb"\s*(?:[*/]|\#(?!\w+\s*[(={;])|--)")
_END: Final = re.compile(rb"end\b")
_LINE: Final = re.compile(rb"\n([ \t]*+)([^\n]*+)")
_TEXT: Final = re.compile(r".*(?:string|heredoc|comment|raw_text).*")
_BRACES: Final = frozenset({"{", "${", "#{", "^{"})
# Conditions behind a statement; elsewhere these words open a block.
_CONDITIONS: Final = frozenset({"if", "unless", "while", "until", "for"})
_BEFORE_VALUE: Final = b"=([{,|&"
_ENDLESS: Final = re.compile(rb"def\s+[\w.?!]+\s*(?:\([^()\n]*\)\s*)?=[^=~>]")
# Words whose blocks are always indented, unlike those of modules.
_INDENTED: Final = frozenset({"def", "do", "fn", "function", "if", "macro"})
_HEADS: Final = frozenset({"class", "def", "function", "macro", "module", "struct"})
# Deepest nesting of blocks; deeper texts stay unchanged.
_DEEPEST: Final = 60
_COMPLETE: Final = re.compile(rb"(?:[;{}]|\*/|\A)\s*\Z|\A\s*[#@/]")
_BRACE: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/|[{}]')
# Labels and directives between a head and its block.
_LABEL: Final = re.compile(rb"\s*(?:\w[\w \t]*+:|\#(?:if|el|end).*)?\s*\Z")
# Heads of blocks with a last semicolon in some languages; others skip one easily.
_DECLARATION: Final = re.compile(rb"\s*(?:class|enum|struct|typedef|union)\b|.*\s=[ (\[{|]")
_CONDITION: Final = re.compile(rb"\s*\#\s*(?:if|el|endif)")
_LONGEST_HEAD: Final = 30  # lines of a head up to its brace
_LONGEST_BLOCK: Final = 1_000  # lines of a block whose brace was lost


class _Bracket(NamedTuple):
    """A brace or a word that opens or closes a block, and its position."""

    start: int
    row: int
    word: str
    is_opening: bool


@dataclass(slots=True)
class _Block:
    """An open block, and the row where the indentation ends it, 0 if unknown."""

    start: int
    row: int
    indent: int
    is_indented: bool
    dedent: int = 0


def balanced(source: bytes, written: bytes, nodes: Mapping[str, list[Node]]) -> bytes:
    """Balance the blocks of ``source``, a text with syntax errors.

    ``written`` is the text with its macros and indentation, ``nodes`` are the captures of ``bracket_query``.
    """
    in_text: set[int] = set()
    for node in nodes.get("text", ()):
        last = node.end_point.row - (not node.end_point.column)
        in_text.update(range(node.start_point.row + 1, last + 1))
    # Nodes without bytes are inserted by the parser; a brace may follow a mark, as in `#{`.
    written_nodes = [node for node in nodes.get("brace", ()) if node.end_byte > node.start_byte]
    braces = {node.end_byte - 1: node.type for node in written_nodes}
    for node in nodes.get("error", ()):
        braces |= _skipped_braces(source, node)
    written_nodes = [node for node in nodes.get("word", ()) if node.end_byte > node.start_byte]
    marks = {node.start_byte: node.type for node in written_nodes}
    for by_start, closing in ((braces, "}"), (marks, "end")):
        brackets = _brackets(source, by_start, closing)
        if _is_unbalanced(brackets):
            source = _Balancing(source, written, in_text, closing.encode()).balanced(brackets)
    return source


@cache
def bracket_query(grammar: Grammar, words: str) -> Query:
    """Return a query for brackets, texts and errors; ``words`` open blocks up to ``end``."""
    patterns = {"(ERROR) @error"}
    blocks = {*words.split(), "end"} if words else set()
    for number in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(number) or ""
        if not grammar.node_kind_is_named(number):
            if name in _BRACES or name == "}":
                patterns.add(f'"{name}" @brace')
            elif name in blocks:
                patterns.add(f'"{name}" @word')
        elif grammar.node_kind_is_visible(number) and _TEXT.fullmatch(name):
            patterns.add(f"({name}) @text")
    return Query(grammar, " ".join(sorted(patterns)))


def _is_unbalanced(brackets: list[_Bracket]) -> bool:
    depths = list(accumulate(1 if bracket.is_opening else -1 for bracket in brackets))
    return bool(depths) and (depths[-1] != 0 or min(depths) < 0)


def _skipped_braces(source: bytes, error: Node) -> dict[int, str]:
    """Return the braces that the parser has skipped inside an error, by position."""
    braces: dict[int, str] = {}
    position = error.start_byte
    for child in [*error.children, None]:
        end = child.start_byte if child else error.end_byte
        for match in _BRACE.finditer(source, position, end):
            if match[0] in (b"{", b"}"):
                braces[match.start()] = match[0].decode()
        position = child.end_byte if child else end
    return braces


def _brackets(source: bytes, words: dict[int, str], closing: str) -> list[_Bracket]:
    """Return the brackets of a text in order; a condition after a statement opens no block."""
    brackets: list[_Bracket] = []
    row = begin = 0
    for start, word in sorted(words.items()):
        row += source.count(b"\n", begin, start)
        begin = start
        if word == "def" and _ENDLESS.match(source, start):
            continue
        if word in _CONDITIONS:
            before = source[source.rfind(b"\n", 0, start) + 1 : start].rstrip()
            if before and before[-1] not in _BEFORE_VALUE:
                continue
        is_same_line = brackets and brackets[-1].row == row
        if word == "do" and is_same_line and brackets[-1].word in _CONDITIONS:
            continue  # the same loop
        brackets.append(_Bracket(start, row, word, word != closing))
    return brackets


class _Balancing:
    """Matches brackets by the indentation of their lines."""

    def __init__(self, source: bytes, written: bytes, in_text: set[int], closing: bytes) -> None:
        self.source, self.closing = source, closing
        self.in_text = in_text  # lines inside of a string or a comment
        self.texts = source.split(b"\n")
        self.starts = list(accumulate((len(text) + 1 for text in self.texts), initial=0))
        lines = written.split(b"\n")
        self.indents = [len(text) - len(text.lstrip(b" \t")) for text in lines]
        self.opened: list[_Block] = []
        self.unclosed: list[_Block] = []
        self.extra: set[int] = set()  # closing brackets without an opening one
        self.openings: dict[int, list[int]] = {}  # of blocks by their last row

    def balanced(self, brackets: list[_Bracket]) -> bytes:
        row = -1
        for bracket in brackets:
            for passed in range(row + 1, bracket.row + 1):
                self._dedent(passed)
            row = bracket.row
            if bracket.is_opening:
                self._open(bracket)
            else:
                self._close(bracket.start, row)
            if len(self.opened) > _DEEPEST:
                return self.source
        for passed in range(row + 1, len(self.texts)):
            self._dedent(passed)
        self.unclosed += (block for block in self.opened if block.dedent or not block.is_indented)
        mended = bytearray(self.source)
        is_damaged = self._damaged_rows(brackets)
        for bracket in brackets:
            if bracket.start in self.extra and is_damaged[bracket.row]:
                opening = self._lost_opening(bracket)
                if opening:
                    mended[opening : opening + 1] = b"{"
                else:
                    end = bracket.start + len(self.closing)
                    mended[bracket.start : end] = b" " * len(self.closing)
        for block in sorted(self.unclosed, key=lambda block: -block.start):
            if is_damaged[block.row]:
                self._end(block, mended)
        return bytes(mended)

    def _damaged_rows(self, brackets: list[_Bracket]) -> list[bool]:
        """Return for each row whether the statement or member in that row has unbalanced brackets."""
        least = min((indent for indent in self.indents if indent), default=0)
        members: list[int] = []  # the first row of each
        for row, indent in enumerate(self.indents):
            begun = members[-1] if members else 0
            is_end = indent < self.indents[begun] and self.texts[row].startswith(
                self.closing, indent
            )
            begins = is_end or (indent <= least and self._begins_statement(row))
            members.append(row if begins else begun)
        inside = groupby(brackets, lambda bracket: members[bracket.row])
        damaged = {member for member, group in inside if _is_unbalanced(list(group))}
        return [member in damaged for member in members]

    def _lost_opening(self, bracket: _Bracket) -> int:
        """Return where an opening brace is missing before a closing one, 0 if none is."""
        indent = self.indents[bracket.row]
        if self.closing != b"}" or bracket.start != self.starts[bracket.row] + indent:
            return 0
        above = range(bracket.row - 1, max(bracket.row - _LONGEST_BLOCK, -1), -1)
        head = next((r for r in above if self.texts[r].strip() and self.indents[r] <= indent), -1)
        if head < 0 or self.indents[head] < indent:
            return 0
        depth = self.texts[head].count(b"(") - self.texts[head].count(b")")
        for row in range(head + 1, bracket.row):
            begins = self.texts[row].lstrip()[:1] not in b":.,)=&|?+"
            if begins and not depth and self.indents[row] > indent:
                return self.starts[row] + indent
            depth += self.texts[row].count(b"(") - self.texts[row].count(b")")
        return 0

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
        return next((below for below in rows if not _LABEL.match(self.texts[below])), row)

    def _open(self, bracket: _Bracket) -> None:
        row, dedent = bracket.row, 0
        below = self._next_row(row)
        inner, head = self.indents[below], row
        if inner <= self.indents[row] and not self.texts[below].lstrip().startswith(self.closing):
            # A head of several lines, or a block without indentation.
            above = range(row - 1, max(row - _LONGEST_HEAD, -1), -1)
            parts = takewhile(lambda r: not _COMPLETE.search(self.texts[r]), above)
            if bracket.word not in _HEADS:
                head = next((r for r in parts if self.indents[r] < inner), row)
            if head == row and bracket.word in _INDENTED:
                dedent = below
        indent = self.indents[head]
        self.opened.append(_Block(bracket.start, row, indent, indent < inner, dedent))

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
        elif opened and opened[-1].row < row and opened[-1].is_indented:
            goes_on = self.indents[self._next_row(row)] > opened[-1].indent
            index = -1 if goes_on else index
        if index < 0:
            self.extra.add(start)
            return
        for block in opened[index + 1 :]:
            if block.is_indented:
                block.dedent = block.dedent or row
            self.unclosed.append(block)
        self.openings.setdefault(row, []).append(opened[index].start)
        del opened[index:]

    def _end(self, block: _Block, mended: bytearray) -> None:
        """Insert the end of a block in place of the characters before its end."""
        rows = range(block.row + 1, block.dedent)
        inside = [
            row
            for row in rows
            if self.indents[row] > block.indent
            and self.texts[row].strip()
            and not _COMMENT.match(self.texts[row])
        ]
        if not inside or any(map(_CONDITION.match, self.texts[block.row : block.dedent])):
            self._empty(block.start, mended)
            return
        begin, text = self.starts[inside[-1]], self.texts[inside[-1]].rstrip()
        end = begin + len(text)
        closing = (self.closing + b")" * _unclosed(mended, block.start))[: len(text)]
        if closing == b"}" and _DECLARATION.match(self.texts[block.row]) and len(text) > 1:
            closing = b"};"
        if text.lstrip()[:1] in (b")", b"]") and text.endswith(b";"):
            mended[end - 1 : end] = self.closing[:1]  # parsers supply the semicolon
            return
        inner = min([begin, *self.openings.get(inside[-1], ())])
        mended[inner:end] = re.sub(rb"[^\n]", b" ", bytes(mended[inner:end]))
        if inner != begin:
            self._empty(inner, mended)
        mended[end - len(closing) : end] = closing

    def _empty(self, start: int, mended: bytearray) -> None:
        """Remove the content of the block at ``start``.

        The head is removed instead if the content cannot be.
        """
        end = mended.find(b"\n", start)
        rest = bytes(mended[start + 1 : end]).strip()
        if self.closing != b"}" or _unclosed(mended, start):
            begin = mended.rfind(b"\n", 0, start) + 1
            end = end if self.closing != b"}" else start + 1
            mended[begin:end] = b" " * (end - begin)
        elif rest and rest.count(b"{") == rest.count(b"}") and rest.count(b"(") == rest.count(b")"):
            mended[start:end] = (b"{}" + rest[-1:] * (rest[-1:] in b";,")).ljust(end - start)
        elif mended[start - 1 : start] == b" ":
            mended[start - 1 : start + 1] = b"{}"
        else:
            mended[start : start + 1] = b";"


def body_end(source: bytes, start: int, end: int, head: int) -> int:
    """Return where a body ends by its indentation.

    The body ends before the first line indented no deeper than the line of its ``head``.
    """
    first = source.rfind(b"\n", 0, head) + 1
    indent = len(source[first:head]) - len(source[first:head].lstrip(b" \t"))
    last = source.find(b"\n", start, end)  # the end of the body's last line
    for line in _LINE.finditer(source, start, end):
        text = line[2].rstrip()
        is_inside = len(line[1]) > indent
        if not is_inside and text[:1] == b"}":
            return line.start(2) + 1
        if not is_inside and (_END.match(text) or not _UNINDENTED.match(text)):
            return last
        if is_inside or not _COMMENT.match(text):
            last = line.end()
    return end


def _unclosed(text: bytearray, end: int) -> int:
    """Return how many parentheses a line leaves open."""
    line = text[text.rfind(b"\n", 0, end) + 1 : end]
    return max(0, line.count(b"(") - line.count(b")"))
