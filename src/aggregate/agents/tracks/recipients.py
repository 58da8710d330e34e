"""Which model a ticket's worker asks: the one of its persona, else the one that the user named for the run."""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aggregate.agents.tracks.terms import OWN, Recipient, WorkerTerms
from aggregate.agents.tracks.tickets import Tickets
from aggregate.base.errors import ConfigError
from aggregate.base.values import Usage
from aggregate.project.configuration import Project
from aggregate.prompt import find_persona
from aggregate.sending import ModelSelection, SelectedModel, select_model
from aggregate.sending.cache import COMPATIBLE, SCRIPTED
from aggregate.sending.clients import PROVIDERS, ChatClient, cost

if TYPE_CHECKING:
    from aggregate.agents.tracks.worker_context import WorkerContexts

_ALIKE: Final = 0.9
"""How alike the letters of two names are where one is a slip of the other: one letter of ten. Names of real families
differ by more, and versions are digits, which are not compared."""
_ANY_USAGE = Usage(fresh=1, output=1)


def recipient_of(project: Project, persona_name: str, terms: WorkerTerms) -> Recipient:
    """Return whom a ticket with this persona asks, ``OWN`` where the persona names nobody.

    Args:
        project: Where the persona is looked up first.
        persona_name: Of the ticket, ``""`` for none.
        terms: Whom the user named for the run; a scripted worker asks nobody, whatever a persona says.

    Raises:
        ConfigError: There is no such persona or model, or the project names an address that the user does not.
        ClientSetupError: There is no such provider, or the model is another one's.
    """
    persona = find_persona(project, persona_name)
    if not (persona.provider or persona.model or persona.base_url):
        return OWN
    client = _select(project, persona_name, terms, require_key=False).client
    if client.model == persona.model:
        check_model_name(client.provider, client.model, named_by=f'persona "{persona_name}"')
    if terms.provider == SCRIPTED:
        return OWN
    return Recipient(client.provider, client.model, persona.base_url)


def open_recipients(
    project: Project,
    personas: Iterable[str],
    terms: WorkerTerms,
    *,
    wrap: Callable[[ChatClient], ChatClient] = lambda client: client,
) -> Mapping[Recipient, ChatClient]:
    """Return a client for each model that these personas name, so that what is missing is known before a run.

    Args:
        project: Where the personas are looked up first.
        personas: Their names.
        terms: Whom the user named for the run.
        wrap: Applied to each client, such as to replace secrets in what it sends.

    Raises:
        ConfigError: There is no such persona or model, or the project names an address that the user does not.
        ClientSetupError: There is no such provider, or a key is missing.
    """
    clients: dict[Recipient, ChatClient] = {}
    for name in dict.fromkeys(personas):
        recipient = recipient_of(project, name, terms)
        if recipient != OWN and recipient not in clients:
            clients[recipient] = wrap(_select(project, name, terms, require_key=True).client)
    return clients


def check_model_name(provider: str, model: str, *, named_by: str) -> None:
    """Refuse a model's name that is a slip of one that is known; other unknown names may be new.

    Raises:
        ConfigError: It is; the message has the known one.
    """
    if provider not in PROVIDERS or provider == COMPATIBLE:
        return
    letters = _letters(model)
    known = _known_models(provider)
    families = {_letters(name) for name in known}
    if not model or letters in families or not known:
        return
    nearest = max(
        known, key=lambda name: (_likeness(letters, _letters(name)), _likeness(model, name), name)
    )
    if _likeness(letters, _letters(nearest)) >= _ALIKE:
        raise ConfigError(
            f"{named_by}: {provider} has no model {model!r}: did you mean {nearest}?", key="model"
        )


def _select(
    project: Project, persona_name: str, terms: WorkerTerms, *, require_key: bool
) -> SelectedModel:
    """Return the model of a persona; one that names no provider has a model of the run's."""
    persona = find_persona(project, persona_name)
    names_provider = persona.provider or persona.base_url
    selection = ModelSelection(
        provider="" if names_provider else terms.provider, persona=persona_name
    )
    return select_model(project, selection, require_key=require_key)


def _known_models(provider: str) -> list[str]:
    from aggregate.sending.clients import listed_models  # its list takes half a second to load

    return listed_models(provider)


def _letters(model: str) -> str:
    return re.sub(r"[^a-z]", "", model.lower().rsplit("/", 1)[-1])


def _likeness(one: str, other: str) -> float:
    if sorted(one) == sorted(other):  # letters that changed places
        return 1.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def check_prices(tickets: Tickets, contexts: "WorkerContexts", *, max_cost: float | None) -> None:
    """Make sure that each model has a price whose costs are limited, by the run's limit or its ticket's own.

    Whom the workers of other processes ask is not known here; a run of theirs begins nothing further once it has met a
    price that is not known.

    Args:
        tickets: What is to be run.
        contexts: Knows whom a ticket asks.
        max_cost: The limit that the user names for the run.

    Raises:
        ConfigError: A model has none; the message names it and the ticket.
    """
    run_is_limited = max_cost is not None or tickets.max_cost is not None
    priced: set[Recipient] = set()
    for ticket in tickets.tickets:
        if not ticket.asks and not ticket.for_each:
            continue  # a person decides
        if not run_is_limited and ticket.max_cost is None:
            continue
        recipient = contexts.asks(ticket)
        if not recipient.model or recipient in priced:
            continue
        if cost(_ANY_USAGE, recipient.model, provider=recipient.provider) is None:
            raise ConfigError(
                f'max_cost cannot be kept: the price of {recipient}, which the ticket "{ticket.id}" asks, is not '
                f'known: name its input and output prices under [models."{recipient.model}"] in your own '
                "configuration, 0 for a server of your own, or leave max_cost out"
            )
        priced.add(recipient)
