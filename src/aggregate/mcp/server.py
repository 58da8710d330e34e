"""The MCP server, and the descriptions of its tools."""

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
from aggregate.mcp.tool_answers import compose, explain, find, outline, read
from aggregate.mcp.workspace import (
    Arguments,
    Call,
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
from aggregate.prompt.asking.results import result_text


def _fold_results(call: Call, arguments: ResultsArguments) -> str:
    outputs = [
        LabelledOutput(output.value, output.label or None, error=output.error or None)
        for output in arguments.outputs
    ]
    merged = merge_outputs(outputs, arguments.strategy)
    lines = (result_text(merged), *merged.errors, *merged.warnings)
    return call.workspace.capped(lines, more="merge fewer results at once")


class ToolSpec(NamedTuple):
    description: str
    arguments: type[Arguments]
    answer: Callable[[Call, Any], str]


TOOLS: Final[Mapping[str, ToolSpec]] = {
    "compose": ToolSpec(
        "Return the part of this project that is relevant for a task: important definitions in full, their neighbours "
        "as signatures. Call this first. Of a long prompt you get a summary and a handle to read it.",
        ComposeArguments,
        compose,
    ),
    "read": ToolSpec(
        "Return a file, a view of it, one definition, or a part of a composed prompt. Unchanged lines from earlier "
        "answers are not repeated.",
        ReadArguments,
        read,
    ),
    "outline": ToolSpec(
        "List files below a folder with sizes and definitions, or the definitions of a file with their lines.",
        OutlineArguments,
        outline,
    ),
    "find": ToolSpec(
        "Find definitions and uses of a name, or the lines with a text; or for a task the likeliest files with "
        "signatures, to pick from for compose.",
        FindArguments,
        find,
    ),
    "explain": ToolSpec(
        "Explain why files are in or out of a composed prompt.", ExplainArguments, explain
    ),
    "results": ToolSpec(
        "Merge results of sub-agents into one text, and list failures.",
        ResultsArguments,
        _fold_results,
    ),
}


Sdk = Any  # untyped objects of the SDK
_INSTRUCTIONS: Final = (
    "Begin a task with compose: it returns the relevant part of this project. Use find, outline and read for anything "
    "else. Paths are relative to the project's root."
)
_FAILURE_CHARACTERS: Final = 1_000  # of an error; the rest repeats arguments
_PROGRESS_SECONDS: Final = 0.1  # between messages; one costs as much as a file


@asynccontextmanager
async def _new_connection(_server: Server[Connection]) -> AsyncIterator[Connection]:
    yield Connection()


class AgentServer:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._lock = threading.Lock()  # index and ledgers are not thread-safe
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
            return _failure(f"unknown tool {name[:100]!r}: use one of {', '.join(TOOLS)}")
        connection: Connection = context.lifespan_context

        def answer(progress: Progress) -> str:
            tool = TOOLS[name]
            read_arguments = parse(tool.arguments, arguments, tool=name)
            if connection.was_cancelled:
                connection.forget_shown()
            connection.calls += 1
            return tool.answer(Call(self.workspace, connection, progress), read_arguments)

        try:
            text = await self._run_in_thread(context.session, answer)
        except AggregateError as error:
            return _failure(_sentence(error))
        except anyio.get_cancelled_exc_class():
            connection.was_cancelled = True
            raise
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def _run_in_thread(self, session: Sdk, work: Callable[[Progress], str]) -> str:
        cancelled = threading.Event()
        reported = -math.inf

        def progress(done: int, total: int) -> None:
            nonlocal reported
            if cancelled.is_set():
                raise _CancelledError
            now = time.monotonic()
            if 0 < done < total and now < reported + _PROGRESS_SECONDS:
                return
            reported = now
            anyio.from_thread.run(session.report_progress, done, total)

        def unless_cancelled() -> str:
            with self._lock, suppress(_CancelledError):
                return "" if cancelled.is_set() else work(progress)
            return ""

        try:
            return await anyio.to_thread.run_sync(unless_cancelled, abandon_on_cancel=True)
        except BaseException:
            cancelled.set()
            raise


class _CancelledError(Exception):
    """The client cancelled the call, or disconnected."""


def _sentence(error: AggregateError) -> str:
    return printable(" ".join(str(error).split()))


def _failure(sentence: str) -> types.CallToolResult:
    text = f"{sentence[:_FAILURE_CHARACTERS]}…" if sentence[_FAILURE_CHARACTERS:] else sentence
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def serve_on_stdio(config: Path, *, cap: int) -> str:
    """Serve until the client disconnects; return the session's summary."""
    workspace = Workspace(config, cap=cap)
    anyio.run(AgentServer(workspace).serve_stdio)
    return workspace.summary
