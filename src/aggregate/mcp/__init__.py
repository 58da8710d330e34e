"""A server of the Model Context Protocol, through which agents ask for prompts, files and what they hold."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.mcp.pages import CAP, LEAST_CAP
    from aggregate.mcp.serving import serve_on_http, serve_on_stdio
else:
    __getattr__ = door(
        __name__, {"pages": "CAP LEAST_CAP", "serving": "serve_on_http serve_on_stdio"}
    )
