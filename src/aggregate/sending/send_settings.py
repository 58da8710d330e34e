"""Who may say what about a request: options, a persona, and the tables ``[send]`` of the project and of the user."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aggregate.base.errors import ClientSetupError
from aggregate.base.values import CLOUDS
from aggregate.project.configuration import PersonaTable, Project, SendTable, user_config
from aggregate.prompt import find_persona, is_users_own
from aggregate.sending.cache.breakpoints import CacheLifetime
from aggregate.sending.cache.policy import COMPATIBLE, SCRIPTED
from aggregate.sending.clients.clouds import check_not_from_project
from aggregate.sending.clients.providers import NAMES, provider_of_model

OPTION: Final = "option"
USUAL: Final = "the provider's usual one"
_PROJECTS, _USERS = "[send] of the project", "[send] of your configuration"
_SHOWN = 60
"""Characters of an alias that a sentence shows."""


@dataclass(frozen=True, slots=True)
class Source:
    """One place that may name a provider, a model and an address.

    Attributes:
        name: What the plan calls it.
        provider: The provider, ``""`` for none; with an address alone it is ``compatible``.
        model: The model, aliases resolved.
        base_url: The address.
        key: Where the address stands in a project's file, ``""`` where no project has named it.
        is_projects: Whether a project's own file has chosen, which somebody else may have written.
    """

    name: str
    provider: str = ""
    model: str = ""
    base_url: str = ""
    key: str = ""
    is_projects: bool = False

    def fits(self, provider: str) -> bool:
        """Tell whether the model of this source can be asked at ``provider``."""
        if self.provider:
            return self.provider == provider
        maker = provider_of_model(self.model)
        return not maker or maker == provider.removesuffix("-cli") or provider not in COMPANIES


COMPANIES: Final = frozenset(NAMES) - frozenset(CLOUDS) - {COMPATIBLE, SCRIPTED}
"""The providers that have models of their own only."""


@dataclass(frozen=True, slots=True)
class SendSettings:
    """What is said about a request, in order of precedence.

    Attributes:
        persona: Has the instructions.
        persona_name: Its name, ``""`` for none.
        options: What the caller says.
        by_persona: What the persona names.
        defaults: What the tables ``[send]`` say, the project's before the user's.
        tables: These tables with the names that the plan calls them by, in the same order.
        projects: The project's own table, an empty one where the user has written it.
        notes: What a project's file has decided.
    """

    persona: PersonaTable
    persona_name: str
    options: Source
    by_persona: Source
    defaults: tuple[Source, ...]
    tables: tuple[tuple[str, SendTable], ...]
    projects: SendTable = field(default_factory=SendTable)
    notes: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that may name a model, in order of precedence."""
        return (self.options, self.by_persona, *self.defaults)


@dataclass(frozen=True, slots=True)
class _Aliases:
    """Short names of models; those of the user go before those of a project."""

    own: Mapping[str, str]
    projects: Mapping[str, str]
    is_strangers: bool

    def resolved(self, source: Source) -> Source:
        """Return a source whose model is no alias.

        Raises:
            ClientSetupError: The alias stands for a model of another provider than the source names, or a project's
                alias for one that only the user may choose.
        """
        target = self.own.get(source.model) or self.projects.get(source.model)
        if not target:
            return source
        provider, slash, model = target.partition("/")
        if not slash or provider not in NAMES:
            return replace(source, model=target)
        if self.is_strangers and source.model not in self.own:
            check_not_from_project(provider)
        if source.provider not in ("", provider):
            raise ClientSetupError(
                f'"{source.model[:_SHOWN]}" stands for {model} of {provider}, not of {source.provider}: leave out the '
                "provider, or name the model itself"
            )
        return replace(source, provider=provider, model=model)

    def notes(self, *named: str) -> tuple[str, ...]:
        """Return what to say of aliases that the user names and a project has defined."""
        return tuple(
            f'"{name[:_SHOWN]}" is {self.projects[name]} by the project\'s [send.aliases]'
            for name in named
            if name not in self.own and name in self.projects
        )


def send_settings(
    project: Project, *, provider: str = "", model: str = "", persona: str = "", base_url: str = ""
) -> SendSettings:
    """Return all that is said about a request.

    Args:
        project: Whose ``[send]`` and personas go before those of the user.
        provider: What the caller names, which goes before everything.
        model: The same of the model, or an alias.
        persona: The same of the persona.
        base_url: The same of the address.

    Raises:
        ConfigError: There is no such persona, or the user's configuration cannot be used.
        ClientSetupError: An alias stands for a model of another provider.
    """
    is_strangers = project.path is not None and not is_users_own(project.path)
    projects, users = project.config.send, user_config().send
    aliases = _Aliases(users.aliases, projects.aliases, is_strangers)
    name = persona or projects.persona or users.persona
    table = find_persona(project, name)
    has_projects_persona = is_strangers and name in project.config.personas
    return SendSettings(
        persona=table,
        persona_name=name,
        options=aliases.resolved(Source(OPTION, provider, model, base_url)),
        by_persona=aliases.resolved(
            Source(
                f'persona "{name}"',
                table.provider or (COMPATIBLE if table.base_url else ""),
                table.model,
                table.base_url,
                f"personas.{name}.base_url" if has_projects_persona else "",
                has_projects_persona and not persona,
            )
        ),
        defaults=(
            aliases.resolved(_default(_PROJECTS, projects, is_projects=is_strangers)),
            aliases.resolved(_default(_USERS, users, is_projects=False)),
        ),
        tables=((_PROJECTS, projects), (_USERS, users)),
        projects=projects if is_strangers else SendTable(),
        notes=aliases.notes(model or users.model) if is_strangers else (),
    )


def with_default_budget(project: Project) -> Project:
    """Return the project with the budget of ``[send]`` as its usual one: a preset's goes before it.

    The project's own ``[budget]`` goes before the user's ``[send]``.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    config = project.config
    budget = config.send.budget
    if budget is None and config.budget.tokens is None:
        budget = user_config().send.budget
    if budget is None:
        return project
    table = config.budget.model_copy(update={"tokens": budget})
    return replace(project, config=config.model_copy(update={"budget": table}))


def _default(name: str, table: SendTable, *, is_projects: bool) -> Source:
    return Source(
        name,
        table.provider or (COMPATIBLE if table.base_url else ""),
        table.model,
        table.base_url,
        "send.base_url" if is_projects else "",
        is_projects,
    )


_DEARER = (CacheLifetime.LONG, CacheLifetime.OFF)
"""What may raise costs: an hour costs more to write, and without a cache everything is paid in full."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What holds for a request.

    Attributes:
        lifetime: How long new entries are to live.
        notes: What a project has decided that may cost more.
        writes: Whether anything is written that a later request could read.
    """

    lifetime: CacheLifetime = CacheLifetime.AUTO
    notes: tuple[str, ...] = ()
    writes: bool = True


def cache_settings(project: Project, *, wanted: str = "", once: bool = False) -> CacheSettings:
    """Return what holds: the caller goes before the user's configuration, and that before the project's.

    Args:
        project: Its configuration.
        wanted: What the caller says, ``""`` for nothing.
        once: Whether no further turn can follow: an entry that is never read costs more than none.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    own = user_config().send
    if wanted or "cache" in own.model_fields_set:
        return CacheSettings(CacheLifetime(wanted or own.cache), writes=not once)
    lifetime = CacheLifetime(project.config.send.cache)
    notes: tuple[str, ...] = ()
    if lifetime in _DEARER:
        notes = (f'cache = "{lifetime.value}" by [send] of the project',)
    return CacheSettings(lifetime, notes, not once)
