"""``results``: what sub-agents returned, folded into one text."""

from aggregate.agents.results import merge_outputs
from aggregate.base.text import result_text
from aggregate.base.values import LabelledOutput
from aggregate.mcp.arguments import ResultsArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.workspace import Workspace


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
