"""Who is asked: what the user chose, what a persona names, and which address may be given a key."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from aggregate.clients.address import display_address, is_loopback, origin
from aggregate.clients.client import Client
from aggregate.clients.providers import PROVIDERS, open_client, provider_of_model
from aggregate.compose.project import find_persona, shared_personas
from aggregate.config.load import Project
from aggregate.config.schema import PersonaTable
from aggregate.config.user import global_config_path
from aggregate.errors import ClientSetupError, ConfigError, ProviderError
from aggregate.models.amounts import Amount
from aggregate.prompt_cache.policy import COMPATIBLE

NO_KEYS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Who is asked; empty fields are taken from the persona, then from the provider.

    Attributes:
        provider: One of ``aggregate.clients.providers.NAMES``.
        model: The provider's name of the model.
        persona: The name of a persona in the configuration.
        base_url: Where the provider is reached.
        max_output: The most tokens that the model may write.
        redact: Whether secrets are replaced; ``None`` leaves it to the user's configuration.
        budget: The most tokens of the whole request by the provider's count, or ``"auto"``; ``None`` leaves it to the
            persona, then to the configuration.
        cache: How long the provider's cache is to keep what is sent: ``auto``, ``5m``, ``1h`` or ``off``; ``""`` leaves
            it to the configuration.
        once: Whether no further turn follows: then nothing is written to a cache.
    """

    provider: str = ""
    model: str = ""
    persona: str = ""
    base_url: str = ""
    max_output: int = 16_000
    redact: bool | None = None
    budget: Amount | str | None = None
    cache: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True)
class SelectedModel:
    """Who is asked.

    Attributes:
        client: Reaches the model.
        persona: Has the instructions.
        address: Where it is sent, ``""`` for the provider's own address.
        warnings: What of the persona is not used, and what its project has named.
    """

    client: Client
    persona: PersonaTable
    address: str = ""
    warnings: tuple[str, ...] = ()


def select_model(
    project: Project,
    selection: ModelSelection,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> SelectedModel:
    """Return who is asked; a persona's model and address belong to the persona's own provider.

    Args:
        project: Where personas are looked up first.
        selection: What the user says, which goes before the persona.
        environ: Where keys are read from, by default the process's environment.
        on_wait: Called with the seconds before each wait and its reason.
        require_key: Off for a request that is planned and not sent.

    Raises:
        ConfigError: There is no such persona, or the project names an address that the user does not.
        ClientSetupError: A key or a name is missing, or the persona's model is another provider's.
    """
    persona = find_persona(project, selection.persona)
    own_provider = persona.provider or (COMPATIBLE if persona.base_url else "")
    provider = selection.provider or own_provider
    fits = not own_provider or provider == own_provider
    model = selection.model or (persona.model if fits else "")
    base_url = selection.base_url or (persona.base_url if fits else "")
    warnings = () if fits else _unused(persona, selection, own_provider)
    if not own_provider and not base_url and not selection.model:
        _check_model(persona, provider, selection)
    is_projects_persona = project.path is not None and selection.persona in project.config.personas
    if base_url and not selection.base_url and is_projects_persona:
        environ, address_warnings = _for_project_address(
            project, selection.persona, provider, base_url, environ
        )
        warnings += address_warnings
    client = open_client(
        provider,
        model=model,
        base_url=base_url,
        environ=environ,
        on_wait=on_wait,
        require_key=require_key,
    )
    return SelectedModel(client, persona, display_address(base_url) if base_url else "", warnings)


def _unused(persona: PersonaTable, selection: ModelSelection, own_provider: str) -> tuple[str, ...]:
    """Return a warning of what a persona names for another provider than the one that is asked."""
    names = []
    if persona.model and not selection.model:
        names.append(f"model {persona.model}")
    if persona.base_url and not selection.base_url:
        names.append(f"address {display_address(persona.base_url)}")
    if not names:
        return ()
    what = f'persona "{selection.persona}" names the {" and the ".join(names)} for {own_provider}'
    return (f"{what}: not used with --provider {selection.provider}",)


def _check_model(persona: PersonaTable, provider: str, selection: ModelSelection) -> None:
    """Refuse a model that is known to be another company's than the one that is asked at its own address."""
    maker = provider_of_model(persona.model)
    if (
        maker
        and provider in PROVIDERS
        and maker != provider.removesuffix("-cli")
        and provider != COMPATIBLE
    ):
        raise ClientSetupError(
            f'persona "{selection.persona}" names the model {persona.model}, which {provider} does not have: '
            f"add --model, or take --provider {maker}"
        )


def _for_project_address(
    project: Project, name: str, provider: str, base_url: str, environ: Mapping[str, str] | None
) -> tuple[Mapping[str, str] | None, tuple[str, ...]]:
    """Return where keys are read from for an address that a project's own file names, and what to say of it.

    Else a project that came from somebody else could have the key, and the prompt, sent to an address of theirs.

    Raises:
        ConfigError: The user names this address nowhere, and it is not this machine.
    """
    users_own = shared_personas().values()
    known = {
        (persona.provider or COMPATIBLE, origin(persona.base_url))
        for persona in users_own
        if persona.base_url
    }
    if (provider, origin(base_url)) in known:
        return environ, ()
    if provider == COMPATIBLE and is_loopback(base_url):
        keys = os.environ if environ is None else environ
        has_key = any(keys.get(variable) for variable in PROVIDERS[COMPATIBLE].keys)
        hint = " (a key is sent with --base-url only)" if has_key else ""
        return NO_KEYS, (
            f"the project names the address {display_address(base_url)}: sent there without a key{hint}",
        )
    where = f"move the persona to {global_config_path()}, or add --base-url"
    what = (
        f"the project names the address {display_address(base_url)}, which you have not: to send to it, {where}"
        if provider == COMPATIBLE
        else f"a project's persona may name an address for {COMPATIBLE} only, so that no key is sent there: {where}"
    )
    raise ConfigError(what, path=str(project.path), key=f"personas.{name}.base_url")
