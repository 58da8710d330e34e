"""Tickets that act without a database: packs in memory, steps that are kept in a list, and processes that end there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aggregate import Reply, Usage
from aggregate.agents.tracks.merged_changes import locate_top, snapshot
from aggregate.agents.tracks.work_trees import Pack, Trees
from aggregate.sending.models import ToolCall


class Killed(BaseException):
    """The process of an attempt has ended here."""


@dataclass
class MemoryPacks:
    packs: dict[str, Pack] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def get(self, commit: str) -> Pack | None:
        return self.packs.get(commit)

    def put(self, pack: Pack) -> None:
        self.packs.setdefault(pack.commit, pack)

    def ref(self, name: str) -> str:
        return self.refs.get(name, "")

    def move(self, name: str, before: str, after: str) -> bool:
        if self.ref(name) != before:
            return False
        self.refs[name] = after
        return True

    @classmethod
    def of(cls, project: Path) -> "MemoryPacks":
        """Return those of a run that begins with the project's present files."""
        packs = cls()
        packs.refs["base"] = packs.refs["merged"] = snapshot(locate_top(project), packs)
        return packs

    @property
    def trees(self) -> Trees:
        """A process's repositories, which know nothing that is not in the packs."""
        return Trees(lambda _run: self)


@dataclass
class KeptSteps:
    """What a database keeps of an attempt's steps; the process ends before or behind the record of step ``ends_at``."""

    records: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    ends_at: int | None = None
    is_recorded: bool = False
    _at: int = 0

    def __call__(self, name: str, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        place, self._at = self._at, self._at + 1
        if place < len(self.records):
            kept_name, record = self.records[place]
            assert kept_name == name  # else a database would refuse to go on
            return record
        record = action()
        if place == self.ends_at and not self.is_recorded:
            raise Killed
        self.records.append((name, record))
        if place == self.ends_at:
            raise Killed
        return record

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.records]


def call(tool: str, number: int = 1, **arguments: Any) -> ToolCall:
    return ToolCall(f"c{number}", tool, arguments)


def calls(*made: ToolCall, text: str = "") -> Reply:
    """Return a reply that calls tools."""
    return Reply(text, Usage(100, output=10), calls=made)


@dataclass
class Turns:
    """A model that says one thing after the other, by how many turns a request has, and keeps what it was asked."""

    said: Iterable[Reply | str]
    asked: list[Any] = field(default_factory=list)

    def __call__(self, request: Any) -> Reply | str:
        self.asked.append(request)
        number = sum(1 for block in request.plan.blocks if block.turn) // 2
        return list(self.said)[number]

    @property
    def told(self) -> list[str]:
        """What the last request told the model, turn by turn."""
        blocks = self.asked[-1].plan.blocks
        return [block.turn.response for block in blocks if block.turn][::2]
