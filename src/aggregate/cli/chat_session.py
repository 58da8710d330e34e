"""What ``chat`` keeps from turn to turn, and its commands that begin with a slash: who is asked, and about what."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from aggregate.base.errors import ConfigError
from aggregate.base.messages import did_you_mean
from aggregate.base.request import AUTO, parse_amount
from aggregate.cli.asking import from_here
from aggregate.cli.clipboard import copy_to_clipboard
from aggregate.cli.output import counted, is_terminal, say, warn_all, write_piece
from aggregate.cli.rendered_answer import rendered_answer
from aggregate.cli.send import AskedTurn, check_message, compact, deliver, prepare, warn_of_end
from aggregate.project.configuration import Project, user_config
from aggregate.project.history import DEFAULT, NO_DISCUSSION, named_discussions
from aggregate.prompt import for_reader, shared_personas
from aggregate.sending import (
    Attached,
    Charge,
    Discussion,
    Exchange,
    file_tokens,
    find_files,
    mentioned_paths,
    provider_for,
    select_model,
)
from aggregate.sending.clients import NAMES
from aggregate.sending.models import Usage


@dataclass
class ChatSession:
    asked: AskedTurn
    renders: bool = False  # the Markdown of answers
    last: Exchange | None = None
    sent: Exchange | None = None  # the last one that was answered, by who is asked now
    draft: str = ""  # of the next message
    discussion: str = DEFAULT
    provider: str = ""  # who is asked
    spent: Charge = field(default_factory=Charge)
    _who: str = ""
    _message: str = ""
    _is_answered: bool = False
    _said: set[str] = field(default_factory=set)

    def project(self) -> Project:
        return self.asked.open()

    def point_at(self, **seeds: object) -> str:
        """Take other settings, and return who is asked now."""
        asked = replace(self.asked, **seeds)  # type: ignore[arg-type]
        project = asked.open()
        client, selection = select_model(project, asked.selection)
        asked.seeds(project)
        discussion = selection.discussion or DEFAULT
        Discussion(project, selection.discussion).turns(is_new=True)
        if self.discussion != discussion:
            self._message, self._is_answered = "", False
        self.asked = asked
        self.provider = client.provider
        model = f"{client.provider} {client.model}".strip()
        who = f"{model}, persona {selection.persona}" if selection.persona else model
        if (who, discussion) != (self._who, self.discussion):
            self.sent = None
        self._who, self.discussion = who, discussion
        return who

    def select(self, **changes: object) -> str:
        return self.point_at(selection=replace(self.asked.selection, **changes))  # type: ignore[arg-type]

    def questions(self) -> list[str]:
        turns = Discussion(self.project(), self.discussion).turns(is_new=True)
        said = (turn for turn in turns.all if isinstance(turn, dict))
        return [str(turn.get("content", "")) for turn in said if turn.get("role") == "User"]

    def plan(self, message: str) -> Exchange:
        return self._prepared(prepare(self.project(), self.asked, message, require_key=False))

    def _prepared(self, turn: Exchange) -> Exchange:
        self.last, self.discussion = turn, turn.request.discussion or DEFAULT
        return turn

    def ask(self, message: str, *, replaces: Sequence[Mapping[str, Any]] = ()) -> None:
        check_message(message)
        self._message, self._is_answered = message, bool(replaces)
        project = self.project()
        turn = self._prepared(prepare(project, self.asked, message, replaces=replaces))
        self._say_news(for_reader(turn.warnings), turn.notes)
        with rendered_answer() if self.renders else nullcontext(write_piece) as write:
            completed = deliver(turn, project, as_json=self.asked.as_json, indent=None, write=write)
        self._is_answered, self.sent = True, completed
        usage = completed.reply.usage
        self.spent = self.spent.with_one(completed.bill)
        self._say_news(completed.doubts)
        warn_of_end(completed)
        if not self.asked.quiet:
            in_all = f"; {self.spent.price} in all" if self.spent.requests > 1 else ""
            expected = turn.forecast.cache_read
            share = f" ({expected / usage.input:.0%} expected)" if usage.input else ""
            say(f"{_tokens(usage, share)}; {completed.bill.sentence}{in_all}")

    def undo(self) -> str:
        self._is_answered = False
        return Discussion(self.project(), self.discussion).take_back()

    def retry(self) -> None:
        """Ask the last question once more; an answer that it has stays until another one is there."""
        if self._message and (not self._is_answered or self.discussion == NO_DISCUSSION):
            self.ask(self._message)
            return
        if not self._message and not self.questions():
            raise ConfigError("nothing was asked yet in this discussion: say something")
        # Another process may have gone on meanwhile: its turn is not what is asked once more.
        discussion = Discussion(self.project(), self.discussion)
        last = discussion.last_exchange(question=self._message or None)
        self.ask(str(last[0]["content"]), replaces=last)

    def compact(self) -> None:
        if turn := compact(self.project(), self.asked):
            self.spent = self.spent.with_one(turn.bill)

    def totals(self) -> str:
        spent = self.spent
        return f"{counted(spent.requests, 'answer')}: {_tokens(spent)}; {spent.price}"

    def standing(self) -> list[str]:
        """Return how long the cache is warm, what was spent, what is attached, and who is asked."""
        attached = self.asked.selection.attached
        number = len(attached.files) + len(attached.images)
        parts = [self.sent.warmth if self.sent else "", self.spent.price]
        return [*filter(None, parts), *([f"{number} attached"] if number else []), self._who]

    def attach(self, change: Callable[..., Attached], paths: Iterable[str]) -> None:
        self.select(attached=change(self.asked.selection.attached, self.project(), tuple(paths)))

    def add_mentioned(self, message: str) -> None:
        """Attach the files that a message names as ``@path``."""
        added = self.asked.selection.attached.files
        named = {path: self.place(path) for path in map(self.from_here, mentioned_paths(message))}
        new = [path for path, place in named.items() if path not in added and place.is_file()]
        if new:
            self.add(new)

    def add(self, paths: Sequence[str]) -> None:
        self.attach(Attached.with_files, paths)
        for path in paths:
            say(f"added {path} {_in_tokens(file_tokens(self.place(path)))}".rstrip())

    def place(self, path: str = "") -> Path:
        project = self.project()
        return project.folder / project.config.files.base_dir / path

    def from_here(self, path: str) -> str:
        return from_here(path, self.place())

    def take_draft(self) -> str:
        draft, self.draft = self.draft, ""
        return draft

    def answer(self) -> str:
        """Return the last answer of the discussion, as the model wrote it."""
        if self.sent:
            return self.sent.reply.text
        return str(Discussion(self.project(), self.discussion).last_exchange()[1]["content"])

    def _say_news(self, warnings: Sequence[str], notes: Sequence[str] = ()) -> None:
        if self.asked.quiet:
            return
        warn_all([one for one in warnings if one not in self._said], more="run --json")
        say(*(one for one in notes if one not in self._said))
        self._said.update(warnings, notes)


def _tokens(usage: Usage | Charge, expected: str = "") -> str:
    share = usage.cache_read / usage.input if usage.input else 0
    read = f"{share:.0%} of them from the cache{expected}"
    return f"{usage.input:,} tokens in, {read}; {usage.output:,} out"


_PLANNED = "And?"  # what a plan is made for where no message is named and nothing was asked yet
_AS_CONFIGURED = "none"  # takes a setting of this session back


class Leave(Exception):  # noqa: N818 - no error
    """The session is over."""


class _Command(NamedTuple):
    arguments: str
    summary: str
    run: Callable[[ChatSession, str], object]
    complete: Callable[[ChatSession], Sequence[str]] = lambda _session: ()


def run_command(session: ChatSession, line: str) -> None:
    name, _, rest = line[1:].partition(" ")
    if name not in _COMMANDS:
        hint = did_you_mean(f"/{name}", [f"/{known}" for known in _COMMANDS])
        raise click.UsageError(
            f"there is no command /{name[:40]}: {hint}; to send it, write a blank before the slash"
        )
    _COMMANDS[name].run(session, rest.strip())


def completions(session: ChatSession, before: str, word: str) -> dict[str, str]:
    """Return what may stand for the word behind ``before``, each with what is said of it."""
    if not before and word.startswith("/"):
        rows = _COMMANDS.items()
        return {f"/{name} ": row.summary for name, row in rows if name.startswith(word[1:])}
    if word.startswith("@"):
        return {f"@{path}": said for path, said in _found(session, word[1:])}
    name, blank, _ = before.removeprefix("/").partition(" ")
    if not before.startswith("/") or not blank or name not in _COMMANDS:
        return dict.fromkeys(_paths(word) if "/" in word or "." in word else [], "")
    if name == "add":
        return dict(_found(session, word))
    if name in ("focus", "attach"):
        return dict.fromkeys(_paths(word), "")
    known = _COMMANDS[name].complete(session)
    return dict.fromkeys((each for each in known if each.startswith(word)), "")


def _found(session: ChatSession, word: str) -> list[tuple[str, str]]:
    return [(path, _in_tokens(tokens)) for path, tokens in find_files(session.project(), word)]


def _in_tokens(tokens: int | None) -> str:
    return "" if tokens is None else f"({tokens:,} tokens)"


def _paths(word: str) -> list[str]:
    folder, slash, start = word.rpartition("/")
    try:
        entries = sorted(Path(folder or ".").iterdir())
    except OSError:
        return []
    return [
        f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
        for path in entries
        if path.name.startswith(start) and (start or not path.name.startswith("."))
    ]


def _help(_session: ChatSession, _text: str) -> None:
    calls = [f"/{name} {row.arguments}" for name, row in _COMMANDS.items()]
    width = max(map(len, calls))
    for call, row in zip(calls, _COMMANDS.values(), strict=True):
        say(f"{call:<{width}}  {row.summary}")
    say("Alt-Enter or a trailing backslash begins another line; @path shows a file")
    say("Ctrl-C stops an answer, Ctrl-D leaves")


def _quit(_session: ChatSession, _text: str) -> None:
    raise Leave


def _files(session: ChatSession, text: str) -> None:
    turn = session.last or session.plan(text or _PLANNED)
    tokens = turn.file_tokens
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


def _fork(session: ChatSession, text: str) -> None:
    if not text:
        raise click.UsageError("name the new discussion: /fork NAME")
    Discussion(session.project(), session.discussion).fork(text)
    _discussion(session, text)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise click.UsageError("a quotation mark has no other one") from None


def _ask_model(session: ChatSession, text: str) -> None:
    words, now = _words(text), session.asked.selection
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
        provider = provider_for(session.project(), session.provider, model, now.provider)
    base_url = now.base_url if provider == now.provider else ""
    say(session.select(provider=provider, model=model, base_url=base_url))


def _ask_persona(session: ChatSession, text: str) -> None:
    changes = {"persona": "" if text == _AS_CONFIGURED else text} if text else {}
    say(session.select(**changes))


def _aliases(session: ChatSession) -> list[str]:
    return sorted({*session.project().config.send.aliases, *user_config().send.aliases})


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
    raise click.UsageError("name a file: with the command PATH, such as /add src/main.py")


def _add(session: ChatSession, text: str) -> None:
    session.add([session.from_here(path) for path in _paths_of(text)])


def _drop(session: ChatSession, text: str) -> None:
    images = session.asked.selection.attached.images
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
        "[PROVIDER] [NAME]",
        "Ask another model, by its name or an alias.",
        _ask_model,
        lambda session: [*_aliases(session), *NAMES],
    ),
    "persona": _Command(
        "[NAME|none]",
        "Ask as another persona.",
        _ask_persona,
        lambda session: sorted(
            {*session.project().config.personas, *shared_personas(), _AS_CONFIGURED}
        ),
    ),
    "budget": _Command(
        "[N|auto|none]",
        "Show what matters for each message within this many tokens; none: as configured.",
        _set_budget,
        lambda _session: (AUTO, "16k", "32k", "60k", _AS_CONFIGURED),
    ),
    "focus": _Command(
        "[PATH[:LINES] ...|none]",
        "Show these whatever they cost; with a budget.",
        _pointer("focus", _words),
    ),
    "symbol": _Command(
        "[NAME ...|none]",
        "Rank from these definitions; with a budget.",
        _pointer("symbols", _words),
    ),
    "since": _Command(
        "[REV|none]",
        "Rank from what has changed since then; with a budget.",
        _pointer("since", str),
    ),
    "add": _Command("PATH ...", "Show these files too, in this session.", _add),
    "drop": _Command(
        "PATH ...",
        "Leave these files or images out, in this session.",
        _drop,
        lambda session: [
            *session.asked.selection.attached.files,
            *session.asked.selection.attached.images,
            *(session.last.file_tokens if session.last else ()),
        ],
    ),
    "attach": _Command("IMAGE ...", "Send these images too, in this session.", _attach),
    "edit": _Command("[TEXT]", "Write the next message in $EDITOR.", _edit),
    "copy": _Command(
        "",
        "Copy the last answer to the clipboard.",
        lambda session, _: say(copy_to_clipboard(session.answer().encode())),
    ),
    "files": _Command("", "List the files of the last prompt with their tokens.", _files),
    "plan": _Command(
        "[MESSAGE]",
        "Show what would be sent, read from the cache and paid.",
        lambda session, text: say(*session.plan(text or _PLANNED).lines),
    ),
    "cost": _Command(
        "",
        "Say what this session has cost, and how long the cache is warm.",
        lambda session, _: say(
            session.totals(), *filter(None, [session.sent.warmth if session.sent else ""])
        ),
    ),
    "undo": _Command(
        "",
        "Take back the last question with its answer.",
        lambda session, _: say(f"taken back: {session.undo()}"),
    ),
    "retry": _Command("", "Ask the last question once more.", lambda session, _: session.retry()),
    "discussion": _Command(
        "[NAME]",
        "Go on in another discussion, or begin one.",
        _discussion,
        lambda session: [DEFAULT, NO_DISCUSSION, *named_discussions(session.asked.config)],
    ),
    "fork": _Command("NAME", "Go on in a copy of this discussion.", _fork),
    "compact": _Command(
        "",
        "Put a summary in the place of the oldest turns; all stay as another one.",
        lambda session, _: session.compact(),
    ),
    "quit": _Command("", "Leave; all is kept, send and chat go on from here.", _quit),
}
