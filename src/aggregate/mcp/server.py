"""The server: its tools, and what a host is told that there is, as the protocol has it."""

import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from aggregate.agents.results import LabelledOutput, merge_outputs
from aggregate.base.errors import AggregateError
from aggregate.base.text import printable
from aggregate.mcp.composing import compose, explain
from aggregate.mcp.reading import find, outline, read
from aggregate.mcp.workspace import (
    Arguments,
    ComposeArguments,
    Connection,
    ExplainArguments,
    FindArguments,
    OutlineArguments,
    Progress,
    ReadArguments,
    ResultsArguments,
    Workspace,
    parse,
    schema_of,
)
from aggregate.prompt.results import result_text


def _fold_results(
    workspace: Workspace, _connection: Connection, asked: ResultsArguments, _progress: Progress
) -> str:
    outputs = [
        LabelledOutput(output.value, output.label or None, error=output.error or None)
        for output in asked.outputs
    ]
    merged = merge_outputs(outputs, asked.strategy)
    lines = (result_text(merged), *merged.errors, *merged.warnings)
    return workspace.capped(lines, more="fold fewer results at once")


class ToolSpec(NamedTuple):
    description: str
    arguments: type[Arguments]
    answer: Callable[[Workspace, Connection, Any, Progress], str]


TOOLS: Final[Mapping[str, ToolSpec]] = {
    "compose": ToolSpec(
        "What you need to see of this project for a task: the definitions that matter in full, what surrounds them by "
        "signatures. Ask this first. A prompt longer than an answer is told of and kept under a handle to read.",
        ComposeArguments,
        compose,
    ),
    "read": ToolSpec(
        "A file, a view of it, one definition, or a part of a composed prompt. What you were shown and has not changed "
        "is not repeated.",
        ReadArguments,
        read,
    ),
    "outline": ToolSpec(
        "Files below a folder with sizes and definitions, or the definitions of a file with their lines.",
        OutlineArguments,
        outline,
    ),
    "find": ToolSpec(
        "Where a name is defined and used, with lines; or where a text stands; or for a task the likeliest files with "
        "signatures, from which compose takes what you pick.",
        FindArguments,
        find,
    ),
    "explain": ToolSpec("Why files are in or out of a composed prompt.", ExplainArguments, explain),
    "results": ToolSpec(
        "Fold what sub-agents returned into one text; failed ones are listed.",
        ResultsArguments,
        _fold_results,
    ),
}


def call_tool(
    name: str,
    given: Mapping[str, Any],
    workspace: Workspace,
    connection: Connection,
    progress: Progress,
) -> str:
    tool = TOOLS[name]
    asked = parse(tool.arguments, given, tool=name)
    if connection.was_cancelled:
        connection.forget_shown()
    connection.calls += 1
    return tool.answer(workspace, connection, asked, progress)


Sdk = Any  # what the SDK passes, whose type is not told
_INSTRUCTIONS: Final = (
    "Begin a task with compose: it returns what of this project matters for it. Then find, outline and read for what "
    "is missing. Paths are relative to the project's root."
)
_FAILURE_CHARACTERS: Final = 1_000  # of a sentence about a mistake; the rest is what was asked
# Between two messages about the same work: a host shows a bar, and each message costs as much as a file.
_PROGRESS_SECONDS: Final = 0.1


@asynccontextmanager
async def _new_connection(_server: Server[Connection]) -> AsyncIterator[Connection]:
    yield Connection()


class AgentServer:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._lock = threading.Lock()  # the index, and what was shown, are for one thread at a time
        self.protocol: Server[Connection] = Server(
            "aggregate",
            version=version("manual-slop"),
            instructions=_INSTRUCTIONS,
            lifespan=_new_connection,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def serve_stdio(self) -> None:
        async with stdio_server() as (incoming, outgoing):
            options = self.protocol.create_initialization_options()
            await self.protocol.run(incoming, outgoing, options)

    async def _list_tools(self, _context: Sdk, _params: Sdk) -> types.ListToolsResult:
        read_only = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        tools = [
            types.Tool(
                name=name,
                description=tool.description,
                input_schema=schema_of(tool.arguments),
                annotations=read_only,
            )
            for name, tool in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(
        self, context: Sdk, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        name, arguments = params.name, params.arguments or {}
        if name not in TOOLS:
            return _failure(f"there is no tool {name[:100]!r}: there are {', '.join(TOOLS)}")
        # One program is at the other end, from start to end.
        connection: Connection = context.lifespan_context
        try:
            text = await self._beside(
                context.session,
                lambda progress: call_tool(name, arguments, self.workspace, connection, progress),
            )
        except AggregateError as error:
            return _failure(_sentence(error))
        except anyio.get_cancelled_exc_class():
            connection.was_cancelled = True
            raise
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def _beside(self, session: Sdk, work: Callable[[Progress], str]) -> str:
        """Return what ``work`` does in a thread; the host hears how far it is, and what it cancels stops soon."""
        gone = threading.Event()
        told = -math.inf

        def progress(done: int, total: int) -> None:
            nonlocal told
            if gone.is_set():
                raise _GoneError
            now = time.monotonic()
            if 0 < done < total and now < told + _PROGRESS_SECONDS:
                return
            told = now
            anyio.from_thread.run(session.report_progress, done, total)

        def unless_gone() -> str:
            with self._lock, suppress(_GoneError):
                return "" if gone.is_set() else work(progress)
            return ""

        try:
            return await anyio.to_thread.run_sync(unless_gone, abandon_on_cancel=True)
        except BaseException:
            gone.set()
            raise


class _GoneError(Exception):
    """Whoever asked has gone."""


def _sentence(error: AggregateError) -> str:
    return printable(" ".join(str(error).split()))


def _failure(sentence: str) -> types.CallToolResult:
    text = f"{sentence[:_FAILURE_CHARACTERS]}…" if sentence[_FAILURE_CHARACTERS:] else sentence
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def serve_on_stdio(config: Path, *, cap: int) -> str:
    """Serve until the host goes; return what is told of the session, ``""`` where nothing was composed."""
    workspace = Workspace(config, cap=cap)
    anyio.run(AgentServer(workspace).serve_stdio)
    return workspace.summary
