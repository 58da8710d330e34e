"""``diff``: what two prompts share, and which of their files differ."""

from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.cli.opened_project import open_project_here
from aggregate.cli.options import config_option
from aggregate.cli.output import write_rows
from aggregate.prompt import compare_manifests, read_audit, request_for
from aggregate.sending import find_prompt, read_request
from aggregate.sending.cache import compare_prefixes


@click.command()
@click.argument("earlier")
@click.argument("later")
@config_option
def diff(earlier: str, later: str, config: Path) -> None:
    """Show how many tokens of the prefix of EARLIER are kept in LATER, and which file ends it.

    Both are numbers or paths of prompts that run or send has written. Where both were written for a task or a budget,
    the files follow that are new, gone, changed or shown at another level.
    """
    request = request_for(open_project_here(config), with_history=False)
    fingerprints, audits = [], []
    for name in (earlier, later):
        path = find_prompt(request.output_dir, request.namespace, name)
        logged = read_request(path)
        if logged is None:
            raise ConfigError(
                "nothing is recorded of this prompt: name one that run or send has written",
                path=str(path),
            )
        fingerprints.append(logged.fingerprint)
        audits.append(read_audit(path))
    write_rows(compare_prefixes(*fingerprints).sentence)
    before, after = audits
    if before and after:
        write_rows(*(change.sentence for change in compare_manifests(before, after)))
