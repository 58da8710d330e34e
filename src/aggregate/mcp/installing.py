"""Add this server to agents' configuration files, or remove it."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

from aggregate.base.errors import ConfigError

_NAME: Final = "aggregate"


class Host(NamedTuple):
    file: str  # in the project's root, or with ``~`` in the user's home folder
    key: str  # of the servers
    kind: str = ""  # the host's name for servers on standard input and output

    def path(self, root: Path) -> Path:
        return root / Path(self.file).expanduser()

    @property
    def is_users_own(self) -> bool:
        """Whether the host has one configuration for all projects, and starts servers in any folder."""
        return self.file.startswith("~")


_DESKTOP: Final = {
    "darwin": "~/Library/Application Support/Claude",
    "win32": "~/AppData/Roaming/Claude",
}.get(sys.platform, "~/.config/Claude")
HOSTS: Final = {
    "claude-code": Host(".mcp.json", "mcpServers"),
    "claude-desktop": Host(f"{_DESKTOP}/claude_desktop_config.json", "mcpServers"),
    "codex": Host(".codex/config.toml", "mcp_servers"),  # of projects that the user trusts there
    "cursor": Host(".cursor/mcp.json", "mcpServers"),
    "vscode": Host(".vscode/mcp.json", "servers", "stdio"),
    "windsurf": Host("~/.codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": Host(".zed/settings.json", "context_servers"),
}


def with_server(
    text: str, host: Host, command: Sequence[str], *, arguments: Sequence[str] = ("mcp",)
) -> str:
    """Return a host's configuration with this server added.

    An empty ``command`` removes the server. The rest keeps its order. A ``text`` of ``""`` is a missing file.
    """
    entry: dict[str, Any] = {}
    if command:
        kind = {"type": host.kind} if host.kind else {}
        entry = {**kind, "command": command[0], "args": [*command[1:], *arguments]}
    if host.file.endswith(".toml"):
        return _toml_with_server(text, host, entry)
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
    if (old_entry or {}) == entry:
        return text
    servers = {**data.get(host.key, {}), _NAME: entry} if entry else servers
    data = {**data, host.key: servers} if servers else data
    if not servers:
        del data[host.key]
    indent = re.search(r"^[ \t]+", text, re.MULTILINE)
    written = json.dumps(data, indent=indent[0] if indent else 2, ensure_ascii=False)
    return f"{written}\n" if data else ""


def _toml_with_server(text: str, host: Host, entry: dict[str, Any]) -> str:
    """Return TOML with ``entry`` as this server's table, without it if empty."""
    try:
        document = tomlkit.parse(text)
        servers: Any = document.get(host.key, {})
        if servers.get(_NAME) == (entry or None):
            return text
        if entry and host.key not in document:
            document[host.key] = servers = tomlkit.table(is_super_table=True)
        servers.pop(_NAME, None)
        if entry:
            servers[_NAME] = entry
        elif not servers:
            del document[host.key]
    except (TOMLKitError, AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"cannot be edited: {error}", path=host.file) from None
    return tomlkit.dumps(document)
