"""``--remote``: a repository that the user names, brought into the cache, of which nothing is trusted."""

from dataclasses import replace

from aggregate.base.disk.witnesses import doubt
from aggregate.cli.output import say
from aggregate.project.configuration import CONFIG_NAME, Project, unconfigured
from aggregate.project.git import Remote
from aggregate.prompt import open_project


def open_remote(named: str, *, allow_secrets: bool | None, tells: bool) -> Project:
    """Return the project of all files of a repository, as if it had no configuration (rule T-6)."""
    remote = Remote.parse(named)
    doubt("a repository elsewhere was asked for")  # it may have changed there
    if tells:
        say(f"fetching {remote.url}")
    bare = unconfigured(remote.fetch() / CONFIG_NAME)
    project = replace(bare.config.project, name=remote.name)
    named_project = replace(bare, config=replace(bare.config, project=project))
    return open_project(named_project, allow_outside=False, allow_secrets=allow_secrets)
