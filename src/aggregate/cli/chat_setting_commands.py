"""The commands of ``chat`` that change a setting of the session: who is asked, and what is shown."""

import shlex
from dataclasses import replace

import click

from aggregate.base.values import parse_amount
from aggregate.cli.chat_session import ChatSession, ChatSettings, with_selection
from aggregate.cli.output import say
from aggregate.project.configuration import user_config
from aggregate.sending import COMPANIES, SelectedModel
from aggregate.sending.clients import NAMES, Effort, provider_of_model

AS_CONFIGURED = "none"
"""Takes a setting of this session back."""


_HOTTEST = 2
"""What the providers that take a temperature allow at most."""


def who(selected: SelectedModel) -> str:
    """Return who is asked, as a person reads it."""
    client = selected.client
    model = f"{client.provider} {client.model}".strip()
    persona = selected.origins.get("persona")
    return f"{model}, persona {persona}" if persona else model


def _words(text: str) -> list[str]:
    """Return words as a shell takes them, with quotation marks around what has blanks.

    Raises:
        UsageError: A quotation mark has no other.
    """
    try:
        return shlex.split(text)
    except ValueError:
        raise click.UsageError("a quotation mark has no other one") from None


def _change(session: ChatSession, settings: ChatSettings) -> None:
    say(who(session.select(settings)))


def ask_model(session: ChatSession, text: str) -> None:
    """Ask another model, or say who is asked."""
    words = _words(text)
    if not words:
        say(who(session.select(session.settings)))
        return
    if len(words) == 2 and words[0] in NAMES:
        provider, model = words
    elif len(words) == 1 and words[0] in NAMES:
        provider, model = words[0], ""
    elif len(words) == 1:
        provider, model = _provider_for(session, words[0]), words[0]
    else:
        raise click.UsageError("name a model, a provider, or a provider and its model")
    is_same = provider == session.settings.selection.provider
    base_url = session.settings.selection.base_url if is_same else ""
    changes = {"provider": provider, "model": model, "base_url": base_url}
    _change(session, with_selection(session.settings, **changes))


def _provider_for(session: ChatSession, model: str) -> str:
    """Return the provider to name with a model: none for an alias, its maker where that is another than is asked."""
    named = session.settings.selection.provider
    if model in aliases(session):
        return ""
    asked = session.select(session.settings).client.provider
    maker = provider_of_model(model)
    return maker if asked in COMPANIES and maker and maker != asked.removesuffix("-cli") else named


def ask_persona(session: ChatSession, text: str) -> None:
    """Ask as another persona, or say who is asked."""
    persona = "" if text == AS_CONFIGURED else text
    _change(
        session, with_selection(session.settings, persona=persona) if text else session.settings
    )


def set_budget(session: ChatSession, text: str) -> None:
    """Set the budget, if one is named, and say it."""
    if text:
        try:
            budget = None if text == AS_CONFIGURED else parse_amount(text)
        except ValueError as error:
            raise click.UsageError(f"the budget {error}") from None
        session.select(with_selection(session.settings, budget=budget))
    chosen = session.settings.selection.budget
    say(f"budget: {'as configured' if chosen is None else chosen}")


def set_effort(session: ChatSession, text: str) -> None:
    """Set the effort, if one is named, and say it."""
    if text:
        if text not in (*Effort, AS_CONFIGURED):
            raise click.UsageError("name low, medium, high or none")
        effort = None if text == AS_CONFIGURED else Effort(text)
        session.select(with_selection(session.settings, effort=effort))
    say(f"effort: {session.settings.selection.effort or 'as configured'}")


def set_temperature(session: ChatSession, text: str) -> None:
    """Set the temperature, if one is named, and say it."""
    if text:
        session.select(with_selection(session.settings, temperature=_degree(text)))
    chosen = session.settings.selection.temperature
    say(f"temperature: {'as configured' if chosen is None else f'{chosen:g}'}")


def _degree(text: str) -> float | None:
    """Return a temperature, ``None`` for the configured one.

    Raises:
        UsageError: It is none.
    """
    if text == AS_CONFIGURED:
        return None
    try:
        degree = float(text)
    except ValueError:
        degree = -1
    if not 0 <= degree <= _HOTTEST:
        raise click.UsageError(f"the temperature is a number from 0 to {_HOTTEST}, or none")
    return degree


def set_focus(session: ChatSession, text: str) -> None:
    """Point at places, if some are named, and say them."""
    if text:
        places = () if text == AS_CONFIGURED else tuple(_words(text))
        session.select(replace(session.settings, focus=places))
    say(f"focus: {', '.join(session.settings.focus) or 'none'}")


def set_symbols(session: ChatSession, text: str) -> None:
    """Point at definitions, if some are named, and say them."""
    if text:
        names = () if text == AS_CONFIGURED else tuple(_words(text))
        session.select(replace(session.settings, symbols=names))
    say(f"symbols: {', '.join(session.settings.symbols) or 'none'}")


def set_since(session: ChatSession, text: str) -> None:
    """Point at a revision, if one is named, and say it."""
    if text:
        session.select(replace(session.settings, since="" if text == AS_CONFIGURED else text))
    say(f"since: {session.settings.since or 'none'}")


def aliases(session: ChatSession) -> list[str]:
    """Return the aliases of models that the project and the user have defined."""
    return sorted({*session.project.config.send.aliases, *user_config().send.aliases})
