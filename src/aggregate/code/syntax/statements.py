"""Group lines into units: statements, heads and ends of definitions.

In a list of statements, each statement at the beginning of a line is a unit; the same holds for lists inside of a
statement. All other lines of a statement, such as its head, its ``else`` and its last bracket, form one unit. Lines of
a unit are shown together or not at all, so that every bracket shown is closed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from tree_sitter import Node

from aggregate.code.syntax import parsing
from aggregate.code.syntax.languages import Language, LanguageKind, comment_of
from aggregate.code.syntax.symbols import EmbeddedCaptures, read_blocks

# Lists of statements, members, cases or sections without brackets, in any grammar.
_LISTS: Final = re.compile(
    r"(?:program|module|chunk|source|source_file|source_code|stream|document|fragment|stylesheet|config_file|haskell"
    r"|translation_unit|compilation_unit|statement_list|statements|declarations|section|raw_text"
    r"|block|body|body_statement|block_body|colon_block|indented_block|indented_cases|template_body|then|do|begin"
    r"|do_group|(?:do|after|else|rescue|catch)_block|case|case_statement|case_clause|case_item|switch_case"
    r"|switch_default|(?:expression|type|communication|default)_case|switch_section|switch_entry|default_statement"
    r"|switch_block_statement_group|switch_statement_(?:case|default)|preproc_(?:if|el).*|const_declaration"
    r"|type_declaration|import_spec_list|var_spec_list|class_interface|class_implementation|element|block_mapping"
    r"|block_sequence|table|table_array_element|binding_set)"
)
# Clauses of a statement, on lines of their own.
_CLAUSES: Final = re.compile(
    r"(?:.*_)?(?:el(?:se|s?e?if).*|except|catch|finally|rescue|ensure)(?:_.*)?|.*_tag"
)
# Last tokens of a list, even in the line of its last statement.
_ENDS: Final = frozenset({"}", ")", "]", "end"})
# Nodes above their statement, as children of the same list.
_LEADING: Final = re.compile(r"decorator|attribute_item|attribute|annotation|file_annotation")
# Undivided nodes in any grammar.
_SOLID: Final = re.compile(
    r".*(?:string|heredoc|comment|regex|char|code_block|html_block|jsx_text|token_tree).*"
)
# Nodes with the elements of a value, even for a single element without a comma.
_TABLES: Final = re.compile(
    r".*(?:object|dict|comprehension|initializer|literal|hash|map|table|pattern).*|(?:.*_)?(?:set|tuple|enum[a-z]*)(?:_.*)?"
)
# Lines up to which such a value, or a list with commas, is shown whole; longer ones are cut between elements.
_MOST_ELEMENTS: Final = 25
# Levels below which all lines of a statement form one unit; programs are not as deep.
_DEEPEST: Final = 150
_WANTED: Final = frozenset({"embedded"})


class _Kind:
    """The properties of a kind of syntax nodes.

    An example is whether such a node is a list of statements.
    """

    def __init__(self, name: str, lists: frozenset[str]) -> None:
        self.is_list = name in lists or bool(_LISTS.fullmatch(name))
        self.is_clause = bool(_CLAUSES.fullmatch(name))
        self.is_leading = bool(_LEADING.fullmatch(name))
        self.is_solid = bool(_SOLID.fullmatch(name))
        self.is_table = bool(_TABLES.fullmatch(name))
        self.is_end = name in _ENDS
        self.is_comment = "comment" in name
        self.is_heredoc = "heredoc" in name
        self.is_foreign = name == "raw_text"  # code in another language


class _Kinds(dict[str, _Kind]):
    """A mapping that computes the properties of a kind of node when it is first needed."""

    def __init__(self, lists: str) -> None:
        self._lists = frozenset([*lists.split(), "ERROR"])  # the parser's name for unreadable code

    def __missing__(self, name: str) -> _Kind:
        kind = self[name] = _Kind(name, self._lists)
        return kind


_kinds_of: Final = cache(_Kinds)


def read_statements(text: str, language: Language) -> list[int]:
    """Return for each line the first line of its unit.

    Raise ``DeadlineError`` if parsing takes too long.
    """
    source = text.encode(errors="surrogatepass")
    deadline = parsing.Deadline(len(source))
    units = _Units(source, language, deadline)
    if language.kind is not LanguageKind.CODE:
        captured = EmbeddedCaptures()
        for match in parsing.query_matches(units.tree, language, _WANTED, deadline):
            captured.add(match)
        for block, inner in read_blocks(source, captured.blocks(), _Units, wanted=_WANTED):
            units.add(inner.heads(), source.count(b"\n", 0, block.start))
    return units.heads()


class _Units:
    """The unit of each row, and the joined units."""

    def __init__(self, source: bytes, language: Language, deadline: parsing.Deadline) -> None:
        macros = parsing.macros_by_end(source, language)
        self._source = parsing.without_macros(source, macros)
        self._kinds = _kinds_of(language.lists)
        self._deadline = deadline
        self._owners = [0] * (source.count(b"\n") + 2)
        self._same = [0]  # a unit joined to each unit, or itself
        self.tree = parsing.parse_source(source, language, macros, deadline=deadline)
        root = self.tree.root_node
        self._visit(root, self._kinds[root.type], self._rows(root), self._new(), 0)

    def heads(self) -> list[int]:
        """Return the first row of each row's unit, 1-based."""
        same = self._same
        return _firsts(
            _root(same, owner) if owner else -row for row, owner in enumerate(self._owners)
        )

    def add(self, heads: Sequence[int], by: int) -> None:
        """Add the units of an embedded part that begins at row ``by``."""
        units: dict[int, int] = {}
        for row, head in enumerate(heads[: len(self._owners) - by], start=by):
            if not self._owners[row]:
                self._owners[row] = units.get(head) or units.setdefault(head, self._new())

    def _new(self) -> int:
        self._same.append(len(self._same))
        return len(self._same) - 1

    def _mark(self, first: int, last: int, unit: int) -> None:
        owners = self._owners
        for row in range(first, last + 1):
            if not owners[row]:
                owners[row] = unit
            elif owners[row] != unit:
                _join(self._same, owners[row], unit)

    def _visit(self, node: Node, kind: _Kind, rows: tuple[int, int], unit: int, depth: int) -> int:
        """Assign a node's rows to units; return its last row.

        The result is ``-1`` for a node that ends with a list of statements.
        """
        first, last = rows
        if kind.is_foreign:
            return -1
        is_simple = first == last and not kind.is_list  # as most are
        if is_simple or kind.is_solid or depth > _DEEPEST or not node.child_count:
            self._mark(first, last, unit)
            return last
        if not depth % 10:
            self._deadline.check()
        if self._is_list(node, kind, last - first):
            self._visit_list(node, unit, depth)
            return -1
        behind = first  # the continued row, -1 behind a list, whose rows are marked already
        for child in node.children if last > first else ():
            begin, end = inner = self._rows(child)
            behind = begin if behind < 0 else behind
            if begin == end == behind:  # most
                continue
            inner_kind = self._kinds[child.type]
            if begin > behind and inner_kind.is_comment:  # a unit of its own, unless more follows
                self._mark(begin, end, self._new())
                continue
            is_list = self._is_list(child, inner_kind, end - begin)
            self._mark(behind, behind if is_list else begin, unit)
            behind = self._visit(child, inner_kind, inner, unit, depth + 1)
        if behind >= 0:
            self._mark(behind, last, unit)
        return behind

    @staticmethod
    def _is_list(node: Node, kind: _Kind, lines: int) -> bool:
        if kind.is_list:
            return node.is_named
        if not lines or kind.is_solid or not node.child_count:
            return False
        types = [child.type for child in node.children if not child.is_named]
        if "{" not in types and (types[:1] != ["["] or "]" not in types):
            return False
        is_table = "," in types or types[0] == "[" or kind.is_table
        return lines >= _MOST_ELEMENTS if is_table else True

    def _visit_list(self, node: Node, unit: int, depth: int) -> None:
        owners = self._owners
        leading = 0  # the unit of decorators before their definition
        is_error = node.is_error
        for child in node.children:
            rows = self._rows(child)
            first = rows[0]
            group = owners[first]
            kind = self._kinds[child.type]
            if child.is_named and not kind.is_clause:
                if not group:
                    begins = is_error or self._begins_line(child)
                    group = leading or (self._new() if begins else unit)
                if kind.is_heredoc and first and owners[first - 1]:
                    group = owners[first - 1]
                leading = group if kind.is_leading or (leading and kind.is_comment) else 0
            elif is_error or (group and not kind.is_end):
                continue
            else:
                group = unit
            if first == rows[1] and not (owners[first] or kind.is_list or kind.is_foreign):
                owners[first] = group  # the result of a visit, for most nodes
            else:
                self._visit(child, kind, rows, group, depth + 1)

    def _begins_line(self, node: Node) -> bool:
        start = node.start_byte
        return not self._source[self._source.rfind(b"\n", 0, start) + 1 : start].strip()

    def _rows(self, node: Node) -> tuple[int, int]:
        """Return the first and the last row of a node without white space at its ends."""
        first, last = node.start_point[0], node.end_point[0]
        if first == last:  # most nodes
            return first, last
        source, start, end = self._source, node.start_byte, node.end_byte
        while start < end and source[end - 1 : end].isspace():
            end -= 1
            last -= source[end] == 10
        while start < end and source[start : start + 1].isspace():
            first += source[start] == 10
            start += 1
        return first, max(first, last)


_QUOTED: Final = re.compile(r""""(?>(?:[^"\\]|\\.)*)"|'(?>(?:[^'\\]|\\.)*)'""")
_BRACKETS: Final = re.compile(r"[(\[{}\])]")
_CLOSED_BY: Final = {")": "(", "]": "[", "}": "{"}
# Line ends inside of a statement.
_UNFINISHED: Final = (",", "\\", "=", "+", "|", "&", ".", "->", "=>")


def guess_statements(lines: Sequence[str], language: str) -> list[int]:
    """Return the same as ``read_statements`` without a grammar, by brackets and line ends."""
    same = list(range(len(lines)))
    openings: list[tuple[str, int]] = []
    for row, bracket in _brackets(lines, comment_of(language).partition(" ")[0]):
        if bracket not in _CLOSED_BY:
            openings.append((bracket, row))
        elif openings and openings[-1][0] == _CLOSED_BY[bracket]:
            first = openings.pop()[1]
            for between in range(first, row) if bracket != "}" else ():
                _join(same, between, row)
            _join(same, first, row)
    for row, line in enumerate(lines[:-1]):
        if line.rstrip().endswith(_UNFINISHED):
            _join(same, row, row + 1)
    return _firsts(_root(same, row) for row in range(len(lines)))


def _brackets(lines: Sequence[str], comment: str) -> Iterator[tuple[int, str]]:
    for row, line in enumerate(lines):
        plain = _QUOTED.sub("", line)
        if comment:
            plain = plain.partition(comment)[0]
        for bracket in _BRACKETS.findall(plain):
            yield row, bracket


def _root(same: list[int], number: int) -> int:
    while same[number] != number:
        same[number] = number = same[same[number]]
    return number


def _join(same: list[int], one: int, other: int) -> None:
    same[_root(same, one)] = _root(same, other)


def _firsts(units: Iterable[int]) -> list[int]:
    """Return the first row of each row's unit, 1-based."""
    firsts: dict[int, int] = {}
    return [firsts.setdefault(unit, line) for line, unit in enumerate(units, start=1)]
