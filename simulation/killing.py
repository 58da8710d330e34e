"""Processes that are killed, and the journal in which they write what they have done."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Journal:
    """A file of lines that many processes add to."""

    path: Path

    def write(self, line: str) -> None:
        """Add a line, at once."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def counts(self) -> Counter[str]:
        """Return how often each line is there."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return Counter(text.splitlines())


def forked(target: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """Start a process off a server that has imported everything, so that a start takes milliseconds, not a second."""
    context = get_context("forkserver")
    context.set_forkserver_preload([target.__module__])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process
