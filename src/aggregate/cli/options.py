"""Options shared by several commands."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path

import click

from aggregate.base.files import GeneratedView
from aggregate.project.configuration import CONFIG_NAME, nearest_config
from aggregate.project.paths import ALLOW_OUTSIDE, ALLOW_SECRETS

Command = Callable[..., None]
Decorator = Callable[[Command], Command]
_PATH = click.Path(path_type=Path, dir_okay=False)


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


def limit_option(
    name: str,
    text: str,
    kind: click.IntRange | click.FloatRange = COUNT,
    *,
    metavar: str = "N",
    default: float | None = None,
) -> Decorator:
    show = default is not None
    return click.option(
        name, type=kind, metavar=metavar, default=default, show_default=show, help=text
    )


config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    callback=lambda _context, _option, path: nearest_config() if path is None else path,
    help=f"Read this configuration; by default the nearest {CONFIG_NAME}, up to the root of the repository.",
)
new_config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    default=Path(CONFIG_NAME),
    show_default=True,
    help="The configuration file to write.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only the result and errors.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Print hints again, and compare with the last prompt."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
generated_option = click.option(
    "--generated",
    type=click.Choice([view.value for view in GeneratedView]),
    help="Show generated files that globs match in this way; by default by name, or as configured.",
)


def cache_options(command: Command) -> Command:
    no_cache = click.option(
        "--no-cache", is_flag=True, help="Use no stored results, and store none."
    )
    verify = click.option("--verify", is_flag=True, help="Read even files that seem unchanged.")
    return no_cache(verify(command))


def discussion_option(text: str, usual: str = "the one without a name") -> Decorator:
    text = f"{text} in this discussion; by default in {usual}; none: without a discussion."
    return click.option("--discussion", metavar="NAME", default="", help=text)


def redact_option(*, sending: bool) -> Decorator:
    usual = "default" if sending else "default with a task or a budget"
    text = f"Replace secrets, such as keys and passwords, by placeholders ({usual})."
    return click.option("--redact/--no-redact", default=None, help=text)


preset_option = click.option("--preset", metavar="NAME", help="Use this preset (default: active).")
base_url_option = click.option(
    "--base-url", metavar="URL", default="", help="Send requests to this address."
)
tools_option = click.option(
    "--tools",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Run the Python files in this folder and use their tools.",
)
allow_option = click.option(
    "--allow",
    multiple=True,
    type=click.Choice(["write", "network"]),
    help="Permit tools to do this besides reading. Repeatable.",
)


def scope_options(command: Command) -> Command:
    text = "Read files outside the project if its files name them."
    outside = click.option(ALLOW_OUTSIDE, is_flag=True, default=None, help=text)
    text = "Read files that look like secrets, if you name them."
    secrets = click.option(ALLOW_SECRETS, is_flag=True, default=None, help=text)
    return outside(secrets(command))
