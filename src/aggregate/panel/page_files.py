"""The page's own files."""

from pathlib import Path
from typing import Any, Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC: Final = Path(__file__).with_name("static")
"""The page's own files."""


class PageFiles(StaticFiles):
    """The page's files, which a browser asks for again each time: the program may be another version now."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:  # noqa: ANN401 - Starlette's
        """Return a file, with its type as browsers want it."""
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file; JavaScript is called by its name whatever the machine's tables say."""
        response = await super().get_response(path, scope)
        if path.endswith((".js", ".mjs")):
            response.headers["content-type"] = "text/javascript; charset=utf-8"
        return response
