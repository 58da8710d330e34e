"""``init``: write the first configuration of a project."""

from pathlib import Path

import click

from aggregate.cli.options import new_config_option
from aggregate.cli.output import say, write_path


@click.command()
@new_config_option
def init(config: Path) -> None:
    """Write a commented manual_slop.toml for the project in this folder."""
    from aggregate.config.template import first_config
    from aggregate.errors import ConfigError, OutputError
    from aggregate.sources.listing import Listing
    from aggregate.syntax.languages import LANGUAGES, Kind

    folder = config.parent
    files = Listing().files(str(folder))
    suffixes = [suffix for language in LANGUAGES if language.kind is Kind.CODE for suffix in language.suffixes]
    text = first_config(folder.resolve().name, files, suffixes)
    try:
        with config.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError("exists already: edit it, or delete it first", path=str(config)) from None
    except OSError as error:
        raise OutputError(f"cannot write {config}: {error.strerror or error}") from error
    write_path(config)
    say(f"found {len(files):,} files; next: aggregate run")
