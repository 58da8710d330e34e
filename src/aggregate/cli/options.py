"""Options that several commands take."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path

import click

from aggregate.base.files import GeneratedView
from aggregate.project.configuration import CONFIG_NAME, nearest_config
from aggregate.project.paths import ALLOW_OUTSIDE, ALLOW_SECRETS

_PATH = click.Path(path_type=Path, dir_okay=False)


class FiniteRange(click.FloatRange):
    """A number within bounds; ``nan`` and ``inf`` are none, though Python reads them and no bound excludes them."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    callback=lambda _context, _option, named: nearest_config() if named is None else named,
    help=f"Read this configuration; by default the nearest {CONFIG_NAME}, up to the root of the repository.",
)
new_config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    default=Path(CONFIG_NAME),
    show_default=True,
    help="Write this file.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing but the result and errors."
)
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Repeat the hints that a project shows once."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
generated_option = click.option(
    "--generated",
    type=click.Choice([view.value for view in GeneratedView]),
    help="Show generated files that a glob stands for like this; by default as the configuration says, else by name.",
)


def cache_options(command: Callable[..., None]) -> Callable[..., None]:
    no_cache = click.option(
        "--no-cache",
        is_flag=True,
        help="Compute everything anew and keep nothing for the next run.",
    )
    verify = click.option(
        "--verify",
        is_flag=True,
        help="Read every file, also those that seem unchanged since an earlier run.",
    )
    return no_cache(verify(command))


def discussion_option(
    text: str, usual: str = "the one without a name"
) -> Callable[..., Callable[..., None]]:
    return click.option(
        "--discussion",
        metavar="NAME",
        default="",
        help=f"{text} in this discussion; by default in {usual}, and with none outside of all.",
    )


def redact_option(*, sending: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    usual = "" if sending else " with a task or a budget"
    text = f"Replace secrets, such as keys and passwords, by placeholders; by default they are replaced{usual}."
    return click.option("--redact/--no-redact", default=None, help=text)


base_url_option = click.option(
    "--base-url", metavar="URL", default="", help="Reach the provider at this address."
)
tools_option = click.option(
    "--tools",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take more tools from the Python files in this folder; they are run.",
)
allow_option = click.option(
    "--allow",
    multiple=True,
    type=click.Choice(["write", "network"]),
    help="Let tools do this besides reading. Repeatable.",
)


def scope_options(command: Callable[..., None]) -> Callable[..., None]:
    outside = click.option(
        ALLOW_OUTSIDE,
        is_flag=True,
        default=None,
        help="Read files outside the project that its files name.",
    )
    secrets = click.option(
        ALLOW_SECRETS,
        is_flag=True,
        default=None,
        help="Read files that look like secrets where they are named.",
    )
    return outside(secrets(command))
