"""``discussion``: list, show, fork, rename and delete the discussions of a project."""

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click

from aggregate.base.errors import ConfigError
from aggregate.base.tokens import count
from aggregate.cli.commands import Described
from aggregate.cli.opened_project import open_project_here
from aggregate.cli.options import config_option, json_option
from aggregate.cli.output import counted, say, write_path, write_result, write_rows
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, named_discussions
from aggregate.prompt import DiscussionTurns
from aggregate.prompt.sections import build_discussion_section
from aggregate.sending import delete_discussion, fork_discussion, project_discussion


@click.group(cls=Described)
def discussion() -> None:
    """List, show, fork, rename and delete discussions."""


class _Row(NamedTuple):
    name: str
    turns: int
    tokens: int
    used: float | None
    continues: str


@discussion.command("list")
@config_option
@json_option
def list_(config: Path, as_json: bool) -> None:
    """List the discussions with their turns, tokens and when they were last used."""
    project = open_project_here(config)
    rows = [_row(project, name) for name in ("", *named_discussions(config))]
    if as_json:
        write_result(json.dumps([row._asdict() for row in rows], indent=2))
        return
    for row in rows:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.used)) if row.used else "-"
        origin = f"goes on from {row.continues}" if row.continues else ""
        columns = (row.name, counted(row.turns, "turn"), f"{row.tokens:,} tokens", used, origin)
        write_rows("\t".join(columns).rstrip())


@discussion.command()
@click.argument("name")
@config_option
@json_option
def show(name: str, config: Path, as_json: bool) -> None:
    """Print the turns of a discussion as a prompt shows them."""
    turns = project_discussion(open_project_here(config), name)
    if as_json:
        write_result(json.dumps(turns.all, indent=2, default=str))
    else:
        write_result(build_discussion_section(turns.all))


@discussion.command()
@click.argument("old")
@click.argument("new")
@config_option
def fork(old: str, new: str, config: Path) -> None:
    """Begin the discussion NEW with all turns of OLD; print the path of its file.

    What the provider's cache holds of OLD is read by NEW, too.
    """
    write_path(fork_discussion(open_project_here(config), old, new))


@discussion.command()
@click.argument("old")
@click.argument("new")
@config_option
def rename(old: str, new: str, config: Path) -> None:
    """Give the discussion OLD the name NEW; print the path of its file."""
    project = open_project_here(config)
    turns = project_discussion(project, old)
    if turns.configured:
        raise ConfigError(
            f'{len(turns.configured)} of its turns stand in the configuration: use "aggregate discussion fork"',
            path=str(config),
        )
    path = fork_discussion(project, old, new)
    delete_discussion(project, turns)
    write_path(path)


@discussion.command()
@click.argument("name")
@config_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def delete(name: str, config: Path, yes: bool) -> None:
    """Delete a discussion for good; print the path of its file."""
    project = open_project_here(config)
    turns = project_discussion(project, name)
    if turns.path is None:
        raise ConfigError(f'the discussion "{name}" has no file of its own', path=str(config))
    if not yes:
        _ask(name, turns)
    delete_discussion(project, turns)
    write_path(turns.path)
    if turns.configured:
        say(f"{counted(len(turns.configured), 'turn')} of it stay in {config}")


def _row(project: Project, name: str) -> _Row:
    turns = project_discussion(project, name)
    continues = "" if turns.continues is None else turns.continues or DEFAULT
    used = turns.path.stat().st_mtime if turns.path else None
    tokens = count(build_discussion_section(turns.all))
    return _Row(name or DEFAULT, len(turns.all), tokens, used, continues)


def _ask(name: str, turns: DiscussionTurns) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("nobody is here to be asked: add --yes")
    question = f'Delete the discussion "{name}", {counted(len(turns.written), "turn")}, for good?'
    click.confirm(question, abort=True, err=True)
