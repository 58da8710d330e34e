"""``results``: what sub-agents returned, folded into one text."""

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
from aggregate.mcp.pages import capped
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Progress, Workspace


def fold_results(workspace: Workspace, asked: ResultsArguments) -> str:
    """Return the merged values, and which failed; no code of the caller is run."""
    outputs = [
        LabelledOutput(output.value, output.label or None, error=output.error or None)
        for output in asked.outputs
    ]
    merged = merge_outputs(outputs, asked.strategy)
    notes = "".join(f"{sentence}\n" for sentence in (*merged.errors, *merged.warnings))
    text = result_text(merged)
    more = "fold fewer results at once"
    return capped(
        f"{text}\n{notes}" if notes else f"{text}\n",
        workspace.cap,
        workspace.count,
        more=more,
    )


Answer = Callable[[Workspace, Connection, Any, Progress], str]
"""Returns the answer to a call whose arguments were checked."""


class ToolSpec(NamedTuple):
    """One tool."""

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
