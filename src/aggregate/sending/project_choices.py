"""What a project that may be somebody else's chooses: which address gets a key, and what is said of the rest."""

import os
from collections.abc import Mapping
from typing import Final

from aggregate.base.errors import ConfigError
from aggregate.project.configuration import Project, global_config_path, user_config
from aggregate.sending.cache.policy import COMPATIBLE
from aggregate.sending.clients.address import display_address, is_loopback, origin
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.providers import PROVIDERS
from aggregate.sending.selected_model import ModelSelection
from aggregate.sending.send_settings import USUAL, SendSettings, Source

NO_KEYS: Final[Mapping[str, str]] = {}


def decided_by_project(
    settings: SendSettings,
    client: Client,
    chosen: tuple[Source, Source],
    selection: ModelSelection,
) -> tuple[str, ...]:
    """Return a sentence on what a project's own file has chosen without the user naming it: that may cost more."""
    provider, model = chosen
    said = []
    if provider.is_projects:
        said.append(f"provider {client.provider}")
    if model.is_projects or (provider.is_projects and model.name == USUAL):
        said.append(f"model {client.model}")
    projects = settings.projects
    if projects.persona and not selection.persona:
        said.append(f'persona "{projects.persona}"')
    if projects.max_output is not None and selection.max_output is None:
        said.append(f"answers of up to {projects.max_output:,} tokens")
    if projects.budget is not None and selection.budget is None and settings.persona.budget is None:
        said.append(f"budget {projects.budget}")
    if projects.effort is not None and selection.effort is None:
        said.append(f"effort {projects.effort}")
    if projects.cache == "1h":
        said.append("a cache that lives for an hour")
    return (f"chosen by the project's own configuration: {', '.join(said)}",) if said else ()


def for_project_address(
    project: Project, address: Source, provider: Source, environ: Mapping[str, str] | None
) -> tuple[Mapping[str, str] | None, tuple[str, ...]]:
    """Return where keys are read from for an address that a project's own file names, and what to say of it.

    Else a project that came from somebody else could have the key, and the prompt, sent to an address of theirs.

    Raises:
        ConfigError: The user names this address nowhere, and it is not this machine.
    """
    base_url = address.base_url
    if (provider.provider, origin(base_url)) in _known_addresses():
        return environ, ()
    shown = display_address(base_url)
    if provider.provider == COMPATIBLE and is_loopback(base_url):
        keys = os.environ if environ is None else environ
        has_key = any(keys.get(variable) for variable in PROVIDERS[COMPATIBLE].keys)
        hint = " (a key is sent with --base-url only)" if has_key else ""
        return NO_KEYS, (f"the project names the address {shown}: sent there without a key{hint}",)
    moved = "persona" if address.key.startswith("personas.") else "table [send]"
    where = f"move the {moved} to {global_config_path()}, or add --base-url"
    what = (
        f"the project names the address {shown}, which you have not: to send to it, {where}"
        if provider.provider == COMPATIBLE
        else f"a project's {moved} may name an address for {COMPATIBLE} only, so that no key is sent there: {where}"
    )
    raise ConfigError(what, path=str(project.path), key=address.key)


def _known_addresses() -> set[tuple[str, str]]:
    """Return the providers with the addresses that the user's own configuration names."""
    users = user_config()
    named = [(table.provider, table.base_url) for table in users.personas.values()]
    named.append((users.send.provider, users.send.base_url))
    return {(provider or COMPATIBLE, origin(url)) for provider, url in named if url}
