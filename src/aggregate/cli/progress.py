"""A progress bar on standard error, where a person looks at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aggregate.cli import lazy
from aggregate.cli.output import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LONG_WORK = 200
"""Files below which a run is over before a bar could be read."""


class Bar:
    """A bar that appears once there is much to do; without a terminal it does nothing."""

    def __init__(self, title: str, rich: "Progress | None" = None) -> None:
        self._title = title
        self._rich = rich
        self._task: TaskID | None = None

    def start(self, total: int) -> None:
        """Say how much there is to do."""
        if self._rich is not None and total >= _LONG_WORK:
            self._task = self._rich.add_task(self._title, total=total)

    def advance(self, done: int) -> None:
        """Say how much more is done."""
        if self._rich is not None and self._task is not None:
            self._rich.advance(self._task, done)


@contextmanager
def progress(title: str, *, hidden: bool) -> Iterator[Bar]:
    """Show a bar while the block runs, if standard error is a terminal and nobody asked for quiet."""
    if hidden or not is_terminal(err=True):
        yield Bar(title)
        return
    with lazy.Progress(console=lazy.Console(stderr=True), transient=True) as rich:
        yield Bar(title, rich)
