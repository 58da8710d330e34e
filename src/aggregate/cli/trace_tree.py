"""A goal's trace as a tree on standard error."""

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from aggregate.agents.goals import Trace
from aggregate.base.text import printable
from aggregate.cli.output import is_terminal, say

_WIDTH = 80
"""Characters of a node's text: with its cost behind it, a node stays one line on a wide terminal."""


def draw_trace(trace: Trace) -> None:
    """Draw what a goal did: in colour on a terminal, as plain lines otherwise."""
    if not is_terminal(err=True):
        say(*plain_lines(trace))
        return
    Console(stderr=True).print(rich_tree(trace))


def plain_lines(trace: Trace, indent: str = "") -> list[str]:
    """Return the tree as lines, two blanks for each level."""
    failed = "" if trace.ok else "failed: "
    lines = [f"{indent}{failed}{_name(trace)} {_cost(trace)}{_note(trace)}"]
    for child in _children(trace):
        lines += plain_lines(child, indent + "  ")
    return lines


def rich_tree(trace: Trace) -> Tree:
    """Return the tree for a terminal."""
    line = Text(_name(trace), style="" if trace.ok else "red").append(
        f" {_cost(trace)}{_note(trace)}", style="dim"
    )
    tree = Tree(line)
    for child in _children(trace):
        tree.add(rich_tree(child))
    return tree


def _children(trace: Trace) -> list[Trace]:
    """Return what is below a node; the one step of a sub-task says nothing that the sub-task does not."""
    if trace.kind.value == "dendrite" and len(trace.children) == 1:
        return trace.children[0].children
    return trace.children


def _name(trace: Trace) -> str:
    text = printable(" ".join(trace.text.split()))
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 3]}..."
    return f"{printable(trace.label)} {text}".strip()


def _cost(trace: Trace) -> str:
    tokens = f", {trace.tokens:,} tokens" if trace.tokens else ""
    return f"({trace.seconds * 1000:,.1f} ms{tokens})"


def _note(trace: Trace) -> str:
    return f" - {printable(trace.note)}" if trace.note else ""
