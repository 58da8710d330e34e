"""Add this server to agents' configuration files, or remove it."""

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from aggregate.base.errors import ConfigError

_NAME: Final = "aggregate"


class Host(NamedTuple):
    file: str  # in the project's root
    key: str  # of its servers
    kind: str = ""  # its type of a server on standard input and output


HOSTS: Final = {
    "claude-code": Host(".mcp.json", "mcpServers"),
    "cursor": Host(".cursor/mcp.json", "mcpServers"),
    "vscode": Host(".vscode/mcp.json", "servers", "stdio"),
}


def with_server(text: str, host: Host, command: Sequence[str]) -> str:
    """Return a host's configuration with this server, or without it for an empty command.

    The rest keeps its order. ``""`` is a missing file.
    """
    try:
        data = json.loads(text.strip() or "{}")
        servers = dict(data.get(host.key, {}))
    except (ValueError, AttributeError, TypeError, RecursionError):
        example = f'"{_NAME}": {{"command": "{_NAME}", "args": ["mcp"]}}'
        reason = (
            f"is not plain JSON, and comments would be lost: add to {host.key} by hand {example}"
        )
        raise ConfigError(reason, path=host.file) from None
    old_entry = servers.pop(_NAME, None)
    kind = {"type": host.kind} if host.kind else {}
    entry = {**kind, "command": command[0], "args": [*command[1:], "mcp"]} if command else None
    if old_entry == entry:
        return text
    servers = {**data.get(host.key, {}), _NAME: entry} if entry else servers
    data = {**data, host.key: servers} if servers else data
    if not servers:
        del data[host.key]
    indent = re.search(r"^[ \t]+", text, re.MULTILINE)
    written = json.dumps(data, indent=indent[0] if indent else 2, ensure_ascii=False)
    return f"{written}\n" if data else ""
