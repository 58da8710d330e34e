"""Whether prompts within a budget are cut at statements: real commits' messages ask, and grammars judge each block.

What a block shows is read from its text alone: from the numbers of lines that its marks say are left out. In the tree
of the whole file, of a bracket and its end, of a string or comment of many lines, of a statement without others in it,
of a statement's head and of decorators with what they stand above all lines must be shown, or none.
"""

import re
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

from tree_sitter import Node

from aggregate.base.task_budget import Budget, Task
from aggregate.code.syntax.languages import language_of
from aggregate.code.syntax.parsing import parse_source
from aggregate.project.index import user_index
from aggregate.prompt import request_for
from aggregate.prompt.asking import open_project
from aggregate.prompt.corpus.ranked_files import rank_files
from aggregate.prompt.fit.candidates import Candidates
from aggregate.prompt.fit_prompt import fit_prompt
from simulation.recall import clone_name
from simulation.recall_metrics import read_blocks
from simulation.task_commits import Tree, task_commits

BUDGETS = (4_000, 8_000, 16_000, 32_000)
_MARK = re.compile(r"(?:\S+ )?\.\.\.(?P<lines>[0-9]+)(?: \S+)?")
_SOLID = re.compile(r".*(?:string|comment|heredoc|template_literal|code_block).*")
_STATEMENT = re.compile(
    r".*_(?:statement|declaration|definition|item|signature)|.*assignment|call|method|class"
)
_HOLDS_OTHERS = re.compile(
    r".*(?:block|body|compound|switch|case|then|do|else|statements|group|suite|begin|rescue|ensure|preproc|interface"
    r"|struct|macro_rule|declaration_list|field_declaration_list|spec_list|element).*|list"
)
# What is called a statement and lists others; in Go such a declaration has several names.
_LISTS = re.compile(
    "compound_statement|body_statement|block_statement|case_item|case_statement|default_statement|(?:const|type)_declaration"
)
_TABLE = re.compile(
    r".*(?:object|array|list|dict|table|literal_value|tuple|set|hash|map|struct|enum).*"
)
_ARGUMENTS = re.compile(r".*(?:argument|parameter).*")
_LONG = 25
"""Lines from which what commas part may be cut between its elements, as the program has it."""
_BODIES = ("body", "consequence")
_DECORATORS = ("decorator", "attribute_item")
_ENDS = {")": "(", "]": "[", "}": "{"}


def main(parser: ArgumentParser) -> None:
    """Compose prompts and judge their blocks; exit 1 where one is cut within a statement."""
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=21, help="of each clone (21)")
    parser.add_argument("--budget", type=int, action="append", help=f"repeatable {BUDGETS}")
    parser.add_argument("--jobs", type=int, default=2, help="clones at once (2)")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="faults to print (20)")
    options = parser.parse_args()
    budgets = tuple(options.budget or BUDGETS)
    totals: Counter[str] = Counter()
    faults: list[str] = []
    print(
        "| clone | prompts | blocks | cut | unreadable | cut within a statement |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        work = partial(judge_clone, commits=options.commits, budgets=budgets, folder=Path(folder))
        context = get_context("forkserver")
        with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
            for clone, (counts, found) in zip(
                options.clones, pool.map(work, options.clones), strict=True
            ):
                print(_row(clone_name(clone), counts), flush=True)
                totals.update(counts)
                faults += found
    print(_row("all", totals))
    print(*faults[: options.show], sep="\n")
    sys.exit(bool(faults))


def _row(name: str, counts: Counter[str]) -> str:
    cells = (counts[kind] for kind in ("prompts", "blocks", "cut", "unreadable", "faults"))
    return f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |"


def judge_clone(
    clone: Path, *, commits: int, budgets: Sequence[int], folder: Path
) -> tuple[Counter[str], list[str]]:
    """Return counts of a clone's prompts and blocks, and a sentence for each block that is cut within a statement."""
    name = clone_name(clone)
    tree = Tree(clone, folder / name)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for commit in task_commits(clone, commits):
        tree.check_out(commit.parent)
        judges: dict[str, Judge] = {}
        for budget, markdown in _prompts(tree.folder, commit.message, budgets):
            counts["prompts"] += 1
            for path, shown in read_blocks(markdown).items():
                counts["blocks"] += 1
                if not any(map(_MARK.fullmatch, shown)):
                    continue
                counts["cut"] += 1
                judge = judges.get(path) or judges.setdefault(path, Judge(tree.folder, path))
                lines = shown_lines(shown, judge.lines)
                if lines is None:
                    counts["unreadable"] += 1
                elif fault := next(judge.faults(lines), None):
                    counts["faults"] += 1
                    faults.append(f"{name} {commit.name[:8]} {budget:,}: {path}{fault}")
    return counts, faults


def _prompts(folder: Path, message: str, budgets: Sequence[int]) -> Iterator[tuple[int, str]]:
    index = user_index()
    files = {"base_dir": str(folder), "paths": ["**/*"]}
    request = request_for(
        open_project({"files": files}), task=Task(message), budget=Budget(budgets[0])
    )
    ranked = rank_files(request, index=index)
    candidates = Candidates(request, ranked, index=index)
    for budget in budgets:
        asked = replace(request, budget=Budget(budget))
        yield budget, fit_prompt(asked, candidates).prompt.markdown


def shown_lines(block: Sequence[str], lines: Sequence[str]) -> set[int] | None:
    """Return which lines of a file, 1-based, a block shows; ``None`` where its marks do not lead to the same text."""
    shown: set[int] = set()
    number = 1
    for line in block:
        if mark := _MARK.fullmatch(line):
            number += int(mark["lines"])
            continue
        if number > len(lines) or lines[number - 1] != line:
            return None
        shown.add(number)
        number += 1
    return shown


class Judge:
    """What of a file's lines belongs together by its grammar."""

    def __init__(self, folder: Path, path: str) -> None:
        text = (folder / path).read_bytes().decode("utf-8", "replace")
        self.lines = text.split("\n")
        self._groups: list[tuple[str, set[int]]] = []
        language = language_of(path, text)
        if language is None:
            return
        data = text.encode()
        for what, rows in _together(parse_source(data, language).root_node, data):
            numbers = {row + 1 for row in rows if self.lines[row].strip()}
            if len(numbers) > 1:
                self._groups.append((what, numbers))

    def faults(self, shown: set[int]) -> Iterator[str]:
        """Yield where lines are shown that belong to others which are not, and what they are part of."""
        for what, numbers in self._groups:
            if 0 < len(numbers & shown) < len(numbers):
                yield f":{min(numbers)}-{max(numbers)} {what}"


def _together(root: Node, source: bytes) -> Iterator[tuple[str, Iterable[int]]]:
    """Yield the rows that belong together, and what they are."""
    stack = [root]
    while stack:
        node = stack.pop()
        first = node.start_point.row
        # Some grammars let a node reach to the next one.
        last = first + source[node.start_byte : node.end_byte].rstrip().count(b"\n")
        if first == last or node.is_error:
            continue
        if _SOLID.fullmatch(node.type):
            yield node.type, range(first, last + 1)
            continue
        yield from _brackets(node)
        children = node.children
        for child, following in pairwise(children):
            if child.type in _DECORATORS:
                ends = child.start_point.row, child.end_point.row
                yield child.type, (*ends, following.start_point.row)
        is_statement = _STATEMENT.fullmatch(node.type) and not _LISTS.fullmatch(node.type)
        # A shell's condition has its statements beside its words.
        is_statement = is_statement and not any(child.type == "then" for child in node.children)
        if is_statement and not node.has_error:
            body = next(filter(None, map(node.child_by_field_name, _BODIES)), None)
            if body is not None:
                head = range(first, _row_before(body) + 1)
                # One that holds a long table, or a function, is told by its ends.
                has_others = _holds_others(node, body)
                yield f"head of {node.type}", (head[0], head[-1]) if has_others else head
            elif not _holds_others(node):
                yield node.type, range(first, last + 1)
        stack += children


def _row_before(body: Node) -> int:
    before = body.prev_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_sibling
    return before.end_point.row if before is not None else body.start_point.row


def _brackets(node: Node) -> Iterator[tuple[str, Iterable[int]]]:
    opened: list[Node] = []
    for child in node.children:
        if child.type in _ENDS.values() and not child.is_missing:
            opened.append(child)
        elif child.type in _ENDS and opened and opened[-1].type == _ENDS[child.type]:
            begin = opened.pop()
            if not child.is_missing and begin.start_point.row < child.start_point.row:
                yield (
                    f"{begin.type} {child.type} of {node.type}",
                    (begin.start_point.row, child.start_point.row),
                )


def _holds_others(node: Node, but: Node | None = None) -> bool:
    first = node.start_point.row
    stack = [child for child in node.children if child != but]
    while stack:
        inner = stack.pop()
        if inner.end_point.row == first:
            continue
        lines = inner.end_point.row - inner.start_point.row
        is_table = lines >= _LONG and _TABLE.fullmatch(inner.type)
        if is_table and not _ARGUMENTS.fullmatch(inner.type):
            return True
        if inner.is_named and _HOLDS_OTHERS.fullmatch(inner.type):
            return True
        stack += inner.children
    return False
