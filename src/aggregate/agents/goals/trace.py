"""What a goal did: a tree of steps, sub-tasks, tool calls and questions, with times and tokens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class TraceKind(StrEnum):
    """What a node of the tree stands for."""

    GOAL = "goal"
    NEURON = "neuron"
    DENDRITE = "dendrite"
    TOOL = "tool"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Trace:
    """One node and what is below it.

    Attributes:
        kind: What it stands for.
        label: ``0.2`` for a step, ``1.3`` for a sub-task; the tool's or question's name.
        text: The goal, the step, the arguments.
        seconds: Wall time.
        tokens: Of the questions in it and below it.
        ok: Whether it succeeded.
        note: Why not, or what else is to be known.
        children: In the order in which they were begun; sub-tasks in the order of their items.
    """

    kind: TraceKind
    label: str
    text: str
    seconds: float
    tokens: int
    ok: bool
    note: str
    children: tuple["Trace", ...]

    @property
    def calls(self) -> int:
        """Questions to the model in it and below it."""
        own = 1 if self.kind is TraceKind.MODEL else 0
        return own + sum(child.calls for child in self.children)

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        return {
            "kind": self.kind.value,
            "label": self.label,
            "text": self.text,
            "seconds": round(self.seconds, 6),
            "tokens": self.tokens,
            "ok": self.ok,
            "note": self.note,
            "children": [child.as_dict() for child in self.children],
        }


@dataclass(slots=True)
class TraceRecorder:
    """A node while it is written; one thread writes to it at a time.

    Attributes:
        place: The way to the node, ``0.2/1.3``; unique in its tree.
    """

    kind: TraceKind
    label: str
    text: str
    clock: Callable[[], float]
    place: str = ""
    seconds: float = 0.0
    tokens: int = 0
    ok: bool = True
    note: str = ""
    warnings: list[str] = field(default_factory=list)
    children: list["TraceRecorder"] = field(default_factory=list)

    def child(self, kind: TraceKind, label: str, text: str) -> "TraceRecorder":
        """Add a node below this one and return it."""
        place = self.place
        if kind in (TraceKind.NEURON, TraceKind.DENDRITE):
            place = f"{place}/{label}" if place else label
        child = TraceRecorder(kind, label, text, self.clock, place)
        self.children.append(child)
        return child

    @contextmanager
    def timed(self) -> Iterator["TraceRecorder"]:
        """Time the block, also when it raises."""
        started = self.clock()
        try:
            yield self
        finally:
            self.seconds += self.clock() - started

    def fail(self, note: str) -> None:
        """Say that the node did not succeed, and why."""
        self.ok, self.note = False, note

    def warn(self, sentence: str) -> None:
        """Keep a sentence for the user."""
        self.warnings.append(sentence)

    def all_warnings(self) -> Iterator[str]:
        """Yield the warnings of the node and of all below it, in the order of the tree."""
        yield from self.warnings
        for child in self.children:
            yield from child.all_warnings()

    def trace(self) -> Trace:
        """Return the tree as a value."""
        children = tuple(child.trace() for child in self.children)
        tokens = self.tokens + sum(child.tokens for child in children)
        return Trace(
            self.kind, self.label, self.text, self.seconds, tokens, self.ok, self.note, children
        )
