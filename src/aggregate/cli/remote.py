"""``--remote``: fetch a repository into the cache, and open it without trusting it."""

from dataclasses import replace

from aggregate.base.disk.witnesses import doubt
from aggregate.cli.output import say
from aggregate.project.configuration import CONFIG_NAME, Project, unconfigured
from aggregate.project.git import Remote
from aggregate.prompt import open_project


def open_remote(address: str, *, allow_secrets: bool | None, tells: bool) -> Project:
    """Fetch a repository; return it as a project without configuration (rule T-6)."""
    remote = Remote.parse(address)
    doubt("a remote repository was fetched")  # it may have changed there
    if tells:
        say(f"fetching {remote.url}")
    bare = unconfigured(remote.fetch() / CONFIG_NAME)
    table = replace(bare.config.project, name=remote.name)
    project = replace(bare, config=replace(bare.config, project=table))
    return open_project(project, allow_outside=False, allow_secrets=allow_secrets)
