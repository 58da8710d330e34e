"""Who is asked: what the user chose, what a persona or ``[send]`` names, and which address may be given a key."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from aggregate.base.disk import project_root
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.project.configuration import Project, global_config_path, is_trusted
from aggregate.prompt import discussion_turns, is_users_own, scope_of
from aggregate.sending.cache.policy import COMPATIBLE, SCRIPTED
from aggregate.sending.clients.address import display_address
from aggregate.sending.clients.capabilities import Effort
from aggregate.sending.clients.clouds import check_not_from_project
from aggregate.sending.clients.providers import open_client, provider_of_model
from aggregate.sending.project_choices import decided_by_project, for_project_address
from aggregate.sending.selected_model import USUAL_MAX_OUTPUT
from aggregate.sending.selected_model import (
    ModelSelection as ModelSelection,  # part of this module's interface
)
from aggregate.sending.selected_model import SelectedModel as SelectedModel
from aggregate.sending.send_settings import OPTION, USUAL, SendSettings, Source, send_settings


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
        environ, address_warnings = for_project_address(project, address, provider, environ)
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
        warnings += decided_by_project(settings, client, (provider, model), selection)
    return SelectedModel(
        client,
        settings.persona,
        display_address(address.base_url) if address.base_url else "",
        warnings,
        _max_output(settings, selection),
        _effort(settings, selection),
        _temperature(settings, selection),
        _discussion(project, selection, client.provider),
        {"provider": provider.name, "model": model.name} | _origins(settings, selection),
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


def _max_output(settings: SendSettings, selection: ModelSelection) -> int:
    """Return the most tokens of the answer."""
    named = [selection.max_output, *(table.max_output for _, table in settings.tables)]
    return next((tokens for tokens in named if tokens is not None), USUAL_MAX_OUTPUT)


def _discussion(project: Project, selection: ModelSelection, provider: str) -> str:
    """Return which discussion goes on: where no model answers one of its own, unless one is named or configured."""
    if selection.discussion or provider != SCRIPTED or project.path is None:
        return selection.discussion
    turns = discussion_turns(project, None, scope=scope_of(project))
    return "" if turns.configured or turns.path else SCRIPTED


def _origins(settings: SendSettings, selection: ModelSelection) -> dict[str, str]:
    """Return where the settings of ``[send]`` that are no usual ones were chosen, and the persona, by their names."""
    origins = {}
    for setting in ("max_output", "effort", "temperature"):
        named = [(OPTION, getattr(selection, setting))]
        named += [(source, getattr(table, setting)) for source, table in settings.tables]
        chosen = next((source for source, value in named if value is not None), "")
        if chosen:
            origins[setting] = chosen
    if settings.persona_name:
        origins["persona"] = settings.persona_name
    return origins


def _effort(settings: SendSettings, selection: ModelSelection) -> Effort | None:
    named = [selection.effort, *(table.effort for _, table in settings.tables)]
    chosen = next((effort for effort in named if effort is not None), None)
    return None if chosen is None else Effort(chosen)


def _temperature(settings: SendSettings, selection: ModelSelection) -> float | None:
    named = [selection.temperature, *(table.temperature for _, table in settings.tables)]
    return next((temperature for temperature in named if temperature is not None), None)
