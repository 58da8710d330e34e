"""``languages``: what is supported."""

import click

from aggregate.cli.output import write_rows
from aggregate.code.syntax import HOW_TO_INSTALL, LANGUAGES


@click.command()
def languages() -> None:
    """List the languages with their suffixes."""
    width = max(len(language.name) for language in LANGUAGES)
    for language in LANGUAGES:
        names = " ".join((*language.suffixes, *language.names))
        missing = "" if language.is_installed else f"  (not installed: {HOW_TO_INSTALL})"
        write_rows(f"{language.name:<{width}}  {language.kind.value}  {names}{missing}")
