"""``mcp``: serve the project to agents."""

import os
from importlib.util import find_spec
from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.cli import lazy
from aggregate.cli.opened_project import is_named, open_asked_project
from aggregate.cli.options import config_option
from aggregate.cli.output import say
from aggregate.mcp import CAP, LEAST_CAP
from aggregate.sending.clients import host_in_url, is_loopback_host

_TOKEN_VARIABLE = "AGGREGATE_MCP_TOKEN"  # noqa: S105 - a name
_MOST_CAP = 100_000
"""Tokens of an answer that are more than any host takes."""
_HOST_CAP = "MAX_MCP_OUTPUT_TOKENS"
"""Where Claude Code says how long an answer may be."""


@click.command()
@config_option
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve streamable HTTP on this port, by default standard input and output.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option(
    "--max-tokens",
    type=click.IntRange(LEAST_CAP, _MOST_CAP),
    default=CAP,
    show_default=True,
    help="Let an answer have at most this many tokens.",
)
def mcp(config: Path, port: int | None, host: str, max_tokens: int) -> None:
    """Serve prompts, files and what they define to agents, by the Model Context Protocol.

    Files outside of the project and files that look like secrets are never read, secrets in others are replaced, and
    nothing is written. The project is that of the current folder, or without --config the one that the host names by
    the protocol. Over HTTP each request needs the token of AGGREGATE_MCP_TOKEN, or the one that is printed.
    """
    _require_sdk()
    cap = min(max_tokens, _host_cap())
    follows_host = port is None and not is_named("config")
    if config.exists() or not follows_host:
        _check(config)
    if port is None:
        lazy.serve_on_stdio(config, cap=cap, check=_check if follows_host else None)
        return
    token = os.environ.get(_TOKEN_VARIABLE, "")
    shown = "…" if token else (token := lazy.new_token())
    say(f"http://{host_in_url(host)}:{port}/mcp, with the header Authorization: Bearer {shown}")
    if not is_loopback_host(host):
        say(f"warning: other machines reach {host}, and the token passes to it unencrypted")
    lazy.serve_on_http(config, cap=cap, token=token, host=host, port=port)


def _check(config: Path) -> None:
    """Make sure that a project can be served.

    Raises:
        ConfigError: Its configuration cannot be used, or it is a folder that holds all that somebody has.
    """
    open_asked_project(config, is_asked=True, allow_outside=False, allow_secrets=False)


def _require_sdk() -> None:
    """Make sure that the protocol's library is there.

    Raises:
        ConfigError: It is not.
    """
    if find_spec("mcp") is None:
        raise ConfigError('aggregate mcp needs another package: pip install "manual-slop[mcp]"')


def _host_cap() -> int:
    """Return the most tokens of an answer that the host says it takes; more than any where it says nothing."""
    try:
        return max(int(os.environ.get(_HOST_CAP, "")), LEAST_CAP)
    except ValueError:
        return _MOST_CAP
