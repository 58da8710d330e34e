"""What a host is told that there is: tools, resources and prompts, as the protocol has them."""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from aggregate.base.errors import AggregateError
from aggregate.base.text import printable
from aggregate.mcp.arguments import schema_of
from aggregate.mcp.hosts import Connections, config_of_host, new_connection, run_beside
from aggregate.mcp.resources import (
    FILE_TEMPLATE,
    PROMPT_TEMPLATE,
    list_presets,
    list_prompts,
    preset_prompt,
    read_resource,
)
from aggregate.mcp.tools import TOOLS, call_tool
from aggregate.mcp.workspace import Call, Connection, Progress, Workspace


def tool_list() -> types.ListToolsResult:
    """Return the tools, none of which changes anything."""
    read_only = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=tool.description,
                input_schema=schema_of(tool.arguments),
                annotations=read_only,
            )
            for name, tool in TOOLS.items()
        ]
    )


def resource_list(prompts: Iterable[tuple[str, str]]) -> types.ListResourcesResult:
    """Return the prompts that were written, of which address and name are given."""
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=name, mime_type="text/markdown") for uri, name in prompts
        ]
    )


def template_list() -> types.ListResourceTemplatesResult:
    """Return the addresses that a host can fill in."""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=FILE_TEMPLATE,
                name="file",
                description="A file, as it is or as a view",
            ),
            types.ResourceTemplate(
                uri_template=PROMPT_TEMPLATE,
                name="prompt",
                description="A prompt that was written, by its number, or composed, by its handle",
            ),
        ]
    )


def prompt_list(presets: Iterable[tuple[str, str]]) -> types.ListPromptsResult:
    """Return the presets, of which name and description are given, as prompts with a task and a budget."""
    arguments = [
        types.PromptArgument(name="task", description="What it is for", required=False),
        types.PromptArgument(name="budget", description="Most tokens", required=False),
    ]
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(name=name, description=description, arguments=arguments)
            for name, description in presets
        ]
    )


_NAME: Final = "aggregate"
_INSTRUCTIONS: Final = (
    "Begin a task with compose: it returns what of this project matters for it. Then find, outline and read for what "
    "is missing. Paths are relative to the project's root."
)
_OTHER_FOLDERS: Final = "notifications/roots/list_changed"
_UNREADABLE: Final = types.JSONRPCError(
    jsonrpc="2.0",
    id=None,  # which cannot be read either
    error=types.ErrorData(
        code=types.PARSE_ERROR, message="the request is no JSON-RPC, or nested too deeply"
    ),
)
_FAILURE_CHARACTERS: Final = 1_000
"""Of a sentence about a mistake; the rest is what was asked."""


class AgentServer:
    """Answers the requests of agents about one project.

    Args:
        workspace: The project.
        check: Where a host may name another project by the protocol: called with its configuration's path, raises
            where it is none to serve. By default the project stays that of ``workspace``.
    """

    def __init__(
        self, workspace: Workspace, *, check: Callable[[Path], object] | None = None
    ) -> None:
        self.workspace = workspace
        self._check = check
        self._started_for = workspace
        self._named, self._followed = 1, 0
        self._lock = threading.Lock()
        self._following = anyio.Lock()
        self._connections = Connections()
        self.protocol: Server[Connection] = Server(
            _NAME,
            version=version("manual-slop"),
            instructions=_INSTRUCTIONS,
            lifespan=new_connection,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        # By its name: the SDK's argument for it warns that newer versions of the protocol have none.
        self.protocol.add_notification_handler(
            _OTHER_FOLDERS, types.NotificationParams, self._name_other_folders
        )

    async def serve_stdio(self) -> None:
        """Answer on standard input and output until the input ends."""
        messages, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as relaying:
            relaying.start_soon(_relay, incoming, messages, outgoing)
            options = self.protocol.create_initialization_options()
            await self.protocol.run(requests, outgoing, options)

    async def _list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:  # noqa: ANN401 - the SDK's
        return tool_list()

    async def _call_tool(
        self,
        context: Any,  # noqa: ANN401 - the SDK's
        params: types.CallToolRequestParams,
    ) -> types.CallToolResult:
        if params.name not in TOOLS:
            return _failure(f"there is no tool {params.name[:100]!r}: there are {', '.join(TOOLS)}")
        connection, call = self._connections.of(context), Call()
        try:
            await self._follow_host(context)
            text = await run_beside(
                context.session,
                partial(self._answer, params.name, params.arguments or {}, connection, call),
            )
        except AggregateError as error:
            return _failure(_sentence(error))
        except anyio.get_cancelled_exc_class():
            call.is_cancelled = True
            connection.cancelled.append(call)
            raise
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def _follow_host(self, context: Any) -> None:  # noqa: ANN401 - the SDK's
        """Serve the project that the host names, asked before the first answer and after it has named others.

        Over HTTP it stays the one that the server was started for: whoever knows the token may be elsewhere.
        """
        if self._check is None or context.request is not None:
            return
        async with self._following:
            named = self._named
            if self._followed == named:
                return
            config = await config_of_host(context.session, self._started_for.config.parent)
            config = config or self._started_for.config
            if config != self.workspace.config:
                self.workspace = self.workspace.at(config)
                self._connections.of(context).forget()
            self._check(config)  # where it refuses, the next call is told the same, or all is well
            self._followed = named

    async def _name_other_folders(self, _context: Any, _params: Any) -> None:  # noqa: ANN401 - the SDK's
        self._named += 1

    def _answer(
        self,
        name: str,
        arguments: Mapping[str, Any],
        connection: Connection,
        call: Call,
        progress: Progress,
    ) -> str:
        with self._lock:  # the index, and what a connection was shown, are for one thread at a time
            if call.is_cancelled:
                return ""
            connection.forget_cancelled()
            try:
                return call_tool(
                    name,
                    arguments,
                    workspace=self.workspace,
                    connection=connection,
                    progress=progress,
                )
            finally:
                call.number = connection.calls

    async def _list_resources(self, context: Any, _params: Any) -> types.ListResourcesResult:  # noqa: ANN401
        with suppress(AggregateError):  # a call tells of it
            await self._follow_host(context)
        prompts = await anyio.to_thread.run_sync(list_prompts, self.workspace)
        return resource_list(prompts)

    async def _list_resource_templates(
        self,
        _context: Any,  # noqa: ANN401
        _params: Any,  # noqa: ANN401
    ) -> types.ListResourceTemplatesResult:
        return template_list()

    async def _read_resource(
        self,
        context: Any,  # noqa: ANN401
        params: types.ReadResourceRequestParams,
    ) -> types.ReadResourceResult:
        text = await self._or_error(context, lambda: read_resource(self.workspace, str(params.uri)))
        contents = types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, context: Any, _params: Any) -> types.ListPromptsResult:  # noqa: ANN401
        with suppress(AggregateError):
            await self._follow_host(context)
        presets = await anyio.to_thread.run_sync(list_presets, self.workspace)
        return prompt_list(presets)

    async def _get_prompt(
        self,
        context: Any,  # noqa: ANN401
        params: types.GetPromptRequestParams,
    ) -> types.GetPromptResult:
        text = await self._or_error(
            context, lambda: preset_prompt(self.workspace, params.name, params.arguments or {})
        )
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def _or_error(
        self,
        context: Any,  # noqa: ANN401
        work: Callable[[], str],
    ) -> str:

        def locked(_progress: Progress) -> str:
            with self._lock:
                return work()

        try:
            await self._follow_host(context)
            return await run_beside(context.session, locked)
        except AggregateError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=_sentence(error)) from None


async def _relay(incoming: Any, messages: Any, outgoing: Any) -> None:  # noqa: ANN401 - the SDK's streams
    """Hand messages on; what cannot be read, which the SDK passes over in silence, is answered by an error."""
    async with messages:
        async for message in incoming:
            if isinstance(message, Exception):
                await outgoing.send(SessionMessage(_UNREADABLE))
            else:
                await messages.send(message)


def _sentence(error: AggregateError) -> str:
    return printable(" ".join(str(error).split()))


def _failure(sentence: str) -> types.CallToolResult:
    """Return a mistake, which may quote an argument of any length."""
    text = f"{sentence[:_FAILURE_CHARACTERS]}…" if sentence[_FAILURE_CHARACTERS:] else sentence
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
