"""A goal's trace as a tree on standard error."""

from typing import TYPE_CHECKING

from aggregate.cli.output import is_terminal, say
from aggregate.text.terminal import printable

if TYPE_CHECKING:
    from rich.tree import Tree

    from aggregate.agent import Trace

_WIDTH = 80


def draw_trace(trace: "Trace") -> None:
    """Draw what a goal did: in colour on a terminal, as plain lines otherwise."""
    if not is_terminal(err=True):
        say(*plain_lines(trace))
        return
    from rich.console import Console

    Console(stderr=True).print(rich_tree(trace))


def plain_lines(trace: "Trace", indent: str = "") -> list[str]:
    """Return the tree as lines, two blanks for each level."""
    own = f"{indent}{'' if trace.ok else 'failed: '}{_name(trace)} {_cost(trace)}{_note(trace)}"
    return [own, *(line for one in _children(trace) for line in plain_lines(one, indent + "  "))]


def rich_tree(trace: "Trace") -> "Tree":
    """Return the tree for a terminal."""
    from rich.text import Text
    from rich.tree import Tree

    line = Text(_name(trace), style="" if trace.ok else "red").append(f" {_cost(trace)}{_note(trace)}", style="dim")
    tree = Tree(line)
    for one in _children(trace):
        tree.add(rich_tree(one))
    return tree


def _children(trace: "Trace") -> tuple["Trace", ...]:
    """Return what is below a node; the one step of a sub-task says nothing that the sub-task does not."""
    if trace.kind.value == "dendrite" and len(trace.children) == 1:
        return trace.children[0].children
    return trace.children


def _name(trace: "Trace") -> str:
    text = printable(" ".join(trace.text.split()))
    return f"{printable(trace.label)} {text if len(text) <= _WIDTH else text[: _WIDTH - 3] + '...'}".strip()


def _cost(trace: "Trace") -> str:
    tokens = f", {trace.tokens:,} tokens" if trace.tokens else ""
    return f"({trace.seconds * 1000:,.1f} ms{tokens})"


def _note(trace: "Trace") -> str:
    return f" - {printable(trace.note)}" if trace.note else ""
