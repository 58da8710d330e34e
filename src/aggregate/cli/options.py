"""Options shared by several commands, and the groups that their values form."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aggregate.base.files import GeneratedView
from aggregate.base.task_budget import Amount, parse_amount, parse_number
from aggregate.project.configuration import CONFIG_NAME, nearest_config
from aggregate.project.paths import ALLOW_OUTSIDE, ALLOW_SECRETS

if TYPE_CHECKING:
    from aggregate.project.configuration import Project

Command = Callable[..., None]
Decorator = Callable[[Command], Command]
GroupT = TypeVar("GroupT")
SHOWN = 100  # characters of a wrong value in an error
FILE = click.Path(path_type=Path, dir_okay=False)
PATH = click.Path(path_type=Path)


class FiniteRange(click.FloatRange):
    """An option's number within bounds, but not ``nan`` or ``inf``."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


COUNT = click.IntRange(min=1)
POSITIVE = FiniteRange(min=0, min_open=True)


def option(names: str, metavar: str, text: str, **more: Any) -> Decorator:  # noqa: ANN401 - click's
    """Return an option with a value; ``names`` may end with the name of the parameter."""
    return click.option(*names.split(), metavar=metavar or None, help=text, **more)


def flag(names: str, text: str, **more: Any) -> Decorator:  # noqa: ANN401 - click's
    return click.option(*names.split(), is_flag=True, help=text, **more)


def number(
    name: str,
    text: str,
    kind: click.IntRange | click.FloatRange = COUNT,
    *,
    metavar: str = "N",
    default: float | None = None,
) -> Decorator:
    show = default is not None
    return option(name, metavar, text, type=kind, default=default, show_default=show)


def together(*decorators: Decorator) -> Decorator:
    """Return a decorator that adds several options in this order."""
    return lambda command: reduce(lambda made, add: add(made), reversed(decorators), command)


def take(group: type[GroupT], values: dict[str, Any]) -> GroupT:
    """Return a group of options, a dataclass; remove them from a command's ``values``."""
    names = [field.name for field in fields(group)]  # type: ignore[arg-type]
    return group(**{name: values.pop(name) for name in names if name in values})


@dataclass(frozen=True, slots=True)
class AskedProject:
    """The project of a command, and the files that it may read besides."""

    config: Path
    allow_outside: bool | None = None
    allow_secrets: bool | None = None

    def configured(self) -> "Project":
        """Open the project of the configuration, which must exist."""
        from aggregate.prompt.asking import open_project  # the list of commands does not load it

        outside, secrets = self.allow_outside, self.allow_secrets
        return open_project(self.config, allow_outside=outside, allow_secrets=secrets)


def parsed_by(parse: Callable[[str], Amount | str]) -> Callable[..., Amount | str | None]:
    """Return a callback that reports the parser's ``ValueError``."""

    def callback(
        context: click.Context, parameter: click.Parameter, value: str | None
    ) -> Amount | str | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            message = f"it {error}, not {(value or '')[:SHOWN]!r}"
            raise click.BadParameter(message, ctx=context, param=parameter) from None

    return callback


number_of_tokens = parsed_by(parse_number)


def budget_option(text: str, *, may_be_all: bool = False) -> Decorator:
    def parse(value: str) -> Amount | str:
        from aggregate.prompt import NO_BUDGET  # the list of commands does not load it

        return value if may_be_all and value == NO_BUDGET else parse_amount(value)

    metavar = "N|auto|all" if may_be_all else "N|auto"
    return option("--budget", metavar, text, callback=parsed_by(parse))


run_budget_option = budget_option(
    "Limit the prompt's tokens: 32000, 32k, auto, or all for no limit.", may_be_all=True
)
config_option = option(
    "-c --config",
    "",
    f"Read this configuration; by default the nearest {CONFIG_NAME}, up to the root of the repository.",
    type=FILE,
    callback=lambda _context, _option, path: nearest_config() if path is None else path,
)
scope_options = together(
    flag(ALLOW_OUTSIDE, "Read files outside the project if its files name them.", default=None),
    flag(ALLOW_SECRETS, "Read files that look like secrets, if you name them.", default=None),
)
quiet_option = flag("-q --quiet", "Print only the result and errors.")
verbose_option = flag("-v --verbose", "Print hints again, and compare with the last prompt.")
json_option = flag("--json as_json", "Print the result as JSON.")
generated_option = option(
    "--generated",
    "",
    "Show generated files that globs match in this way; by default by name, or as configured.",
    type=click.Choice([view.value for view in GeneratedView]),
)
cache_options = together(
    flag("--no-cache", "Use no stored results, and store none."),
    flag("--verify", "Read even files that seem unchanged."),
)
preset_option = option("--preset", "NAME", "Use this preset (default: active).")
base_url_option = option("--base-url", "URL", "Send requests to this address.", default="")
tools_option = option(
    "--tools folder", "DIR", "Run the Python files in this folder and use their tools.", type=PATH
)
allow_option = option(
    "--allow",
    "",
    "Permit tools to do this besides reading. Repeatable.",
    multiple=True,
    type=click.Choice(["write", "network"]),
)
task_option = option(
    "--task",
    "TEXT",
    "Choose files for this task: your words, @FILE to read them from a file, or - from standard input.",
)


def _focus(more: str = "") -> Decorator:
    return option(
        "--focus",
        "PATH[:LINE[-LINE]]",
        f"Show this file, or the code around these lines, and rank from there{more}. Repeatable.",
        multiple=True,
        type=click.Path(),  # for shell completion
    )


_symbol = option(
    "--symbol symbols",
    "NAME",
    "Rank from the definitions of this name, or of Class.name. Repeatable.",
    multiple=True,
)
_since = option(
    "--since",
    "REV",
    "Rank from the changes since this git revision, such as HEAD for uncommitted ones.",
    default="",
)
turn_seed_options = together(_focus(), _symbol, _since)
run_seed_options = together(
    _focus(
        "; without task and budget, or with --tier 3, make a Tier 3 context with this file in full"
    ),
    _symbol,
)


def _discussion(text: str, usual: str) -> Decorator:
    text = f"{text} in this discussion; by default in {usual}; none: without a discussion."
    return option("--discussion", "NAME", text, default="")


turn_discussion_option = _discussion("Ask", "the one without a name")
run_discussion_option = _discussion("Show the turns", "the configured one")


def _redact(usual: str) -> Decorator:
    text = f"Replace secrets, such as keys and passwords, by placeholders ({usual})."
    return click.option("--redact/--no-redact", default=None, help=text)


turn_redact_option = _redact("default")
run_redact_option = _redact("default with a task or a budget")
