"""The table of commands, so that a list of them loads none of them."""

from collections.abc import Mapping
from importlib import import_module

import click

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "Compose the prompt and write it to the next numbered file; print its path."),
    "send": ("send", "Send the prompt with MESSAGE at its end, print the answer, and add both to..."),
    "diff": ("diff", "Show how many tokens of the prefix of EARLIER are kept in LATER, and which..."),
    "goal": ("goal", "Reach GOAL step by step and print the answer."),
    "conduct": ("conduct", "Run the tickets of TRACK, or go on with its unfinished run; print the..."),
    "worker": ("conduct", "Work on the tickets of every track on a database until interrupted."),
    "init": ("init", "Write a commented manual_slop.toml for the project in this folder."),
    "preset": ("preset", "Named compositions of files and screenshots."),
    "trust": ("trust", "Let the project around PATH read files outside of it; print its root."),
    "stats": ("stats", "Show the files by folder: lines, definitions, and tokens in each view."),
    "view": ("inspect", "Print one file as a view shows it."),
    "prune": ("run", "Delete all but the newest prompts; print what was deleted."),
    "results": ("results", "Fold the results of many producers, one file each, into one."),
    "languages": ("inspect", "List the languages with their suffixes."),
    "schema": ("inspect", "Print the JSON Schema of manual_slop.toml."),
}
"""Each command's module here, and what the list says of it, which a test compares with the command's own help."""


class Commands(click.Group):
    """A group whose commands are loaded when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def load(name: str) -> click.Command:
    """Return the command called ``name``, which is also its name in its module."""
    command: click.Command = getattr(import_module(f"aggregate.cli.{COMMANDS[name][0]}"), name)
    return command
