"""Who is asked, and how: what options, a persona, and the tables ``[send]`` of the project and of the user say.

One rule of precedence holds for all: what the caller says goes before the persona, that before ``[send]`` of the
project, and that before the user's own. A model and an address belong to the provider that is named with them. A
project may have come from somebody else: what its file has chosen is said, and no key goes to an address that it alone
names.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from aggregate.base.addresses import display_address, is_loopback, origin
from aggregate.base.disk.reading import project_root
from aggregate.base.errors import ClientSetupError, ConfigError, ProviderError
from aggregate.base.request import Amount
from aggregate.project.configuration import Project, global_config_path, is_trusted, user_config
from aggregate.project.tables import PersonaTable, SendTable
from aggregate.prompt import discussion_turns, find_persona, is_users_own, scope_of
from aggregate.sending.attached import Attached
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.protocol import DEFAULT_REQUEST, ChatRequest, Effort
from aggregate.sending.clients.providers import NAMES, PROVIDERS, open_client, provider_of_model
from aggregate.sending.models import COMPATIBLE, GATEWAY, SCRIPTED

OPTION: Final = "option"
USUAL: Final = "the provider's usual one"
# The providers that have models of their own only.
_COMPANIES: Final = frozenset(NAMES) - {COMPATIBLE, GATEWAY, SCRIPTED}


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Who is asked; empty fields are taken from the persona, then from ``[send]``, then from the provider."""

    provider: str = ""
    model: str = ""  # the provider's name of it
    persona: str = ""
    base_url: str = ""
    max_output: int | None = None
    redact: bool | None = None
    budget: Amount | str | None = None  # of the whole request by the provider's count
    effort: Effort | str | None = None
    temperature: float | None = None
    system: str = ""
    most: float | None = None  # US dollars that the request may cost at most
    discussion: str = ""  # a new name begins one, and ``"none"`` is a question outside of all
    # Of a selection that is made: where provider, model and all that is no usual choice are from
    origins: Mapping[str, str] = field(default_factory=dict)
    # What of the persona is not used, and what its project has named
    warnings: tuple[str, ...] = ()
    picks: bool = False  # whether it is first asked which of the likeliest files matter (T-10)
    attached: Attached = field(default_factory=Attached)


@dataclass(frozen=True, slots=True)
class _Source:
    name: str  # what the plan calls it
    says: ModelSelection | PersonaTable | SendTable = field(default_factory=ModelSelection)
    provider: str = ""  # with an address alone it is ``compatible``
    model: str = ""
    base_url: str = ""
    key: str = ""  # where the address stands in a project's file, if one has named it
    # whether a project's own file has chosen, which somebody else may have written
    is_projects: bool = False


class _Sources(NamedTuple):
    """All that may say who is asked; of those that do, the first in order is followed."""

    project: Project
    selection: ModelSelection
    users: SendTable
    persona_name: str
    persona: PersonaTable
    is_strangers: bool  # whether somebody else may have written the project's file
    in_order: Sequence[_Source]

    @property
    def projects(self) -> SendTable:
        return self.project.config.send


def select_model(
    project: Project,
    selection: ModelSelection,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> tuple[Client, ModelSelection]:
    """Return who is asked, and how, with nothing left open.

    An option goes first, then the persona, then ``[send]`` of the project, then that of the user.
    """
    asked = _sources(project, selection)
    provider = _provider(asked.in_order)
    address = _address(asked.in_order, provider)
    model = _model(asked.in_order, provider, has_address=bool(address.base_url))
    environ, address_warnings = _for_project_address(project, address, provider, environ)
    client = open_client(
        provider.provider,
        model=model.model,
        base_url=address.base_url,
        environ=environ,
        on_wait=on_wait,
        require_key=require_key,
    )
    warnings = (*_unfollowed(asked, provider.provider), *address_warnings)
    warnings += _decided_by_project(asked, provider, model, client)
    options, origins = _options(asked, {"provider": provider.name, "model": model.name})
    return client, replace(
        selection,
        **options,
        persona=asked.persona_name,
        budget=asked.persona.budget if selection.budget is None else selection.budget,
        system=selection.system or asked.persona.system_prompt,
        discussion=_discussion(project, selection, client),
        origins=origins,
        warnings=warnings,
        picks=bool(asked.users.pick if asked.projects.pick is None else asked.projects.pick),
    )


def request_of(selection: ModelSelection) -> ChatRequest:
    """Return how a selection asks: its instructions and options."""
    return ChatRequest(
        system=selection.system,
        max_output=selection.max_output or DEFAULT_REQUEST.max_output,
        temperature=selection.temperature,
        effort=Effort(selection.effort) if selection.effort else None,
    )


def provider_for(asked: str, model: str, usual: str) -> str:
    """Return whom to ask for another model than the ``asked`` provider's."""
    maker = provider_of_model(model)
    is_others = asked in _COMPANIES and maker and maker != asked
    return maker if is_others else usual


def _sources(project: Project, selection: ModelSelection) -> _Sources:
    projects, users = project.config.send, user_config().send
    is_strangers = project.path is not None and not is_users_own(project.path)
    persona_name = selection.persona or projects.persona or users.persona
    persona = find_persona(project, persona_name)

    def source(
        name: str, says: PersonaTable | SendTable, key: str = "", *, is_projects: bool = False
    ) -> _Source:
        provider = says.provider or (COMPATIBLE if says.base_url else "")
        return _Source(name, says, provider, says.model, says.base_url, key, is_projects)

    has_projects_persona = is_strangers and persona_name in project.config.personas
    in_order = (
        _Source(OPTION, selection, selection.provider, selection.model, selection.base_url),
        source(
            f'persona "{persona_name}"',
            persona,
            f"personas.{persona_name}.base_url" if has_projects_persona else "",
            is_projects=has_projects_persona and not selection.persona,
        ),
        source(
            "[send] of the project",
            projects,
            "send.base_url" if is_strangers else "",
            is_projects=is_strangers,
        ),
        source("[send] of your configuration", users),
    )
    return _Sources(project, selection, users, persona_name, persona, is_strangers, in_order)


def _provider(sources: Sequence[_Source]) -> _Source:
    option, persona, *tables = sources
    # An address that the caller names alone is of no provider but one's own.
    address = [replace(option, provider=COMPATIBLE)] if option.base_url else []
    for source in (option, persona, *address, *tables):
        if source.provider:
            return source
    for source in sources:
        if source.model:
            return replace(source, provider=provider_of_model(source.model))
    return option


def _address(sources: Sequence[_Source], provider: _Source) -> _Source:
    """Return whose address is asked: the caller's, else the first one that is named for the same provider."""
    if sources[0].base_url:
        return sources[0]
    named = (source for source in sources if source.base_url)
    fitting = (source for source in named if source.provider == provider.provider)
    return next(fitting, _Source(""))


def _model(sources: Sequence[_Source], provider: _Source, *, has_address: bool) -> _Source:
    option, persona, *_ = sources
    asked = provider.provider
    for source in sources:
        if not source.model:
            continue
        maker = provider_of_model(source.model)
        is_makers = not maker or maker == asked or asked not in _COMPANIES
        fits = source.provider == asked if source.provider else is_makers
        # An option goes through as it is with a provider of the same rank; a persona and an option of lower rank are
        # looked at.
        if fits or (source is option and (provider.name == OPTION or has_address)):
            return source
        if source.provider or source not in (option, persona):
            continue
        if has_address:
            return source
        who = f"{source.name} names the model {source.model}, which {asked} does not have"
        what = f"add --model, or take --provider {maker}"
        if source is option:
            who = f"{asked}, which {provider.name} names, does not have the model {source.model}"
            what = f"add --provider {maker}"
        raise ClientSetupError(f"{who}: {what}")
    return _Source(USUAL)


def _options(asked: _Sources, origins: dict[str, str]) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Return what is said of the request's options, and where this, and all before it, is from."""
    options: dict[str, Any] = {}
    for name in ("max_output", "effort", "temperature"):
        for source in asked.in_order:
            value = getattr(source.says, name, None)
            if value is not None:
                options[name], origins[name] = value, source.name
                break
    if asked.persona_name:
        origins["persona"] = asked.persona_name
    return options, origins


def _discussion(project: Project, selection: ModelSelection, client: Client) -> str:
    if selection.discussion or client.provider != SCRIPTED or project.path is None:
        return selection.discussion
    # Where no model answers a discussion of its own goes on, unless one is configured.
    turns = discussion_turns(project, None, scope=scope_of(project))
    return "" if turns.configured or turns.path else SCRIPTED


def _unfollowed(asked: _Sources, provider: str) -> tuple[str, ...]:
    """Tell of what is named for nothing."""
    warnings: tuple[str, ...] = ()
    option, persona, *_ = asked.in_order
    names = []
    if persona.model and not option.model:
        names.append(f"model {persona.model}")
    if persona.base_url and not option.base_url:
        names.append(f"address {display_address(persona.base_url)}")
    if names and persona.provider not in ("", provider):
        what = f"{persona.name} names the {' and the '.join(names)} for {persona.provider}"
        warnings += (f"{what}: not used with --provider {provider}",)
    if asked.project.config.models and not is_users_own(asked.project.path):
        warnings += (f"[models] of a project is not used: write it to {global_config_path()}",)
    return warnings


def _decided_by_project(
    asked: _Sources, provider: _Source, model: _Source, client: Client
) -> tuple[str, ...]:
    """Tell what a project has chosen that the user may not have written and does not trust."""
    if not asked.is_strangers or is_trusted(project_root(asked.project.folder)):
        return ()
    projects, selection = asked.projects, asked.selection
    is_usual = model.name == USUAL and provider.is_projects
    has_budget = selection.budget is not None or asked.persona.budget is not None
    most, persona = projects.max_output, projects.persona
    rows = {
        f"provider {client.provider}": provider.is_projects,
        f"model {client.model}": model.is_projects or is_usual,
        f'persona "{persona}"': persona and not selection.persona,
        f"answers of up to {most or 0:,} tokens": most and selection.max_output is None,
        f"budget {projects.budget}": projects.budget is not None and not has_budget,
        f"effort {projects.effort}": projects.effort and selection.effort is None,
        "a second look before each question with a budget": projects.pick,
    }
    said = ", ".join(row for row, is_said in rows.items() if is_said)
    return (f"chosen by the project's own configuration: {said}",) if said else ()


def _for_project_address(
    project: Project, address: _Source, provider: _Source, environ: Mapping[str, str] | None
) -> tuple[Mapping[str, str] | None, tuple[str, ...]]:
    """A project that came from somebody else could else have the key, and the prompt, sent to an address of theirs."""
    if not address.key:
        return environ, ()
    base_url, users = address.base_url, user_config()
    tables: list[PersonaTable | SendTable] = [users.send, *users.personas.values()]
    named = (table for table in tables if table.base_url)
    known = {(table.provider or COMPATIBLE, origin(table.base_url)) for table in named}
    if (provider.provider, origin(base_url)) in known:
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
