"""Progress of long work, and its cancellation, through the SDK's own client."""

import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from aggregate.mcp.server import AgentServer
from aggregate.mcp.workspace import Progress, Workspace
from aggregate.project.index import open_index
from aggregate.prompt import ReadFiles, Request
from tests.mcp.serving import Asking, over, workspace
from tests.projects import project

PATIENCE = 10
"""Seconds until work that goes on counts as never ended: machines are slow at times."""
FILES = {f"m{number}.py": f"def f{number}():\n    return {number}\n" for number in range(30)}


def _asking(folder: Path, questions: Callable[[Asking], Awaitable[None]]) -> None:
    over(AgentServer(workspace(project(folder, FILES))), questions)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("compose", {"task": "fix f7"}), ("find", {"query": "f7"}), ("outline", {})],
)
def test_long_work_tells_how_far_it_is(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """Whoever asks for progress is told of it, growing up to all files, with the total."""
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message is None
        told.append((progress, total))

    async def ask(agent: Asking) -> None:
        await agent.client.call_tool(tool, arguments, progress_callback=note)

    _asking(tmp_path, ask)
    assert told[0] == (0, 30)
    assert told[-1] == (30, 30)
    assert told == sorted(told)


class _Endless(Workspace):
    """A project that is never read to its end, unless whoever is told of the progress has gone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "manual_slop.toml", index=open_index(use=False))
        self.begun, self.ended = threading.Event(), threading.Event()

    def read_files(self, request: Request, progress: Progress) -> ReadFiles:
        """Tell of progress for ever."""
        try:
            while True:
                self.begun.set()
                progress(1, 2)
                time.sleep(0.001)
        finally:
            self.ended.set()


def test_who_has_gone_is_not_worked_for(tmp_path: Path) -> None:
    """A call that is cancelled ends at its next step, and the next one is answered."""
    endless = _Endless(project(tmp_path, FILES))

    async def ask(agent: Asking) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: agent("compose", task="fix f7"))
            await anyio.to_thread.run_sync(endless.begun.wait)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(lambda: endless.ended.wait(PATIENCE))
        assert "return 7" in (await agent("read", path="m7.py")).text

    over(AgentServer(endless), ask)
