"""Terms: the models, tools, limits and budgets of tickets.

The user's terms can only be lowered: by the project, a persona and the ticket.
"""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.agents.limits import USUAL, TicketLimits
from aggregate.agents.tools import (
    AllowedCommands,
    ChangeTools,
    ToolRegistry,
    add_change_tools,
    add_composing_tools,
    standard_tools,
)
from aggregate.agents.tracks.tickets import Ticket, Tickets
from aggregate.base.disk.reading import real_path
from aggregate.base.errors import ConfigError, ToolError, TrackError
from aggregate.base.nearest_names import did_you_mean
from aggregate.project.configuration import Project, is_trusted, user_config
from aggregate.prompt import auto_budget
from aggregate.prompt.asking import find_persona
from aggregate.sending import ModelSelection, context_window, cost, select_model, shipped_ratio
from aggregate.sending.clients import PROVIDERS, Client
from aggregate.sending.models import SCRIPTED, Usage


class Recipient(NamedTuple):
    provider: str = ""
    model: str = ""
    base_url: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


OWN: Final = Recipient()  # the worker's own


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """A user's allowed tools and limits, and the default model."""

    provider: str = SCRIPTED
    model: str = ""
    base_url: str = ""
    tools: ToolRegistry = field(default_factory=lambda: worker_tools(Path()))
    limits: TicketLimits = USUAL
    commands: AllowedCommands = field(default_factory=AllowedCommands)

    @classmethod
    def of_user(
        cls,
        root: Path,
        spec: str,
        *,
        base_url: str = "",
        folder: Path | None = None,
        allow: Iterable[str] = (),
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_turns: int | None = None,
    ) -> "WorkerTerms":
        """Return the terms set by a user's options and configuration."""
        provider, model = parse_worker(spec)
        registry = worker_tools(root, permissions=("read", *allow))
        if folder is not None:
            registry.discover(folder)
        table = user_config().conduct
        limits = TicketLimits(
            max_tokens or table.max_tokens or USUAL.max_tokens,
            table.max_seconds if max_seconds is None else max_seconds,
            max_turns or table.max_turns or USUAL.max_turns,
        )
        beginnings = tuple(map(_words, table.commands))
        commands = AllowedCommands(beginnings, sandboxed=table.sandbox)
        return cls(provider, model, base_url, registry, limits, commands)

    def with_checks(self, project: Project, tickets: Tickets) -> "WorkerTerms":
        """Add the project's commands and checks if it is trusted."""
        if not is_trusted(real_path(project.folder)):
            return self
        beginnings = (*self.commands.beginnings, *map(_words, project.config.conduct.commands))
        exact = frozenset(_words(ticket.verify) for ticket in tickets.tickets if ticket.verify)
        return replace(self, commands=replace(self.commands, beginnings=beginnings, exact=exact))

    def tools_in(self, changes: ChangeTools) -> ToolRegistry:
        """Return the built-in tools on a work tree, and the user's own tools."""
        root = changes.root / changes.folder
        registry = worker_tools(root, permissions=self.tools.permissions, changes=changes)
        for tool in self.tools:
            if tool.name not in registry:
                registry.add(tool)
        return registry

    @property
    def recipient(self) -> Recipient:
        if self.provider == SCRIPTED:
            return OWN
        return Recipient(self.provider, self.model or PROVIDERS[self.provider].model, self.base_url)


def worker_tools(
    root: Path, *, permissions: Iterable[str] = ("read",), changes: ChangeTools | None = None
) -> ToolRegistry:
    """Return the built-in tools for a folder or work tree."""
    registry = standard_tools(state_dir=root / "state", roots=(root,), permissions=permissions)
    add_composing_tools(registry, root)
    add_change_tools(registry, changes or ChangeTools(root))
    return registry


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(
            f"{command!r} is not a command: {error}", key="conduct.commands"
        ) from None
    if not words:
        raise ConfigError("a command is empty: name a program", key="conduct.commands")
    return words


def parse_worker(spec: str) -> tuple[str, str]:
    """Parse ``provider:model``; the model is ``""`` for the provider's default."""
    kind, _, argument = spec.partition(":")
    if kind == SCRIPTED:
        return SCRIPTED, ""
    if kind not in PROVIDERS:
        providers = ", ".join(PROVIDERS)
        raise TrackError(
            f"no such worker: {spec!r}; use {SCRIPTED}, {SCRIPTED}:<file of answers>, or one of {providers}"
        )
    return kind, argument


def recipient_of(project: Project, persona_name: str, terms: WorkerTerms) -> Recipient:
    persona = find_persona(project, persona_name)
    if not (persona.provider or persona.model or persona.base_url):
        return OWN
    client = select_client(project, persona_name, terms, require_key=False)
    if terms.provider == SCRIPTED:  # it asks no model, whatever a persona says
        return OWN
    return Recipient(client.provider, client.model, persona.base_url)


def select_client(
    project: Project, persona_name: str, terms: WorkerTerms, *, require_key: bool
) -> Client:
    persona = find_persona(project, persona_name)
    provider = "" if persona.provider or persona.base_url else terms.provider
    selection = ModelSelection(provider=provider, persona=persona_name)
    return select_model(project, selection, require_key=require_key)[0]


def check_tools(ticket: Ticket, terms: WorkerTerms) -> None:
    tools = terms.tools
    try:
        if ticket.verify:
            terms.commands.words(ticket.verify)
    except ToolError as error:
        raise ConfigError(
            f'the check of the ticket "{ticket.id}": {error}; name it under [conduct] commands in your own '
            "configuration, or trust the project"
        ) from None
    for name in ticket.tools:
        problem = f'the ticket "{ticket.id}" names the tool {name!r}'
        if name not in tools:
            raise ConfigError(f"{problem}: {did_you_mean(name, tools.names)}")
        if lacking := sorted(tools.get(name).permissions - tools.permissions):
            options = " ".join(f"--allow {permission}" for permission in lacking)
            raise ConfigError(f"{problem}, which needs further permissions: add {options}")


def check_prices(
    tickets: Tickets, asks: Callable[[Ticket], Recipient], *, max_cost: float | None
) -> None:
    """Check that a cost limit can be enforced.

    Raise ``ConfigError`` if the price of a model is unknown. Models of other processes are unknown here; a run stops at
    the first unknown price.
    """
    run_is_limited = max_cost is not None or tickets.max_cost is not None
    for ticket in tickets.tickets:
        is_limited = run_is_limited or ticket.max_cost is not None
        recipient = asks(ticket) if is_limited and (ticket.asks or ticket.for_each) else OWN
        if not recipient.model:
            continue
        if cost(Usage(fresh=1, output=1), recipient.model, provider=recipient.provider) is None:
            raise ConfigError(
                f'max_cost cannot be enforced: the price of {recipient}, which the ticket "{ticket.id}" asks, is not '
                f'known: name its input and output prices under [models."{recipient.model}"] in your own '
                "configuration, 0 for a server of your own, or leave max_cost out"
            )


def default_tokens(recipient: Recipient, *, most: int) -> int:
    window = context_window(recipient.model)
    if window is None:
        return auto_budget(None, 0, most=most)
    ratio = shipped_ratio(recipient.provider, recipient.model)
    return max(1, min(ratio.own_tokens(window // 2), most))
