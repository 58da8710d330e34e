"""The tools that agents call: what each is for, what it is asked, and who answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from aggregate.agents.results import merge_outputs
from aggregate.base.text import result_text
from aggregate.base.values import LabelledOutput
from aggregate.mcp.arguments import (
    Arguments,
    ComposeArguments,
    ExplainArguments,
    FindArguments,
    OutlineArguments,
    ReadArguments,
    ResultsArguments,
    parse,
)
from aggregate.mcp.composing import compose, explain
from aggregate.mcp.finding import find, outline
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Progress, Workspace


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
        "Where a name is defined and used, with lines; or where a text stands.", FindArguments, find
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
    connection.calls += 1
    return tool.answer(workspace, connection, asked, progress)
