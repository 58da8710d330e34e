"""What ``chat`` keeps from turn to turn, and its commands that begin with a slash: who is asked, and about what."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import click

from aggregate.base.errors import ConfigError
from aggregate.base.messages import did_you_mean
from aggregate.base.request import AUTO, parse_amount
from aggregate.cli.output import counted, say, warn_all
from aggregate.cli.send import AskedTurn, check_message, compact, deliver, prepare, warn_of_end
from aggregate.project.configuration import Project, user_config
from aggregate.project.history import DEFAULT, NO_DISCUSSION, named_discussions
from aggregate.prompt import for_reader, shared_personas
from aggregate.prompt.document import Section
from aggregate.sending import Discussion, Exchange, provider_for, select_model
from aggregate.sending.clients import NAMES
from aggregate.sending.models import Usage, dollars


@dataclass
class ChatSession:
    asked: AskedTurn
    last: Exchange | None = None
    discussion: str = DEFAULT
    provider: str = ""  # who is asked
    turns: int = 0
    _usage: Usage = field(default_factory=Usage)
    _cost: Decimal = Decimal(0)
    _is_whole: bool = True  # whether the prices of all turns are known
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
        self.asked, self.discussion = asked, discussion
        self.provider = client.provider
        model = f"{client.provider} {client.model}".strip()
        return f"{model}, persona {selection.persona}" if selection.persona else model

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
        completed = deliver(turn, project, as_json=self.asked.as_json, indent=None)
        self._is_answered = True
        usage = completed.reply.usage
        self._count(usage, turn.price(usage))
        self._say_news(completed.doubts)
        warn_of_end(completed)
        if not self.asked.quiet:
            in_all = f"; {self._price()} in all" if self.turns > 1 else ""
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
            self._count(turn.reply.usage, turn.price(turn.reply.usage))

    def totals(self) -> str:
        return f"{counted(self.turns, 'answer')}: {_tokens(self._usage)}; {self._price()}"

    def _count(self, usage: Usage, amount: Decimal | None) -> None:
        self.turns += 1
        self._usage += usage
        self._cost += amount or 0
        self._is_whole = self._is_whole and amount is not None

    def _price(self) -> str:
        if not self._is_whole and not self._cost:
            return "price unknown"
        return dollars(self._cost) if self._is_whole else f"at least {dollars(self._cost)}"

    def _say_news(self, warnings: Sequence[str], notes: Sequence[str] = ()) -> None:
        if self.asked.quiet:
            return
        warn_all([one for one in warnings if one not in self._said], more="run --json")
        say(*(one for one in notes if one not in self._said))
        self._said.update(warnings, notes)


def _tokens(usage: Usage, expected: str = "") -> str:
    read = f"{usage.cache_share:.0%} of them from the cache{expected}"
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


def completions(session: ChatSession, before: str, word: str) -> list[str]:
    if not before and word.startswith("/"):
        return [f"/{name} " for name in _COMMANDS if name.startswith(word[1:])]
    name, blank, _ = before.removeprefix("/").partition(" ")
    if not before.startswith("/") or not blank or name not in _COMMANDS:
        return _paths(word) if "/" in word or "." in word else []
    if name == "focus":
        return _paths(word)
    return [known for known in _COMMANDS[name].complete(session) if known.startswith(word)]


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
    say('""" begins and ends a message of several lines; Ctrl-C stops an answer, Ctrl-D leaves')


def _quit(_session: ChatSession, _text: str) -> None:
    raise Leave


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
    "files": _Command("", "List the files of the last prompt with their tokens.", _files),
    "plan": _Command(
        "[MESSAGE]",
        "Show what would be sent, read from the cache and paid.",
        lambda session, text: say(*session.plan(text or _PLANNED).lines),
    ),
    "cost": _Command(
        "", "Say what this session has cost.", lambda session, _: say(session.totals())
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
