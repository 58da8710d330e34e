"""The commands of ``chat`` that begin with a slash."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from aggregate.base.text import did_you_mean
from aggregate.base.values import AUTO, Section, parse_amount
from aggregate.cli.chat_session import ChatSession, ChatSettings, with_selection
from aggregate.cli.output import counted, say
from aggregate.project.configuration import user_config
from aggregate.project.history import DEFAULT, NO_DISCUSSION, named_discussions
from aggregate.prompt import shared_personas
from aggregate.sending import (
    COMPANIES,
    SelectedModel,
    fork_discussion,
    plan_lines,
    project_discussion,
)
from aggregate.sending.clients import NAMES, Effort, provider_of_model

_PLANNED = "And?"
"""What a plan is made for where no message is named and nothing was asked yet."""


class Leave(Exception):  # noqa: N818 - no error
    """The session is over."""


class SlashCommand(NamedTuple):
    """A command.

    Attributes:
        arguments: What stands behind its name, as the help shows it.
        run: Does it, with what stands behind its name.
        complete: Returns the words that may stand there.
    """

    arguments: str
    summary: str
    run: Callable[[ChatSession, str], None]
    complete: Callable[[ChatSession], Sequence[str]] = lambda _session: ()


def is_command(message: str) -> bool:
    """Tell whether a message is a command; a message that begins with a slash is sent with a blank before it."""
    return message.startswith("/")


def run_command(session: ChatSession, line: str) -> None:
    """Do what a line that begins with a slash says."""
    name, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        hint = did_you_mean(f"/{name}", [f"/{known}" for known in COMMANDS])
        raise click.UsageError(
            f"there is no command /{name[:40]}: {hint}; to send it, write a blank before the slash"
        )
    command.run(session, rest.strip())


def completions(session: ChatSession, before: str, word: str) -> list[str]:
    """Return what ``word`` may become behind ``before``: names of commands, then what the command takes."""
    if not before and word.startswith("/"):
        return [f"/{name} " for name in COMMANDS if name.startswith(word[1:])]
    name, blank, _ = before.removeprefix("/").partition(" ")
    if not before.startswith("/") or not blank or name not in COMMANDS:
        return _paths(word) if "/" in word or "." in word else []
    if name == "focus":
        return _paths(word)
    return [known for known in COMMANDS[name].complete(session) if known.startswith(word)]


def _paths(word: str) -> list[str]:
    """Return the files and folders below the current one whose paths begin with ``word``."""
    folder, _, start = word.rpartition("/")
    try:
        entries = sorted(Path(folder or ".").iterdir())
    except OSError:
        return []
    prefix = f"{folder}/" if folder else ""
    return [
        f"{prefix}{path.name}{'/' if path.is_dir() else ''}"
        for path in entries
        if path.name.startswith(start) and (start or not path.name.startswith("."))
    ]


def _help(_session: ChatSession, _text: str) -> None:
    width = max(len(f"/{name} {row.arguments}") for name, row in COMMANDS.items())
    rows = [
        f"{f'/{name} {row.arguments}':<{width}}  {row.summary}" for name, row in COMMANDS.items()
    ]
    say(*rows)
    say('""" begins and ends a message of several lines; Ctrl-C stops an answer, Ctrl-D leaves')


def _files(session: ChatSession, text: str) -> None:
    turn = session.last or session.plan(text or _PLANNED)
    tokens: dict[str, int] = {}
    for segment in turn.fingerprint.segments:
        if segment.section in (Section.FILES, Section.CHANGED) and segment.source:
            tokens[segment.source] = tokens.get(segment.source, 0) + segment.tokens
    choices = turn.composition.choices
    levels = {choice.path: choice.level.value for choice in choices}
    for path, number in tokens.items():
        say(f"{number:>10,}  {levels.get(path, ''):<8}  {path}".rstrip())
    files = counted(len(tokens), "file")
    say(f"{sum(tokens.values()):>10,}  {files} of {turn.plan.total:,} tokens in all")


def _discussion(session: ChatSession, text: str) -> None:
    if text:
        session.select(with_selection(session.settings, discussion=text))
    turns = len(project_discussion(session.project, session.discussion, is_new=True).all)
    say(f'discussion "{session.discussion}", {counted(turns, "turn")}')


def _fork(session: ChatSession, text: str) -> None:
    if not text:
        raise click.UsageError("name the new discussion: /fork NAME")
    fork_discussion(session.project, session.discussion, text)
    _discussion(session, text)


def _quit(_session: ChatSession, _text: str) -> None:
    raise Leave


def _discussions(session: ChatSession) -> list[str]:
    path = session.project.path
    return [DEFAULT, NO_DISCUSSION, *(named_discussions(path) if path else ())]


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


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
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


def _set_budget(session: ChatSession, text: str) -> None:
    try:
        budget = parse_amount(text) if text and text != AS_CONFIGURED else None
    except ValueError as error:
        raise click.UsageError(f"the budget {error}") from None
    _set_selected(session, text, "budget", budget)


def _set_effort(session: ChatSession, text: str) -> None:
    if text not in ("", *Effort, AS_CONFIGURED):
        raise click.UsageError("name low, medium, high or none")
    _set_selected(session, text, "effort", Effort(text) if text in (*Effort,) else None)


def _set_temperature(session: ChatSession, text: str) -> None:
    try:
        degree = float(text) if text and text != AS_CONFIGURED else None
    except ValueError:
        degree = -1
    if degree is not None and not 0 <= degree <= _HOTTEST:
        raise click.UsageError(f"the temperature is a number from 0 to {_HOTTEST}, or none")
    _set_selected(session, text, "temperature", degree)


def _set_selected(session: ChatSession, text: str, name: str, value: float | str | None) -> None:
    """Set what is asked of the model, if the user says something, and say it."""
    if text:
        session.select(with_selection(session.settings, **{name: value}))
    chosen = getattr(session.settings.selection, name)
    shown = f"{chosen:g}" if isinstance(chosen, float) else chosen
    say(f"{name}: {'as configured' if chosen is None else shown}")


def _set_pointer(session: ChatSession, name: str, value: tuple[str, ...] | str) -> None:
    """Point at something, if there is a value, and say at what; ``none`` takes it back."""
    if value:
        is_none = value in (AS_CONFIGURED, (AS_CONFIGURED,))
        kept = type(value)() if is_none else value
        session.select(replace(session.settings, **{name: kept}))  # type: ignore[arg-type]
    chosen = getattr(session.settings, name)
    say(f"{name}: {(chosen if isinstance(chosen, str) else ', '.join(chosen)) or 'none'}")


def aliases(session: ChatSession) -> list[str]:
    """Return the aliases of models that the project and the user have defined."""
    return sorted({*session.project.config.send.aliases, *user_config().send.aliases})


COMMANDS = {
    "help": SlashCommand("", "List the commands.", _help),
    "model": SlashCommand(
        "[PROVIDER] [NAME]",
        "Ask another model, by its name or an alias.",
        ask_model,
        lambda session: [*aliases(session), *NAMES],
    ),
    "persona": SlashCommand(
        "[NAME|none]",
        "Ask as another persona.",
        ask_persona,
        lambda session: sorted(
            {*session.project.config.personas, *shared_personas(), AS_CONFIGURED}
        ),
    ),
    "budget": SlashCommand(
        "[N|auto|none]",
        "Show what matters for each message within this many tokens; none: as configured.",
        _set_budget,
        lambda _session: (AUTO, "16k", "32k", "60k", AS_CONFIGURED),
    ),
    "effort": SlashCommand(
        "[low|medium|high|none]",
        "Say how long the model may think before it answers.",
        _set_effort,
        lambda _session: (*Effort, AS_CONFIGURED),
    ),
    "temperature": SlashCommand(
        "[0-2|none]", "Let the model choose its words more or less freely.", _set_temperature
    ),
    "focus": SlashCommand(
        "[PATH[:LINES] ...|none]",
        "Show these whatever they cost; with a budget.",
        lambda session, text: _set_pointer(session, "focus", _words(text)),
    ),
    "symbol": SlashCommand(
        "[NAME ...|none]",
        "Rank from these definitions; with a budget.",
        lambda session, text: _set_pointer(session, "symbols", _words(text)),
    ),
    "since": SlashCommand(
        "[REV|none]",
        "Rank from what has changed since then; with a budget.",
        lambda session, text: _set_pointer(session, "since", text),
    ),
    "files": SlashCommand("", "List the files of the last prompt with their tokens.", _files),
    "plan": SlashCommand(
        "[MESSAGE]",
        "Show what would be sent, read from the cache and paid.",
        lambda session, text: say(*plan_lines(session.plan(text or _PLANNED))),
    ),
    "cost": SlashCommand(
        "", "Say what this session has cost.", lambda session, _text: say(session.totals.sentence)
    ),
    "undo": SlashCommand(
        "",
        "Take back the last question with its answer.",
        lambda session, _text: say(f"taken back: {session.undo()}"),
    ),
    "retry": SlashCommand(
        "", "Ask the last question once more.", lambda session, _text: session.retry()
    ),
    "discussion": SlashCommand(
        "[NAME]", "Go on in another discussion, or begin one.", _discussion, _discussions
    ),
    "fork": SlashCommand("NAME", "Go on in a copy of this discussion.", _fork),
    "compact": SlashCommand(
        "",
        "Put a summary in the place of the oldest turns; all stay as another one.",
        lambda session, _text: session.compact(),
    ),
    "quit": SlashCommand("", "Leave; all is kept, send and chat go on from here.", _quit),
}
