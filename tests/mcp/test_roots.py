"""Progress of long work, its cancellation, and the project that a host names, through the SDK's own client."""

import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from aggregate.base.errors import ConfigError
from aggregate.mcp.hosts import config_of_host
from aggregate.mcp.server import AgentServer
from aggregate.mcp.tools import TOOLS
from aggregate.mcp.workspace import Progress, Workspace
from aggregate.project.index import open_index
from aggregate.prompt import ReadFiles, Request, SavedCounts
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


class _Held(Workspace):
    """A project whose texts are counted only after somebody has waited, the first time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "manual_slop.toml", index=open_index(use=False))
        self.begun, self.released = threading.Event(), threading.Event()
        self.count = self._count  # type: ignore[assignment]
        self._counted = SavedCounts(self.index)

    def _count(self, text: str) -> int:
        self.begun.set()
        assert self.released.wait(PATIENCE)
        return self._counted(text)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": "m7.py"}),
        ("read", {"path": "m7.py", "view": "outline"}),
        ("compose", {"task": "fix f7"}),
    ],
)
def test_an_answer_that_nobody_got_has_shown_nothing(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """A call that is cancelled when it is nearly answered is answered in full the next time, not with a line."""
    held = _Held(project(tmp_path, FILES))

    async def ask(agent: Asking) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: agent(tool, **arguments))
            await anyio.to_thread.run_sync(held.begun.wait)
            group.cancel_scope.cancel()
        held.released.set()
        said = (await agent(tool, **arguments)).text
        assert "f7" in said
        assert "your call" not in said
        assert "your call 2" in (await agent(tool, **arguments)).text

    over(AgentServer(held), ask)


class _Host:
    """A host, as the server sees it, that names folders."""

    def __init__(self, *uris: str, knows_roots: bool = True) -> None:
        roots = types.RootsCapability() if knows_roots else None
        self.client_capabilities = types.ClientCapabilities(roots=roots)
        self._roots = [types.Root.model_construct(uri=uri) for uri in uris]

    async def send_request(self, _request: object, _result: object) -> types.ListRootsResult:
        """Answer what folders there are."""
        return types.ListRootsResult.model_construct(roots=self._roots)


def test_the_folder_of_the_host_is_the_project(tmp_path: Path) -> None:
    """The first that is a folder here is taken, unless the server was started in one of them or nothing is told."""
    here, there = tmp_path / "here", tmp_path / "with space"
    for folder in (here / "below", there):
        folder.mkdir(parents=True)

    def told(*uris: str, **settings: bool) -> Path | None:
        async def ask() -> Path | None:
            return await config_of_host(_Host(*uris, **settings), here / "below")

        return anyio.run(ask)

    assert told(there.as_uri()) == there / "manual_slop.toml"
    elsewhere = ("https://example.org/a", "file://other/a", (tmp_path / "gone").as_uri())
    assert told(*elsewhere, there.as_uri()) == there / "manual_slop.toml"
    assert told(there.as_uri(), here.as_uri()) is None
    assert told(*elsewhere) is None
    assert told(there.as_uri(), knows_roots=False) is None


def test_a_host_that_starts_it_elsewhere_is_followed(tmp_path: Path) -> None:
    """Over standard input and output the tools answer about the folder that the host names, also from its home."""
    folder = project(tmp_path / "project", {"a.py": "def in_project(): ...\n"})
    home = tmp_path / "home"
    home.mkdir()
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aggregate", "mcp"],
        cwd=str(home),
        env={"HOME": str(home), "AGGREGATE_CACHE_DIR": str(tmp_path / "cache")},
    )

    async def roots(context: Any) -> types.ListRootsResult:
        assert context is not None
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri())])  # type: ignore[arg-type]

    async def ask() -> None:
        async with Client(
            stdio_client(parameters), list_roots_callback=roots, mode="legacy"
        ) as client:
            answer: Any = await client.call_tool("find", {"query": "in_project"})
            assert "a.py:1" in answer.content[0].text

    anyio.run(ask)


def test_other_folders_of_the_host_are_followed_at_once(tmp_path: Path) -> None:
    """What the host has closed is not read any more from the next call on, and nothing of it counts as shown.

    A host that names no folder any more gets that of the start again.
    """
    folders = [
        project(tmp_path / name, {"a.py": f"def in_{name}(): ...\n"} | FILES)
        for name in ("home", "first", "second")
    ]
    home, first, second = folders
    named = [first]

    async def roots(context: Any) -> types.ListRootsResult:
        assert context is not None
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": folder.as_uri()} for folder in named]}
        )

    server = AgentServer(workspace(home), check=lambda _config: None)

    async def ask() -> None:
        async with Client(server.protocol, list_roots_callback=roots, mode="legacy") as client:
            agent = Asking(client)
            assert "in_first" in (await agent("read", path="a.py")).text
            named[:] = [second]
            assert "unchanged" in (await agent("read", path="a.py")).text
            await client.session.send_notification(types.RootsListChangedNotification())
            said = await agent("read", path="a.py")
            assert "lines 1-1" in said.text or "line 1 of 1" in said.text
            assert "in_second" in said.text
            assert "in_first" not in said.text
            assert (await agent("read", path=str(first / "a.py"))).is_error
            named.clear()
            await client.session.send_notification(types.RootsListChangedNotification())
            assert "in_home" in (await agent("read", path="a.py")).text

    anyio.run(ask)


def test_a_first_call_that_is_cancelled_checks_nothing_away(tmp_path: Path) -> None:
    """Where whoever called goes while the host is asked, the next call asks it again and is checked."""
    folder = project(tmp_path, FILES)
    begun = anyio.Event()
    answers = iter((True, False))

    async def roots(context: Any) -> types.ListRootsResult:
        assert context is not None
        begun.set()
        if next(answers):
            await anyio.sleep_forever()
        return types.ListRootsResult.model_validate({"roots": [{"uri": folder.as_uri()}]})

    def refuse(config: Path) -> None:
        raise ConfigError("is none", path=str(config))

    async def ask() -> None:
        server = AgentServer(workspace(folder), check=refuse)
        async with Client(server.protocol, list_roots_callback=roots, mode="legacy") as client:
            agent = Asking(client)
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: agent("outline"))
                await begun.wait()
                group.cancel_scope.cancel()
            said = await agent("outline")
            assert said.is_error
            assert said.text.endswith("is none")

    anyio.run(ask)


def test_a_project_that_is_not_to_be_served_is_refused_at_each_call(tmp_path: Path) -> None:
    """The sentence says why; the tools themselves are listed all the same."""

    def refuse(config: Path) -> None:
        raise ConfigError("is none", path=str(config))

    async def ask(agent: Asking) -> None:
        for _ in range(2):
            said = await agent("outline")
            assert said.is_error
            assert said.text.endswith("is none")
        assert len((await agent.client.list_tools()).tools) == len(TOOLS)
        await agent.client.list_prompts()

    over(AgentServer(workspace(project(tmp_path, FILES)), check=refuse), ask)
