"""A progress bar on standard error, where a person looks at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aggregate.cli import lazy
from aggregate.cli.output import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LONG_WORK = 200
"""Files below which a run is over before a bar could be read."""


@dataclass(slots=True)
class Bar:
    """A bar that appears once there is much to do; without a terminal it does nothing."""

    title: str
    rich: "Progress | None" = None
    task: "TaskID | None" = None

    def start(self, total: int) -> None:
        """Say how much there is to do."""
        if self.rich is not None and total >= _LONG_WORK:
            self.task = self.rich.add_task(self.title, total=total)

    def advance(self, done: int) -> None:
        """Say how much more is done."""
        if self.rich is not None and self.task is not None:
            self.rich.advance(self.task, done)


@contextmanager
def progress(title: str, *, hidden: bool) -> Iterator[Bar]:
    """Show a bar while the block runs, if standard error is a terminal and nobody asked for quiet."""
    if hidden or not is_terminal(err=True):
        yield Bar(title)
        return
    with lazy.Progress(console=lazy.Console(stderr=True), transient=True) as rich:
        yield Bar(title, rich)
