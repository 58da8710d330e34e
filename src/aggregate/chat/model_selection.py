"""Who is asked: what the user chose, what a persona or ``[send]`` names, and which address may be given a key."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aggregate.chat.send_settings import OPTION, USUAL, SendSettings, Source, send_settings
from aggregate.clients.address import display_address, is_loopback, origin
from aggregate.clients.capabilities import Effort
from aggregate.clients.client import Client
from aggregate.clients.clouds import check_not_from_project
from aggregate.clients.providers import PROVIDERS, open_client, provider_of_model
from aggregate.config.load import Project
from aggregate.config.schema import PersonaTable
from aggregate.config.user import global_config_path, is_trusted, user_config
from aggregate.disk.roots import project_root
from aggregate.errors import ClientSetupError, ConfigError, ProviderError
from aggregate.models.amounts import Amount
from aggregate.prompt_cache.policy import COMPATIBLE

NO_KEYS: Final[Mapping[str, str]] = {}
USUAL_MAX_OUTPUT: Final = 16_000
"""Tokens of the longest answer that is asked for by default: all models can write as many, and few need more."""


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Who is asked; empty fields are taken from the persona, then from ``[send]``, then from the provider.

    Attributes:
        provider: One of ``aggregate.clients.providers.NAMES``.
        model: The provider's name of the model, or an alias of ``[send.aliases]``.
        persona: The name of a persona in the configuration.
        base_url: Where the provider is reached.
        max_output: The most tokens that the model may write; ``None`` leaves it to the configuration.
        redact: Whether secrets are replaced; ``None`` leaves it to the user's configuration.
        budget: The most tokens of the whole request by the provider's count, or ``"auto"``; ``None`` leaves it to the
            persona, then to the configuration.
        cache: How long the provider's cache is to keep what is sent: ``auto``, ``5m``, ``1h`` or ``off``; ``""`` leaves
            it to the configuration.
        effort: How long the model thinks before it answers; ``None`` leaves it to the model.
        temperature: How freely it chooses its words; ``None`` leaves it to the model.
        system: The instructions, ``""`` for the persona's.
        discussion: Which discussion goes on, ``""`` for the default one; a new name begins one, and ``"none"`` is a
            question outside of all.
    """

    provider: str = ""
    model: str = ""
    persona: str = ""
    base_url: str = ""
    max_output: int | None = None
    redact: bool | None = None
    budget: Amount | str | None = None
    cache: str = ""
    effort: Effort | None = None
    temperature: float | None = None
    system: str = ""
    discussion: str = ""


@dataclass(frozen=True, slots=True)
class SelectedModel:
    """Who is asked.

    Attributes:
        client: Reaches the model.
        persona: Has the instructions.
        address: Where it is sent, ``""`` for the provider's own address.
        warnings: What of the persona is not used, and what its project has named.
        max_output: The most tokens that the model may write.
        origins: Where each choice is from: ``provider``, ``model``, and ``persona`` and ``max_output`` if they are no
            usual ones.
    """

    client: Client
    persona: PersonaTable
    address: str = ""
    warnings: tuple[str, ...] = ()
    max_output: int = USUAL_MAX_OUTPUT
    origins: Mapping[str, str] = field(default_factory=dict)


def select_model(
    project: Project,
    selection: ModelSelection,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> SelectedModel:
    """Return who is asked: by an option, else the persona, else ``[send]`` of the project, else that of the user.

    A model and an address belong to the provider that is named with them.

    Args:
        project: Where personas and defaults are looked up first.
        selection: What the user says, which goes before all else.
        environ: Where keys are read from, by default the process's environment.
        on_wait: Called with the seconds before each wait and its reason.
        require_key: Off for a request that is planned and not sent.

    Raises:
        ConfigError: There is no such persona, or the project names an address that the user does not.
        ClientSetupError: A key or a name is missing, or the model is another provider's.
    """
    settings = send_settings(
        project,
        provider=selection.provider,
        model=selection.model,
        persona=selection.persona,
        base_url=selection.base_url,
    )
    provider = _provider(settings)
    address = _address(settings, provider.provider)
    model = _model(settings, provider, has_address=bool(address.base_url))
    warnings = (*settings.notes, *_unused(settings, provider.provider))
    if provider.key:
        check_not_from_project(provider.provider)
    if address.key:
        environ, address_warnings = _for_project_address(project, address, provider, environ)
        warnings += address_warnings
    client = open_client(
        provider.provider,
        model=model.model,
        base_url=address.base_url,
        environ=environ,
        on_wait=on_wait,
        require_key=require_key,
    )
    max_output, output_from = _max_output(settings, selection)
    origins = {"provider": provider.name, "model": model.name} | output_from
    if settings.persona_name:
        origins["persona"] = settings.persona_name
    decided: tuple[str, ...] = ()
    if not is_trusted(project_root(project.folder)):
        decided = _decided_by_project(settings, client, (provider, model), selection)
    return SelectedModel(
        client,
        settings.persona,
        display_address(address.base_url) if address.base_url else "",
        (*warnings, *decided),
        max_output,
        origins,
    )


def _provider(settings: SendSettings) -> Source:
    """Return which source names the provider; an address that the caller names alone is of no provider but one's own.

    Where nobody names a provider, the model tells it.
    """
    options = settings.options
    address = [Source(OPTION, COMPATIBLE)] if options.base_url else []
    ordered = [options, settings.by_persona, *address, *settings.defaults]
    named = next((source for source in ordered if source.provider), None)
    if named is not None:
        return named
    for source in settings.sources:
        if source.model:
            return replace(source, provider=provider_of_model(source.model))
    return Source(OPTION)


def _address(settings: SendSettings, provider: str) -> Source:
    """Return which source names the address, if any; one of another provider does not count."""
    options = settings.options
    if options.base_url:
        return options
    named = (source for source in settings.sources if source.base_url)
    return next((source for source in named if source.provider == provider), Source(""))


def _model(settings: SendSettings, provider: Source, *, has_address: bool) -> Source:
    """Return which source names the model.

    Raises:
        ClientSetupError: It is known to be another company's than the one that is asked at its own address.
    """
    for source in settings.sources:
        if not source.model:
            continue
        is_default = source in settings.defaults
        if source.fits(provider.provider):
            return source
        # An option goes through as it is with a provider of the same rank; a persona and an option of lower rank are
        # looked at.
        if source is settings.options and (provider.name == OPTION or has_address):
            return source
        if source.provider or is_default:
            continue
        if has_address:
            return source
        _refuse(source, provider)
    return Source(USUAL)


def _refuse(source: Source, provider: Source) -> None:
    maker = provider_of_model(source.model)
    if source.name == OPTION:
        raise ClientSetupError(
            f"{provider.provider}, which {provider.name} names, does not have the model {source.model}: add --provider "
            f"{maker}"
        )
    raise ClientSetupError(
        f"{source.name} names the model {source.model}, which {provider.provider} does not have: "
        f"add --model, or take --provider {maker}"
    )


def _unused(settings: SendSettings, provider: str) -> tuple[str, ...]:
    """Return a warning of what a persona names for another provider than the one that is asked."""
    persona, options = settings.by_persona, settings.options
    if not persona.provider or persona.provider == provider:
        return ()
    names = []
    if persona.model and not options.model:
        names.append(f"model {persona.model}")
    if persona.base_url and not options.base_url:
        names.append(f"address {display_address(persona.base_url)}")
    if not names:
        return ()
    what = f"{persona.name} names the {' and the '.join(names)} for {persona.provider}"
    return (f"{what}: not used with --provider {provider}",)


def _max_output(settings: SendSettings, selection: ModelSelection) -> tuple[int, dict[str, str]]:
    """Return the most tokens of the answer, and where that is from."""
    if selection.max_output is not None:
        return selection.max_output, {"max_output": OPTION}
    for name, table in settings.tables:
        if table.max_output is not None:
            return table.max_output, {"max_output": name}
    return USUAL_MAX_OUTPUT, {}


def _decided_by_project(
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
    return (f"chosen by the project's own configuration: {', '.join(said)}",) if said else ()


def _for_project_address(
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
