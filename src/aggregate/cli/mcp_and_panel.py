"""``mcp`` and ``panel``: serve the project to agents and browsers."""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import click

from aggregate.base.disk.programs import find_program
from aggregate.base.disk.reading import project_root, read_text
from aggregate.base.disk.writing import replace_text
from aggregate.base.errors import ConfigError
from aggregate.base.messages import install_command
from aggregate.cli.arguments import agree, open_asked_project
from aggregate.cli.options import AskedProject, config_option, flag, number, option
from aggregate.cli.output import say, warn, write_result, write_rows
from aggregate.mcp import CAP, HOSTS, LEAST_CAP, with_server

_MOST_CAP = 100_000  # tokens of an answer: no host takes more
_HOST_CAP = "MAX_MCP_OUTPUT_TOKENS"  # environment variable: limit of Claude Code


@click.group(invoke_without_command=True)
@config_option
@number(
    "--max-tokens",
    "Limit answers to this many tokens.",
    click.IntRange(LEAST_CAP, _MOST_CAP),
    metavar="",
    default=CAP,
)
@click.pass_context
def mcp(context: click.Context, config: Path, max_tokens: int) -> None:
    """Serve the project to agents by the Model Context Protocol.

    Agents get prompts, files and definitions. Nothing is written, files outside the project and files that look like
    secrets are never read, and secrets in others are replaced.
    """
    if context.invoked_subcommand:
        return
    if find_spec("mcp") is None:
        raise ConfigError(_needs("mcp"))
    cap = max_tokens
    with suppress(ValueError):  # not set, or not a number
        cap = min(cap, max(int(os.environ.get(_HOST_CAP, "")), LEAST_CAP))
    open_asked_project(AskedProject(config, allow_outside=False, allow_secrets=False))
    from aggregate.mcp import serve_on_stdio

    say(*filter(None, [serve_on_stdio(config, cap=cap)]))


def _needs(extra: str) -> str:
    return f"aggregate {extra} needs another package: {install_command(extra)}"


@mcp.command()
@click.argument("name", metavar="HOST", type=click.Choice([*HOSTS]))
@config_option
@flag("--remove", "Remove the server.")
@flag("--dry-run", "Show the change and write nothing.")
@flag("--yes", "Write without asking.")
def install(name: str, config: Path, *, remove: bool, dry_run: bool, yes: bool) -> None:
    """Add the server to the configuration of HOST, after showing the change.

    Claude Desktop and Windsurf have one configuration for all projects; the others read one in the project's folder.
    """
    from aggregate.sending.cache import unified_diff  # seldom needed

    root = config.parent.absolute()
    host = HOSTS[name]
    path = host.path(root)
    if host.is_users_own and not config.exists() and not remove:
        raise ConfigError(
            f"{name} starts servers outside of the project: write a configuration first, with aggregate init",
            path=str(config),
        )
    try:
        content = read_text(path) if path.exists() else ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {error}", path=str(path)) from None
    program: tuple[str, ...] = (sys.executable, "-m", "aggregate")
    found = find_program("aggregate")
    # The host does not have the PATH of an activated environment.
    if found and Path(found).parent != Path(sys.executable).parent and not host.is_users_own:
        program = ("aggregate",)
    options = ("--config", str(config.absolute())) if host.is_users_own else ()
    after = with_server(content, host, () if remove else program, arguments=("mcp", *options))
    if after == content:
        say(f"{path} needs no change")
        return
    if find_spec("mcp") is None and not remove:
        warn(_needs("mcp"))
    say(str(path))
    write_rows(*unified_diff(content.splitlines(), after.splitlines()))
    if dry_run:
        return
    if not yes:
        agree("Write this?")
    if after:
        replace_text(path, after, within=None if host.is_users_own else Path(project_root(root)))
    else:
        path.unlink()
        if path.parent != root:
            with suppress(OSError):  # not empty
                path.parent.rmdir()


@click.command()
@config_option
@option(
    "--port",
    "PORT",
    "Listen at this port; by default at the project's last one; 0: any free port.",
    type=click.IntRange(0, 65535),
)
@flag("--no-open", "Print the address; open no browser.")
def panel(config: Path, port: int | None, no_open: bool) -> None:
    """Compose the prompt by eye, on a page in the browser.

    Edit the configuration and its presets, and watch the prompt change. Nothing is written or sent before you confirm.
    The printed address works once, in one browser, which may edit and send. Ctrl-C ends it.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise ConfigError(_needs("panel"))
    open_asked_project(AskedProject(config))
    from aggregate.panel import serve_panel

    serve_panel(config, port=port, opens=not no_open, say=say, show=write_result)
