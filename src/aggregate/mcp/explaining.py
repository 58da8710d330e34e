"""``explain``: why a file is in a prompt or not."""

from aggregate.base.errors import ToolError
from aggregate.mcp.arguments import ExplainArguments
from aggregate.mcp.composing import audit_of_prompt
from aggregate.mcp.pages import capped
from aggregate.mcp.workspace import Connection, Workspace
from aggregate.prompt import audit_lines, is_named, row_lines


def explain(workspace: Workspace, connection: Connection, asked: ExplainArguments) -> str:
    """Return what was decided about a prompt's files, or everything about those of one path."""
    handle = asked.handle or connection.last_prompt
    if not handle:
        raise ToolError("explain: there is no prompt yet: compose one, or name its handle")
    kept = workspace.prompt(handle)
    audit = audit_of_prompt(workspace, kept)
    if not asked.path:
        lines = list(audit_lines(audit, title=handle))
        more = "name a path to be told of one file"
    else:
        rows = [row for row in audit.rows if row.path == asked.path]
        rows = rows or [row for row in audit.rows if is_named(row.path, row.entry, [asked.path])]
        if not rows:
            raise ToolError(f"explain: no candidate of {handle} is called {asked.path}")
        lines = [line for row in rows for line in row_lines(audit, row)]
        more = "name a longer path"
    text = "".join(f"{line}\n" for line in lines)
    return capped(text, workspace.cap, workspace.count, more=more)
