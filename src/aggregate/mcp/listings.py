"""What a host is told that there is: tools, resources and prompts, as the protocol has them."""

from collections.abc import Iterable

import mcp_types as types

from aggregate.mcp.arguments import schema_of
from aggregate.mcp.resources import FILE_TEMPLATE, PROMPT_TEMPLATE
from aggregate.mcp.tools import TOOLS


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
