"""What ``chat`` keeps from turn to turn: who is asked, what is pointed at, and what all of it has cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

from aggregate.base.errors import ConfigError
from aggregate.base.values import Usage
from aggregate.cli.asking import seeds_of
from aggregate.cli.output import counted, say, say_aside, warn, warn_all
from aggregate.cli.turn import checked_message, compact, deliver, notes_on, prepare
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.prompt import for_reader
from aggregate.sending import (
    CompletedTurn,
    ModelSelection,
    PreparedTurn,
    SelectedModel,
    dollars,
    last_exchange,
    price,
    project_discussion,
    select_model,
    take_back,
)


@dataclass(frozen=True, slots=True)
class Totals:
    """What the turns of a session have cost.

    Attributes:
        cost: Their price in US dollars, as far as prices are known.
        is_whole: Whether the prices of all are known.
    """

    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal = Decimal(0)
    is_whole: bool = True

    def plus(self, usage: Usage, amount: Decimal | None) -> "Totals":
        """Return the totals with one more turn."""
        return Totals(
            self.turns + 1,
            self.usage + usage,
            self.cost + (amount or 0),
            self.is_whole and amount is not None,
        )

    @property
    def price(self) -> str:
        """The price as a person reads it."""
        if not self.is_whole and not self.cost:
            return "price unknown"
        return dollars(self.cost) if self.is_whole else f"at least {dollars(self.cost)}"

    @property
    def sentence(self) -> str:
        """All of it."""
        return f"{counted(self.turns, 'answer')}: {_tokens(self.usage)}; {self.price}"


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What the commands of a session change.

    Attributes:
        selection: Who is asked, in which discussion, within which budget.
        focus: Places that are shown whatever they cost.
        symbols: Names of definitions from which ranking starts.
        since: A git revision: what has changed since then is ranked from.
    """

    selection: ModelSelection
    focus: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str = ""


@dataclass
class ChatSession:
    """A discussion that goes on turn by turn; each turn is what ``send`` would have done.

    Attributes:
        open_project: Returns the project as it is now; called with whether a budget was named.
        settings: Who is asked and what is pointed at.
        as_json: Whether each answer is printed as a line of JSON.
        quiet: Whether nothing but answers and errors is said.
        last: The last turn that was prepared.
    """

    open_project: Callable[[bool], Project]
    settings: ChatSettings
    as_json: bool = False
    quiet: bool = False
    totals: Totals = field(default_factory=Totals)
    last: PreparedTurn | None = None
    discussion: str = DEFAULT
    _message: str = ""
    _is_answered: bool = False
    _said: set[str] = field(default_factory=set)

    @property
    def project(self) -> Project:
        """The project as it is now."""
        return self.open_project(self.settings.selection.budget is not None)

    def select(self, settings: ChatSettings) -> SelectedModel:
        """Take other settings, if they can be used, and return who is asked with them."""
        project = self.open_project(settings.selection.budget is not None)
        selected = select_model(project, settings.selection)
        seeds_of(project, settings.focus, settings.symbols, settings.since)
        project_discussion(project, selected.discussion, is_new=True)
        if self.discussion != (selected.discussion or DEFAULT):
            self._message, self._is_answered = "", False
        self.settings, self.discussion = settings, selected.discussion or DEFAULT
        return selected

    def questions(self) -> list[str]:
        """Return what the user has asked in this discussion, oldest first."""
        turns = project_discussion(self.project, self.discussion, is_new=True)
        said = (turn for turn in turns.all if isinstance(turn, dict))
        return [str(turn.get("content", "")) for turn in said if turn.get("role") == "User"]

    def plan(self, message: str) -> PreparedTurn:
        """Return the turn that would say ``message``; nothing is written or sent."""
        return self._prepare(self.project, message, require_key=False)

    def ask(self, message: str, *, replaces: Sequence[Mapping[str, Any]] = ()) -> None:
        """Send a message, print the answer as it comes, and keep both; the errors are those of ``send``.

        Args:
            message: What the user says.
            replaces: The last turns of the discussion, in whose place these come once there is an answer.
        """
        self._message, self._is_answered = checked_message(message), bool(replaces)
        project = self.project
        turn = self._prepare(project, message, replaces=replaces)
        self._say_news(for_reader(turn.warnings), notes_on(turn, date.today()))
        completed = deliver(turn, project, as_json=self.as_json, indent=None)
        self._is_answered = True
        self._report(turn, completed)

    def undo(self) -> str:
        """Take the last question with its answer out of the discussion, and return the question."""
        self._is_answered = False
        return take_back(self.project, self.discussion)

    def compact(self) -> None:
        """Let the model put a summary in the place of the discussion's oldest turns."""
        prepared, compacted = compact(self.project, self.settings.selection, quiet=self.quiet)
        if compacted is not None:
            usage = compacted.completed.reply.usage
            self.totals = self.totals.plus(usage, price(prepared.turn, usage))

    def retry(self) -> None:
        """Ask the last question once more; an answer that it has stays until another one is there."""
        if self._message and (not self._is_answered or self.discussion == NO_DISCUSSION):
            self.ask(self._message)
            return
        if not self._message and not self.questions():
            raise ConfigError("nothing was asked yet in this discussion: say something")
        # Another process may have gone on meanwhile: its turn is not what is asked once more.
        asked = last_exchange(self.project, self.discussion, question=self._message or None)
        self.ask(str(asked[0]["content"]), replaces=asked)

    def _prepare(
        self,
        project: Project,
        message: str,
        *,
        require_key: bool = True,
        replaces: Sequence[Mapping[str, Any]] = (),
    ) -> PreparedTurn:
        settings = self.settings
        self.last = prepare(
            project,
            message,
            settings.selection,
            task=seeds_of(project, settings.focus, settings.symbols, settings.since),
            quiet=self.quiet,
            require_key=require_key,
            replaces=replaces,
        )
        self.discussion = self.last.request.discussion or DEFAULT
        return self.last

    def _say_news(self, warnings: Sequence[str], notes: Sequence[str] = ()) -> None:
        if self.quiet:
            return
        news = [warning for warning in warnings if warning not in self._said]
        self._said.update(news)
        warn_all(news, more="run --json")
        new_notes = [note for note in notes if note not in self._said]
        self._said.update(new_notes)
        say(*new_notes)

    def _report(self, turn: PreparedTurn, completed: CompletedTurn) -> None:
        usage = completed.reply.usage
        amount = price(turn, usage)
        self.totals = self.totals.plus(usage, amount)
        self._say_news(completed.warnings)
        if completed.reply.stop.value != "end":
            warn(f"the answer is not complete ({completed.reply.stop.value})")
        if self.quiet:
            return
        in_all = f"; {self.totals.price} in all" if self.totals.turns > 1 else ""
        say_aside(f"{_tokens(usage)}; {dollars(amount)}{in_all}")


def with_selection(settings: ChatSettings, **changes: object) -> ChatSettings:
    """Return settings with another selection."""
    return replace(settings, selection=replace(settings.selection, **changes))  # type: ignore[arg-type]


def _tokens(usage: Usage) -> str:
    return f"{usage.input:,} tokens in, {usage.cache_share:.0%} of them from the cache; {usage.output:,} out"
