"""Who is asked: what the user chose, what a persona or ``[send]`` names, and which address may be given a key."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aggregate.base.disk import project_root
from aggregate.base.errors import ClientSetupError, ConfigError, ProviderError
from aggregate.base.values import Amount
from aggregate.project.configuration import (
    PersonaTable,
    Project,
    global_config_path,
    is_trusted,
    user_config,
)
from aggregate.prompt import discussion_turns, is_users_own, scope_of
from aggregate.sending.cache.policy import COMPATIBLE, SCRIPTED
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.clouds import check_not_from_project
from aggregate.sending.clients.credentials import display_address, is_loopback, origin
from aggregate.sending.clients.protocol import Effort
from aggregate.sending.clients.providers import PROVIDERS, open_client, provider_of_model
from aggregate.sending.send_settings import OPTION, USUAL, SendSettings, Source, send_settings

USUAL_MAX_OUTPUT: Final = 16_000
"""Tokens of the longest answer that is asked for by default: all models can write as many, and few need more."""


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Who is asked; empty fields are taken from the persona, then from ``[send]``, then from the provider.

    Attributes:
        provider: One of ``aggregate.sending.clients.providers.NAMES``.
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
        discussion: Which discussion goes on, ``""`` for the default one, or for that of the scripted client where it is
            asked; a new name begins one, and ``"none"`` is a question outside of all.
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
        effort: How long the model thinks, ``None`` for its own choice.
        temperature: How freely it chooses its words, ``None`` for its own choice.
        discussion: Which discussion goes on, ``""`` for the default one.
        origins: Where each choice is from: ``provider``, ``model``, and what else is no usual one: ``persona``,
            ``max_output``, ``effort``, ``temperature``.
    """

    client: Client
    persona: PersonaTable
    address: str = ""
    warnings: tuple[str, ...] = ()
    max_output: int = USUAL_MAX_OUTPUT
    effort: Effort | None = None
    temperature: float | None = None
    discussion: str = ""
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
    if project.config.models and not is_users_own(project.path):
        warnings += (f"[models] of a project is not used: write it to {global_config_path()}",)
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
    if not is_trusted(project_root(project.folder)):
        warnings += _decided_by_project(settings, client, (provider, model), selection)
    settled = _settled(settings, selection)
    origins = {"provider": provider.name, "model": model.name}
    origins |= {name: source for name, (source, _) in settled.items()}
    if settings.persona_name:
        origins["persona"] = settings.persona_name
    values = {name: value for name, (_, value) in settled.items()}
    return SelectedModel(
        client,
        settings.persona,
        display_address(address.base_url) if address.base_url else "",
        warnings,
        values.get("max_output", USUAL_MAX_OUTPUT),
        Effort(values["effort"]) if "effort" in values else None,
        values.get("temperature"),
        _discussion(project, selection, client.provider),
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


def _discussion(project: Project, selection: ModelSelection, provider: str) -> str:
    """Return which discussion goes on: where no model answers one of its own, unless one is named or configured."""
    if selection.discussion or provider != SCRIPTED or project.path is None:
        return selection.discussion
    turns = discussion_turns(project, None, scope=scope_of(project))
    return "" if turns.configured or turns.path else SCRIPTED


def _settled(settings: SendSettings, selection: ModelSelection) -> dict[str, tuple[str, Any]]:
    """Return settings that are no usual ones, with their sources: an option first, then the tables ``[send]``."""
    settled = {}
    for name in ("max_output", "effort", "temperature"):
        named = [(OPTION, getattr(selection, name))]
        named += [(source, getattr(table, name)) for source, table in settings.tables]
        chosen = next(((source, value) for source, value in named if value is not None), None)
        if chosen:
            settled[name] = chosen
    return settled


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
    if projects.effort is not None and selection.effort is None:
        said.append(f"effort {projects.effort}")
    if projects.cache == "1h":
        said.append("a cache that lives for an hour")
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
        return {}, (f"the project names the address {shown}: sent there without a key{hint}",)
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
