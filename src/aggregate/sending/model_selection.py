"""Choose provider, model and options of a request.

They come from the caller, a persona and ``[send]``. Precedence: the caller, the persona, the project's ``[send]``, the
user's ``[send]``. A model or an address belongs to the provider in the same place. A project may be a stranger's: its
choices are reported, and no key is sent to an address that only the project sets.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from aggregate.base.addresses import display_address, is_loopback, origin
from aggregate.base.disk.reading import project_root
from aggregate.base.errors import ClientSetupError, ConfigError, ProviderError
from aggregate.base.task_budget import Amount
from aggregate.project.configuration import Project, global_config_path, is_trusted, user_config
from aggregate.project.history import SCRIPTED_DISCUSSION
from aggregate.project.tables import PersonaTable, SendTable
from aggregate.prompt.asking import discussion_turns, find_persona, is_users_own
from aggregate.sending.clients.client import Client, Effort
from aggregate.sending.clients.providers import NAMES, PROVIDERS, open_client, provider_of_model
from aggregate.sending.models import COMPATIBLE, GATEWAY, SCRIPTED

_OPTION: Final = "option"
_USUAL: Final = "the provider's usual one"
# Providers that only have models of their own.
_COMPANIES: Final = frozenset(NAMES) - {COMPATIBLE, GATEWAY, SCRIPTED}


class Choice(NamedTuple):
    value: Any
    source: str
    is_projects: bool = False  # from a project's file, perhaps written by somebody else

    def of(self, name: str) -> str:
        return name if self.value is True else f"{name} {self.value}"


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Provider, model and options; defaults come from persona, ``[send]`` and provider."""

    provider: str = ""
    model: str = ""  # the provider's name of the model
    persona: str = ""
    base_url: str = ""
    max_output: int | None = None
    redact: bool | None = None
    budget: Amount | str | None = None  # of the whole request by the provider's count
    effort: Effort | str | None = None
    system: str = ""
    most: float | None = None  # largest price of the request in US dollars
    discussion: str = ""  # a new name begins one; ``"none"`` is a question outside of all
    pick: bool | None = None  # first ask which of the likeliest files matter (T-10)

    def provider_for(self, model: str, *, asked: str) -> str:
        """Return the provider to ask for a model: its maker if this is another company than ``asked``."""
        maker = provider_of_model(model)
        is_others = asked in _COMPANIES and maker and maker != asked
        return maker if is_others else self.provider

    chosen: Mapping[str, Choice] = field(default_factory=dict)  # by field, once resolved
    warnings: tuple[str, ...] = ()


_DECIDED: Final = ("persona", "max_output", "effort", "pick")  # beside provider and model


@dataclass(frozen=True, slots=True)
class _Source:
    """A place that may choose provider, model, address and options."""

    name: str
    values: ModelSelection | PersonaTable | SendTable = field(default_factory=ModelSelection)
    provider: str = ""  # ``compatible`` if only an address is set
    address_key: str = ""  # the setting of an address in a project's file, else ``""``
    is_projects: bool = False

    @classmethod
    def of(
        cls, name: str, table: PersonaTable | SendTable, key: str = "", *, has_chosen: bool = True
    ) -> "_Source":
        provider = table.provider or (COMPATIBLE if table.base_url else "")
        return cls(name, table, provider, key, is_projects=bool(key) and has_chosen)


_NOWHERE: Final = _Source("")


def select_model(
    project: Project,
    selection: ModelSelection,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> tuple[Client, ModelSelection]:
    """Choose provider, model and options; return the client, and the selection without open fields."""
    sources = _sources(project, selection)
    provider, address, model = _recipient(sources)
    environ, warnings = _for_project_address(project, address, provider.provider, environ)
    client = open_client(
        provider.provider,
        model=model.values.model,
        base_url=address.values.base_url,
        environ=environ,
        on_wait=on_wait,
        require_key=require_key,
    )
    models = provider if model.name == _USUAL else model
    chosen = {
        "provider": Choice(client.provider, provider.name, provider.is_projects),
        "model": Choice(client.model or "its own", model.name, models.is_projects),
    }
    for name in _DECIDED:
        choices = (
            Choice(getattr(source.values, name, ""), source.name, source.is_projects)
            for source in sources
        )
        first = next((choice for choice in choices if choice.value not in ("", None)), None)
        chosen |= {name: first} if first else {}
    if discussion := _discussion(project, selection, client):
        name = _OPTION if selection.discussion else "its own"
        chosen["discussion"] = Choice(discussion, name)
    options = {name: chosen[name].value for name in (*_DECIDED, "discussion") if name in chosen}
    persona = find_persona(project, options.get("persona", ""))
    selection = replace(
        selection,
        **options,
        budget=persona.budget if selection.budget is None else selection.budget,
        system=selection.system or persona.system_prompt,
        chosen=chosen,
    )
    if project.config.models and not is_users_own(project.path):
        warnings += (f"[models] of a project is not used: move it to {global_config_path()}",)
    return client, replace(
        selection, warnings=(*warnings, *_decided_by_project(project, selection))
    )


def _sources(project: Project, selection: ModelSelection) -> Sequence[_Source]:
    """Return the option, persona and tables that may name a model, in order of precedence."""
    projects, users = project.config.send, user_config().send
    is_strangers = project.path is not None and not is_users_own(project.path)
    name = selection.persona or projects.persona or users.persona
    persona = find_persona(project, name)
    is_personas = is_strangers and name in project.config.personas
    persona_key = f"personas.{name}.base_url" if is_personas else ""
    send_key = "send.base_url" if is_strangers else ""
    return (
        _Source(_OPTION, selection, selection.provider),
        # A persona named by an option is the user's choice.
        _Source.of(f'persona "{name}"', persona, persona_key, has_chosen=not selection.persona),
        _Source.of("[send] of the project", projects, send_key),
        _Source.of("[send] of your configuration", users),
    )


def _recipient(sources: Sequence[_Source]) -> tuple[_Source, _Source, _Source]:
    """Return the sources of provider, address and model; raise ``ClientSetupError`` for another company's model.

    A model and an address belong to the provider of the same source.
    """
    option, persona, *tables = sources
    # An address without a provider belongs to the user's own server.
    own_server = [replace(option, provider=COMPATIBLE)] if option.values.base_url else []
    named = [source for source in (option, persona, *own_server, *tables) if source.provider]
    with_model = [source for source in sources if source.values.model]
    makers = [
        replace(source, provider=provider_of_model(source.values.model)) for source in with_model
    ]
    provider = next(iter((*named, *makers)), option)
    name = provider.provider
    fitting = (source for source in sources if source is option or source.provider == name)
    address = next((source for source in fitting if source.values.base_url), _NOWHERE)
    for source in with_model:
        maker = provider_of_model(source.values.model)
        is_makers = not maker or maker == name or name not in _COMPANIES
        fits = source.provider == name if source.provider else is_makers
        has_address = address is not _NOWHERE
        # The user's model is not checked if the user also chose the provider or an address.
        is_users = source is option and (provider.name == _OPTION or has_address)
        is_open = not source.provider and source in (option, persona)
        if fits or is_users or (is_open and has_address):
            return provider, address, source
        if is_open:
            raise _foreign_model(source, provider, maker)
    return provider, address, _Source(_USUAL)


def _foreign_model(source: _Source, provider: _Source, maker: str) -> ClientSetupError:
    name, model = provider.provider, source.values.model
    if source.name == _OPTION:
        problem = f"{name} ({provider.name}) does not have the model {model}"
        return ClientSetupError(f"{problem}: add --provider {maker}")
    problem = f"{name} does not have the model {model} of {source.name}"
    return ClientSetupError(f"{problem}: add --model, or use --provider {maker}")


def _discussion(project: Project, selection: ModelSelection, client: Client) -> str:
    if selection.discussion or client.provider != SCRIPTED or project.path is None:
        return selection.discussion
    # Without a model the turns go to a separate discussion, unless one is configured.
    turns = discussion_turns(project, None)
    return "" if turns.configured or turns.path else SCRIPTED_DISCUSSION


def _decided_by_project(project: Project, selection: ModelSelection) -> tuple[str, ...]:
    """Return a warning about choices made by an untrusted project."""
    chosen, budget = dict(selection.chosen), project.config.send.budget
    if budget is not None and selection.budget is None:
        is_projects = project.path is not None and not is_users_own(project.path)
        chosen["budget"] = Choice(budget, "", is_projects)
    choices = ", ".join(
        choice.of(name) for name, choice in chosen.items() if choice.is_projects and choice.value
    )
    if not choices or is_trusted(project_root(project.folder)):
        return ()
    return (f"chosen by the project's own configuration: {choices}",)


def _for_project_address(
    project: Project, address: _Source, provider: str, environ: Mapping[str, str] | None
) -> tuple[Mapping[str, str] | None, tuple[str, ...]]:
    """Return an environment without keys, and a warning, if only the project sets the address."""
    if not address.address_key:
        return environ, ()
    base_url, users = address.values.base_url, user_config()
    tables: list[PersonaTable | SendTable] = [users.send, *users.personas.values()]
    users_addresses = {
        (table.provider or COMPATIBLE, origin(table.base_url)) for table in tables if table.base_url
    }
    if (provider, origin(base_url)) in users_addresses:
        return environ, ()
    server = display_address(base_url)
    if provider == COMPATIBLE and is_loopback(base_url):
        keys = os.environ if environ is None else environ
        has_key = any(keys.get(variable) for variable in PROVIDERS[COMPATIBLE].keys)
        hint = " ; with --base-url the key is sent too" if has_key else ""
        return {}, (
            f"the project sets the address {server}: requests go there without a key{hint}",
        )
    table = "persona" if address.address_key.startswith("personas.") else "table [send]"
    fix = f"move the {table} to {global_config_path()}, or add --base-url"
    problem = (
        f"only the project sets the address {server}: to send to it, {fix}"
        if provider == COMPATIBLE
        else f"a project's {table} may set an address for {COMPATIBLE} only, so that no key is sent there: {fix}"
    )
    raise ConfigError(problem, path=str(project.path), key=address.address_key)
