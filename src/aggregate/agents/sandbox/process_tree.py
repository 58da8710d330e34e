"""What a process and its descendants use, as Linux tells it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

COUNTED: Final = ("RssAnon:", "RssShmem:")
"""Memory that the processes wrote to themselves; what is read from files is the system's to drop."""


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """What a tree of processes uses at one moment: bytes of memory, processes and threads."""

    memory_bytes: int = 0
    processes: int = 0
    threads: int = 0


def tree_usage(root: int) -> TreeUsage:
    """Return what the process ``root`` and everything below it use; what cannot be read counts as nothing."""
    memory = processes = threads = 0
    pending = [root]
    while pending:
        folder = Path(f"/proc/{pending.pop()}")
        try:
            status = (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines()
            tasks = list((folder / "task").iterdir())
            pending += [
                int(child)
                for task in tasks
                for child in (task / "children").read_text("ascii").split()
            ]
        except OSError:  # it ended meanwhile
            continue
        processes += 1
        threads += len(tasks)
        memory += sum(1024 * int(line.split()[1]) for line in status if line.startswith(COUNTED))
    return TreeUsage(memory, processes, threads)
