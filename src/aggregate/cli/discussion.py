"""``discussion``: list, show, fork and delete a project's discussions."""

import time
from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.base.tokens import count
from aggregate.cli.arguments import agree, open_project_here
from aggregate.cli.options import config_option, flag
from aggregate.cli.output import counted, say, write_path, write_result, write_rows
from aggregate.cli.program import Described
from aggregate.project.history import DEFAULT, named_discussions
from aggregate.prompt.sections.discussion_section import build_discussion_section
from aggregate.sending import Discussion


@click.group(cls=Described)
def discussion() -> None:
    """List, show, fork and delete discussions."""


@discussion.command("list")
@config_option
def list_(config: Path) -> None:
    """List the discussions with their turns, tokens and last use."""
    project = open_project_here(config)
    for name in ("", *named_discussions(config, project.prompts)):
        turns = Discussion(project, name).turns()
        used = turns.path.stat().st_mtime if turns.path else None
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(used)) if used else "-"
        tokens = count(build_discussion_section(turns.all))
        columns = (name or DEFAULT, counted(len(turns.all), "turn"), f"{tokens:,} tokens", when)
        origin = "" if turns.continues is None else f"continues {turns.continues or DEFAULT}"
        write_rows("\t".join((*columns, origin)).rstrip())


@discussion.command()
@click.argument("name")
@config_option
def show(name: str, config: Path) -> None:
    """Print the turns of a discussion as a prompt shows them."""
    turns = Discussion(open_project_here(config), name).turns()
    write_result(build_discussion_section(turns.all))


@discussion.command()
@click.argument("old")
@click.argument("new")
@config_option
def fork(old: str, new: str, config: Path) -> None:
    """Begin the discussion NEW with all turns of OLD; print the path of its file.

    NEW also profits from the provider's cache of OLD.
    """
    write_path(Discussion(open_project_here(config), old).fork(new))


@discussion.command()
@click.argument("name")
@config_option
@flag("-y --yes", "Delete without asking.")
def delete(name: str, config: Path, yes: bool) -> None:
    """Delete a discussion permanently; print the path of its file."""
    discussion = Discussion(open_project_here(config), name)
    turns = discussion.turns()
    if turns.path is None:
        raise ConfigError(f'the discussion "{name}" has no file of its own', path=str(config))
    if not yes:
        agree(
            f'Delete the discussion "{name}", {counted(len(turns.written), "turn")}, permanently?'
        )
    discussion.delete()
    write_path(turns.path)
    if turns.configured:
        say(f"{counted(len(turns.configured), 'turn')} of it stay in {config}")
