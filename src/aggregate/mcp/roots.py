"""Which project a host means: it may start the server in any folder and name the project's by the protocol."""

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aggregate.base.disk import is_inside, real_path
from aggregate.project.configuration import nearest_config

_SECONDS: Final = 5
"""For a host that says it knows the folders: an answer is made in no time, or the host is busy with something else."""


async def config_of_host(session: Any, started_in: Path) -> Path | None:  # noqa: ANN401 - the SDK's
    """Return the configuration of the first folder that a host names, which need not exist.

    ``None`` where the host names no folder, or the server was started in one of them: then that is meant. Newer
    versions of the protocol know no such folders (SEP-2577); their hosts start the server in the project.

    Args:
        session: The connection to the host.
        started_in: The folder that the server was started in.
    """
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    folders: list[Path] = []
    with anyio.move_on_after(_SECONDS):
        try:
            told = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, ValidationError):  # it does not take requests, or answers nonsense
            return None
        folders = [folder for root in told.roots if (folder := _folder(str(root.uri))) is not None]
    here = real_path(started_in)
    if not folders or any(is_inside(here, real_path(folder)) for folder in folders):
        return None
    return folders[0] / nearest_config(folders[0])


def _folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    folder = Path(url2pathname(parts.path))
    return folder if folder.is_absolute() and os.path.isdir(folder) else None  # noqa: PTH112 - raises for no name
