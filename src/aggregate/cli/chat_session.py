"""What ``chat`` keeps from turn to turn: who is asked, what is pointed at, and what all of it has cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from aggregate.base.errors import ConfigError
from aggregate.base.values import Usage
from aggregate.cli.output import counted, say, warn_all
from aggregate.cli.send import AskedTurn, check_message, compact, deliver, prepare, warn_of_end
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.prompt import for_reader
from aggregate.sending import Discussion, PreparedTurn, SelectedModel, dollars, select_model


@dataclass
class ChatSession:
    asked: AskedTurn
    last: PreparedTurn | None = None
    discussion: str = DEFAULT
    turns: int = 0
    _usage: Usage = field(default_factory=Usage)
    _cost: Decimal = Decimal(0)
    _is_whole: bool = True  # whether the prices of all turns are known
    _message: str = ""
    _is_answered: bool = False
    _said: set[str] = field(default_factory=set)

    def project(self) -> Project:
        return self.asked.open()

    def point_at(self, **seeds: object) -> SelectedModel:
        asked = replace(self.asked, **seeds)  # type: ignore[arg-type]
        project = asked.open()
        selected = select_model(project, asked.selection)
        asked.seeds(project)
        Discussion(project, selected.discussion).turns(is_new=True)
        if self.discussion != (selected.discussion or DEFAULT):
            self._message, self._is_answered = "", False
        self.asked, self.discussion = asked, selected.discussion or DEFAULT
        return selected

    def select(self, **changes: object) -> SelectedModel:
        return self.point_at(selection=replace(self.asked.selection, **changes))  # type: ignore[arg-type]

    def questions(self) -> list[str]:
        turns = Discussion(self.project(), self.discussion).turns(is_new=True)
        said = (turn for turn in turns.all if isinstance(turn, dict))
        return [str(turn.get("content", "")) for turn in said if turn.get("role") == "User"]

    def plan(self, message: str) -> PreparedTurn:
        return self._prepared(prepare(self.project(), self.asked, message, require_key=False))

    def _prepared(self, turn: PreparedTurn) -> PreparedTurn:
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
        self._say_news(completed.warnings)
        warn_of_end(completed)
        if not self.asked.quiet:
            in_all = f"; {self._price()} in all" if self.turns > 1 else ""
            say(f"{_tokens(usage)}; {dollars(turn.price(usage))}{in_all}")

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
        if compacted := compact(self.project(), self.asked):
            turn, completed = compacted
            self._count(completed.reply.usage, turn.price(completed.reply.usage))

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


def _tokens(usage: Usage) -> str:
    return f"{usage.input:,} tokens in, {usage.cache_share:.0%} of them from the cache; {usage.output:,} out"
