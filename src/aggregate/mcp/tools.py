"""The tools that the server offers: what each is called, what it says of itself, and what answers it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

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
from aggregate.mcp.composing import compose
from aggregate.mcp.explaining import explain
from aggregate.mcp.finding import find
from aggregate.mcp.folding import fold_results
from aggregate.mcp.outlining import outline
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Progress, Workspace

Answer = Callable[[Workspace, Connection, Any, Progress], str]
"""Returns the answer to a call whose arguments were checked."""


class ToolSpec(NamedTuple):
    """One tool.

    Attributes:
        description: What it says of itself.
        arguments: What it may be asked.
        answer: Answers a call.
    """

    description: str
    arguments: type[Arguments]
    answer: Answer


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
        lambda workspace, connection, asked, _: read(workspace, connection, asked),
    ),
    "outline": ToolSpec(
        "Files below a folder with sizes and definitions, or the definitions of a file with their lines.",
        OutlineArguments,
        outline,
    ),
    "find": ToolSpec(
        "Where a name is defined and used, with lines; or where a text stands.",
        FindArguments,
        lambda workspace, _connection, asked, progress: find(workspace, asked, progress),
    ),
    "explain": ToolSpec(
        "Why files are in or out of a composed prompt.",
        ExplainArguments,
        lambda workspace, connection, asked, _: explain(workspace, connection, asked),
    ),
    "results": ToolSpec(
        "Fold what sub-agents returned into one text; failed ones are listed.",
        ResultsArguments,
        lambda workspace, _connection, asked, _: fold_results(workspace, asked),
    ),
}


def call_tool(
    name: str,
    given: Mapping[str, Any],
    *,
    workspace: Workspace,
    connection: Connection,
    progress: Progress,
) -> str:
    """Return a tool's answer."""
    tool = TOOLS[name]
    asked = parse(tool.arguments, given, tool=name)
    connection.calls += 1
    return tool.answer(workspace, connection, asked, progress)
