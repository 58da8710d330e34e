"""``languages``: what is supported."""

import click

from aggregate.cli.output import write_rows
from aggregate.syntax.languages import LANGUAGES


@click.command()
def languages() -> None:
    """List the languages with their suffixes."""
    width = max(len(language.name) for language in LANGUAGES)
    for language in LANGUAGES:
        names = " ".join((*language.suffixes, *language.names))
        write_rows(f"{language.name:<{width}}  {language.kind.value}  {names}")
