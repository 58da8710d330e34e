"""The slash commands of ``chat``."""

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from aggregate.base.nearest_names import did_you_mean
from aggregate.base.task_budget import AUTO, parse_amount
from aggregate.cli.chat_session import Attached, ChatSession, find_files, in_tokens
from aggregate.cli.clipboard import copy_to_clipboard
from aggregate.cli.output import counted, is_terminal, say
from aggregate.cli.send import plan_lines
from aggregate.project.history import DEFAULT, NO_DISCUSSION, named_discussions
from aggregate.prompt.asking import shared_personas
from aggregate.sending import Discussion, Exchange
from aggregate.sending.clients import NAMES

_PLANNED = "And?"  # message of a plan without one
_AS_CONFIGURED = "none"  # resets a setting of this session


class Leave(Exception):  # noqa: N818 - not an error
    """Raised to end the chat."""


class _Command(NamedTuple):
    arguments: str
    summary: str
    run: Callable[[ChatSession, str], object]
    complete: Callable[[ChatSession], Sequence[str]] = lambda _session: ()


def is_command(line: str) -> bool:
    """Return whether a message is a slash command, even a mistyped one."""
    name, *_ = line[1:].split(maxsplit=1) or [""]
    is_word = name.replace("-", "").isalpha() and "\n" not in line.strip()
    return line.startswith("/") and (name in _COMMANDS or is_word or not name)


def run_command(session: ChatSession, line: str) -> None:
    name, _, rest = line[1:].partition(" ")
    if name not in _COMMANDS:
        hint = did_you_mean(f"/{name}", [f"/{command}" for command in _COMMANDS])
        raise click.UsageError(
            f"no such command: /{name[:40]}: {hint}; to send it, put a space before the slash"
        )
    _COMMANDS[name].run(session, rest.strip())


def completions(session: ChatSession, before: str, word: str) -> dict[str, str]:
    """Return completions of ``word`` with notes; ``before`` is the text left of it."""
    if not before and word.startswith("/"):
        rows = _COMMANDS.items()
        return {f"/{name} ": row.summary for name, row in rows if name.startswith(word[1:])}
    if word.startswith("@"):
        return {f"@{path}": note for path, note in _matching(session, word[1:]).items()}
    name, blank, _ = before.removeprefix("/").partition(" ")
    if not before.startswith("/") or not blank or name not in _COMMANDS:
        return {}
    if name in ("add", "focus", "attach"):
        return _matching(session, word)
    choices = _COMMANDS[name].complete(session)
    return dict.fromkeys((choice for choice in choices if choice.startswith(word)), "")


def _matching(session: ChatSession, word: str) -> dict[str, str]:
    return {path: in_tokens(tokens) for path, tokens in find_files(session.project(), word)}


def _help(_session: ChatSession, _text: str) -> None:
    calls = [f"/{name} {row.arguments}" for name, row in _COMMANDS.items()]
    width = max(map(len, calls))
    for call, row in zip(calls, _COMMANDS.values(), strict=True):
        say(f"{call:<{width}}  {row.summary}")
    say("Alt-Enter or a trailing backslash begins another line; @path shows a file")
    say("Ctrl-C stops an answer, Ctrl-D leaves")


def _quit(_session: ChatSession, _text: str) -> None:
    raise Leave


def _file_tokens(turn: Exchange) -> dict[str, int]:
    """Return the tokens of each file in the prompt, including its diffs."""
    tokens: dict[str, int] = {}
    for part in turn.ordered.prompt.parts:
        if part.section in ("files", "changed") and part.source:
            tokens[part.source] = tokens.get(part.source, 0) + part.tokens
    return tokens


def _files(session: ChatSession, text: str) -> None:
    turn = session.last or session.plan(text or _PLANNED)
    tokens = _file_tokens(turn)
    choices = turn.composition.choices
    levels = {choice.path: choice.level.value for choice in choices}
    for path, number in tokens.items():
        say(f"{number:>10,}  {levels.get(path, ''):<8}  {path}".rstrip())
    files = counted(len(tokens), "file")
    say(f"{sum(tokens.values()):>10,}  {files} of {turn.plan.total:,} tokens in all")


def _discussion(session: ChatSession, text: str) -> None:
    if text:
        session.select(discussion=text)
    turns = len(Discussion(session.project(), session.discussion).turns(is_new=True).all)
    say(f'discussion "{session.discussion}", {counted(turns, "turn")}')


def _named(session: ChatSession) -> list[str]:
    return named_discussions(session.asked.config, session.project().prompts)


def _fork(session: ChatSession, text: str) -> None:
    if not text:
        raise click.UsageError("the new discussion needs a name: /fork NAME")
    Discussion(session.project(), session.discussion).fork(text)
    _discussion(session, text)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise click.UsageError("a quotation mark is not closed") from None


def _ask_model(session: ChatSession, text: str) -> None:
    words, selection = _words(text), session.asked.selection
    if not words:
        say(session.select())
        return
    if len(words) > 2 or (len(words) == 2 and words[0] not in NAMES):
        raise click.UsageError("name a model, a provider, or a provider and its model")
    if words[0] in NAMES:
        provider, model = words if len(words) == 2 else (words[0], "")
    else:
        model = words[0]
        session.select()
        provider = selection.provider_for(model, asked=session.provider)
    base_url = selection.base_url if provider == selection.provider else ""
    say(session.select(provider=provider, model=model, base_url=base_url))


def _ask_persona(session: ChatSession, text: str) -> None:
    persona = "" if text == _AS_CONFIGURED else text
    say(session.select(persona=persona) if text else session.select())


def _set_budget(session: ChatSession, text: str) -> None:
    try:
        budget = parse_amount(text) if text not in ("", _AS_CONFIGURED) else None
    except ValueError as error:
        raise click.UsageError(f"the budget {error}") from None
    if text:
        session.select(budget=budget)
    chosen = session.asked.selection.budget
    say(f"budget: {'as configured' if chosen is None else chosen}")


def _pointer(name: str, parse: Callable[[str], Any]) -> Callable[[ChatSession, str], None]:
    def run(session: ChatSession, text: str) -> None:
        if text:
            session.point_at(**{name: parse("" if text == _AS_CONFIGURED else text)})
        chosen = getattr(session.asked, name)
        say(f"{name}: {(chosen if isinstance(chosen, str) else ', '.join(chosen)) or 'none'}")

    return run


def _paths_of(text: str) -> tuple[str, ...]:
    if paths := _words(text):
        return paths
    raise click.UsageError("name a file, such as /add src/main.py")


def _add(session: ChatSession, text: str) -> None:
    session.add([session.from_here(path) for path in _paths_of(text)])


def _drop(session: ChatSession, text: str) -> None:
    images = session.attached.images
    full = {path: os.path.abspath(path) for path in _paths_of(text)}
    paths = [image if image in images else session.from_here(path) for path, image in full.items()]
    session.attach(Attached.without, paths)
    say(f"left out: {', '.join(paths)}")


def _attach(session: ChatSession, text: str) -> None:
    paths = [os.path.abspath(Path(path).expanduser()) for path in _paths_of(text)]
    session.attach(Attached.with_images, paths)
    say(f"attached: {', '.join(paths)}")


def _edit(session: ChatSession, text: str) -> None:
    if not is_terminal():
        raise click.UsageError("/edit needs a terminal")
    session.draft = (click.edit(text, extension=".md") or "").rstrip("\n")


_COMMANDS = {
    "help": _Command("", "List the commands.", _help),
    "model": _Command(
        "[PROVIDER] [NAME]", "Ask another model.", _ask_model, lambda _session: NAMES
    ),
    "persona": _Command(
        "[NAME|none]",
        "Ask with the instructions and model of another persona.",
        _ask_persona,
        lambda session: sorted(
            {*session.project().config.personas, *shared_personas(), _AS_CONFIGURED}
        ),
    ),
    "budget": _Command(
        "[N|auto|none]",
        "Limit the prompt of each message to this many tokens; none: as configured.",
        _set_budget,
        lambda _session: (AUTO, "16k", "32k", "60k", _AS_CONFIGURED),
    ),
    "focus": _Command(
        "[PATH[:LINES] ...|none]",
        "Always show these files or lines; needs a budget.",
        _pointer("focus", _words),
    ),
    "symbol": _Command(
        "[NAME ...|none]",
        "Rank from these definitions; needs a budget.",
        _pointer("symbols", _words),
    ),
    "since": _Command(
        "[REV|none]", "Rank from the changes since then; needs a budget.", _pointer("since", str)
    ),
    "add": _Command("PATH ...", "Show these files too, until the chat ends.", _add),
    "drop": _Command(
        "PATH ...",
        "Leave out these files or images until the chat ends.",
        _drop,
        lambda session: [
            *session.attached.files,
            *session.attached.images,
            *(_file_tokens(session.last) if session.last else ()),
        ],
    ),
    "attach": _Command("IMAGE ...", "Send these images too, until the chat ends.", _attach),
    "edit": _Command("[TEXT]", "Write the next message in $EDITOR.", _edit),
    "copy": _Command(
        "",
        "Copy the last answer to the clipboard.",
        lambda session, _: say(copy_to_clipboard(session.answer().encode())),
    ),
    "files": _Command("", "List the files of the last prompt with their tokens.", _files),
    "plan": _Command(
        "[MESSAGE]",
        "Show the size, cached part and cost of the next request.",
        lambda session, text: say(*plan_lines(session.plan(text or _PLANNED))),
    ),
    "cost": _Command(
        "", "Show the cost of this session.", lambda session, _: say(session.totals())
    ),
    "undo": _Command(
        "",
        "Take back the last question with its answer.",
        lambda session, _: say(f"taken back: {session.undo()}"),
    ),
    "retry": _Command("", "Ask the last question once more.", lambda session, _: session.retry()),
    "discussion": _Command(
        "[NAME]",
        "Continue another discussion, or begin one.",
        _discussion,
        lambda session: [DEFAULT, NO_DISCUSSION, *_named(session)],
    ),
    "fork": _Command("NAME", "Continue in a copy of this discussion.", _fork),
    "compact": _Command(
        "",
        "Summarize the oldest turns; a copy of the discussion keeps them.",
        lambda session, _: session.compact(),
    ),
    "quit": _Command("", "Leave the chat; the discussion can be continued later.", _quit),
}
