"""What the configuration file of an agent's host looks like with this server, and without it again."""

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from aggregate.base.errors import ConfigError

_NAME: Final = "aggregate"


class Host(NamedTuple):
    file: str  # in the project's root
    key: str  # below which it has servers
    kind: str = ""  # what it calls one that it starts


HOSTS: Final = {
    "claude-code": Host(".mcp.json", "mcpServers"),
    "cursor": Host(".cursor/mcp.json", "mcpServers"),
    "vscode": Host(".vscode/mcp.json", "servers", "stdio"),
}


def with_server(text: str, host: Host, command: Sequence[str]) -> str:
    """Return a host's configuration with this server started by ``command``, for ``()`` without it; ``""`` is none.

    All else stays, in its order.
    """
    try:
        data = json.loads(text.strip() or "{}")
        servers = dict(data.get(host.key, {}))
    except (ValueError, AttributeError, TypeError, RecursionError):
        how = f'"{_NAME}": {{"command": "{_NAME}", "args": ["mcp"]}}'
        reason = f"is no plain JSON, and comments would be lost: add to {host.key} by hand {how}"
        raise ConfigError(reason, path=host.file) from None
    before = servers.pop(_NAME, None)
    entry = {"type": host.kind} if host.kind else {}
    after = {**entry, "command": command[0], "args": [*command[1:], "mcp"]} if command else None
    if before == after:
        return text
    servers = {**data.get(host.key, {}), _NAME: after} if after else servers
    data = {**data, host.key: servers} if servers else data
    if not servers:
        del data[host.key]
    indent = re.search(r"^[ \t]+", text, re.MULTILINE)
    written = json.dumps(data, indent=indent[0] if indent else 2, ensure_ascii=False)
    return f"{written}\n" if data else ""
