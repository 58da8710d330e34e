"""The table of commands, so that a list of them loads none of them."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.exceptions import NoSuchCommand

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "Compose the prompt and write it to the next numbered file; print its path."),
    "send": ("send", "Send the prompt with MESSAGE at its end, print the answer, and add both to the discussion."),
    "diff": ("diff", "Show how many tokens of the prefix of EARLIER are kept in LATER, and which file ends it."),
    "goal": ("goal", "Reach GOAL step by step and print the answer."),
    "conduct": ("conduct", "Run the tickets of TRACK, or go on with its unfinished run; print the report's path."),
    "worker": ("conduct", "Work on the tickets of every track on a database until interrupted."),
    "init": ("init", "Write a commented manual_slop.toml for the project in this folder."),
    "preset": ("preset", "List, show, save, apply and delete named compositions of files and screenshots."),
    "trust": ("trust", "Let the project around PATH read files outside of it; print its root."),
    "stats": ("stats", "Show the files by folder: lines, definitions, and tokens in each view."),
    "view": ("view", "Print one file as a view shows it."),
    "prune": ("run", "Delete all but the newest prompts; print what was deleted."),
    "results": ("results", "Fold the results of many producers, one file each, into one."),
    "languages": ("view", "List the languages with their suffixes."),
    "schema": ("view", "Print the JSON Schema of manual_slop.toml."),
}
"""Each command's module here, and what the list says of it, which a test compares with the command's own help."""

DEFAULT = "run"
"""The command that is meant where none is named."""

_WHOLE = 1_000


class Described(click.Group):
    """A group whose list shows the whole first sentence of each command, and not as much of it as fits into a line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.sentences().items()))

    def sentences(self) -> dict[str, str]:
        """Return what the list says, by command."""
        return {name: command.get_short_help_str(_WHOLE) for name, command in self.commands.items()}


class Commands(Described):
    """A group whose commands are loaded when they are asked for; options alone are those of the default command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def sentences(self) -> dict[str, str]:
        """Return the list from the table."""
        return {name: text for name, (_, text) in COMMANDS.items()}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hand over to the default command where the first argument is an option of its own, or there is none."""
        completing = ctx.resilient_parsing
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if (not args and not completing) or (args and args[0].startswith("-") and args[0] not in {*own, "-", "--"}):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that is mistyped is answered with the nearest."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands, and the options of the default command."""
        items = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return items
        default = load(DEFAULT)
        known = {item.value for item in items}
        with click.Context(default, parent=ctx, info_name=DEFAULT) as context:
            return items + [item for item in default.shell_complete(context, incomplete) if item.value not in known]


def load(name: str) -> click.Command:
    """Return the command called ``name``, which is also its name in its module."""
    command: click.Command = getattr(import_module(f"aggregate.cli.{COMMANDS[name][0]}"), name)
    return command
