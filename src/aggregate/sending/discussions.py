"""What is done to whole discussions of a project: fork, delete, take back the last turn, and make a long one short.

The model itself is asked for a summary of the oldest turns, which are sent alone; all stay as another discussion, so
nothing is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import chain, count as count_from
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import confined
from aggregate.base.errors import (
    AggregateError,
    ConfigError,
    OutputError,
    PromptTooLongError,
    ProviderError,
)
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.project.history import (
    DEFAULT,
    NO_DISCUSSION,
    copy_discussion,
    discussion_name,
    history_file,
    named_discussions,
    replace_first_turns,
    replace_last_turns,
)
from aggregate.prompt import DiscussionTurns, Request, discussion_turns, scope_of
from aggregate.prompt.turns import build_discussion_section
from aggregate.sending.exchange import Exchange
from aggregate.sending.model_selection import ModelSelection, select_model
from aggregate.sending.models import FinishReason
from aggregate.sending.turn import ASSISTANT, USER, send_turn
from aggregate.sending.turn_preparation import prepare_turn


@dataclass(frozen=True, slots=True)
class Discussion:
    """A discussion of a project; ``""`` or ``"default"`` is the name of the default one."""

    project: Project
    name: str = ""

    def turns(self, *, is_new: bool = False) -> DiscussionTurns:
        scope, name = scope_of(self.project), discussion_name(self.name)
        return discussion_turns(self.project, name, scope=scope, is_new=is_new)

    def fork(self, new: str) -> Path:
        old, new = discussion_name(self.name), discussion_name(new)
        project = self.project
        if NO_DISCUSSION in (old, new):
            raise ConfigError(f'"{NO_DISCUSSION}" is no discussion: take another name')
        if project.path is None:
            raise ConfigError("a project that is no file has no discussions")
        turns = self.turns()
        if not turns.all:
            raise ConfigError(f'the discussion "{old or DEFAULT}" has no turns to go on from')
        if not new and Discussion(project).turns().all:
            raise ConfigError('there is a discussion "default" already', path=str(project.path))
        target = confined_history(project, history_file(project.path, new, project.prompts))
        copy_discussion(turns.path, target, before=turns.configured, continues=old or DEFAULT)
        return target

    def delete(self) -> None:
        path = self.turns().path
        if path is None:
            return
        try:
            confined_history(self.project, path).unlink()
        except OSError as error:
            raise OutputError(f"cannot delete {path}: {error.strerror or error}") from error

    def last_exchange(
        self, *, question: str | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        turns = self.turns(is_new=True)
        last = [turn for turn in turns.written[-2:] if isinstance(turn, dict)]
        if turns.path is None or [turn.get("role") for turn in last] != [USER, ASSISTANT]:
            raise ConfigError(
                f'the discussion "{self.name or DEFAULT}" does not end with a question and its answer: '
                "nothing is taken back"
            )
        if question not in (None, last[0].get("content")):
            raise ConfigError("somebody else has written to the discussion: nothing is taken back")
        return last[0], last[1]

    def take_back(self) -> str:
        last, path = self.last_exchange(), self.turns().path
        own = path and confined_history(self.project, path)
        if own is None or not replace_last_turns(own, last, ()):
            raise ConfigError("somebody else has written to the discussion: nothing is taken back")
        return str(last[0].get("content", ""))


def confined_history(project: Project, path: Path) -> Path:
    """Return the path, which no link leads out of what the project may write."""
    scope = scope_of(project)
    return confined(path, None if scope.allow_outside else Path(scope.root))


SUMMARY: Final = "Summary"  # who says it; to the model it is a part of what the user sends
STAYING: Final = 4  # the last turns, word for word: what the next question refers to
SUMMARY_WORDS: Final = 600  # the most that a summary is asked to have
_SUMMARY_TOKENS: Final = 800  # what a summary of so many words has
# Of the turns that become a summary: of fewer it would hardly be shorter.
_FEWEST_TOKENS: Final = 1_000
_NAME_LENGTH: Final = 40  # characters of a discussion's name in that of the kept one, of 50
_INSTRUCTIONS: Final = """\
Summarise the first {turns} turns of this discussion ("Discussion Excerpt 1" to "Discussion Excerpt {turns}") for \
somebody who goes on with it and will no longer see them. Keep what was asked, what was decided and why, what was \
tried and failed, what is still open, and the names of files, functions, values, errors and commands as they were \
written. Leave out what was taken back later, and what the files themselves show. Answer with the summary alone, in at \
most {words} words."""
_question = partial(_INSTRUCTIONS.format, words=SUMMARY_WORDS)


@dataclass(frozen=True, slots=True)
class PreparedCompaction:
    turn: Exchange  # the request for the summary
    name: str  # of the discussion, ``""`` for the default one
    turns: tuple[Any, ...]  # those that become a summary
    tokens: int  # theirs, by o200k
    kept_as: str  # the name of the discussion in which all turns are kept

    @property
    def price(self) -> Decimal | None:
        output = min(_SUMMARY_TOKENS, self.turn.asked.max_output)
        return self.turn.price(replace(self.turn.expected, output=output))

    @property
    def sentence(self) -> str:
        amount, client = self.price, self.turn.client
        costs = "at a price that is not known" if amount is None else f"for about ${amount:.4f}"
        return (
            f"{len(self.turns):,} turns ({self.tokens:,} tokens) become a summary, {costs}, asked of "
            f"{client.provider} {client.model}; "
            f"each further turn then has about {max(self.tokens - _SUMMARY_TOKENS, 0):,} tokens less"
        )

    @property
    def data(self) -> dict[str, object]:
        return {
            "provider": self.turn.client.provider,
            "model": self.turn.client.model,
            "discussion": self.name or DEFAULT,
            "turns": len(self.turns),
            "tokens": self.tokens,
            "kept_as": self.kept_as,
            "cost": None if self.price is None else float(self.price),
            "warnings": list(self.turn.warnings),
        }


def prepare_compaction(
    project: Project,
    selection: ModelSelection,
    *,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> PreparedCompaction:
    """Nothing is written or sent. Where all turns exceed the model's window, the oldest that fit become a summary."""
    name = discussion_name(select_model(project, selection, require_key=False)[1].discussion)
    turns = Discussion(project, name).turns(is_new=True)
    if name == NO_DISCUSSION or project.path is None or turns.path is None:
        raise ConfigError(f'the discussion "{name or DEFAULT}" has no file of its own to compact')
    oldest = turns.written[:-STAYING]
    tokens = count(build_discussion_section(oldest))
    if len(oldest) < 2 or tokens < _FEWEST_TOKENS:
        raise ConfigError(
            f'the discussion "{name or DEFAULT}" is short enough: its last {STAYING} turns always stay, and those '
            f"before have {tokens:,} tokens"
        )
    prepare = partial(
        prepare_turn, project, selection=selection, on_wait=on_wait, require_key=require_key
    )
    turn, oldest = _that_fits(prepare, oldest)
    taken, stem = (
        set(named_discussions(project.path, project.prompts)),
        f"{(name or DEFAULT)[:_NAME_LENGTH]}-full",
    )
    names = chain([stem], (f"{stem}-{number}" for number in count_from(2)))
    kept_as = next(each for each in names if each not in taken)
    return PreparedCompaction(turn, name, oldest, count(build_discussion_section(oldest)), kept_as)


def _that_fits(
    prepare: Callable[..., Exchange], oldest: tuple[Any, ...]
) -> tuple[Exchange, tuple[Any, ...]]:
    """Return the request for a summary of these turns alone, of half of them where they are too many, and so on."""

    def alone(request: Request) -> Request:
        nothing = replace(request, entries=(), screenshots=(), results=(), beads=False, doubts=())
        nothing = replace(nothing, budget=None, task=None)
        return replace(nothing, discussion=NO_DISCUSSION, history=oldest)

    while True:
        try:
            return prepare(_question(turns=len(oldest)), aside=alone), oldest
        except PromptTooLongError:
            if len(oldest) < 4:
                raise
            oldest = oldest[: len(oldest) // 2]


def compact_discussion(prepared: PreparedCompaction, project: Project) -> Exchange:
    """Ask for the summary and put it in the place of the oldest turns, which another discussion keeps."""
    if project.path is None:
        raise ConfigError("a project that is no file has no discussions")
    history, kept = (
        confined_history(project, history_file(project.path, name, project.prompts))
        for name in (prepared.name, prepared.kept_as)
    )
    completed = send_turn(prepared.turn)
    summary = {"role": SUMMARY, "content": completed.reply.text}
    try:
        _check_summary(prepared, completed, count(build_discussion_section([summary])))
        copy_discussion(history, kept, continues=prepared.name or DEFAULT)
        if not replace_first_turns(history, prepared.turns, summary):
            kept.unlink(missing_ok=True)
            raise OutputError(f"somebody else has written to {history}: it stays as it is")
    except AggregateError as error:
        error.add_note(f"the summary is in {completed.answer}")
        raise
    return completed


def _check_summary(prepared: PreparedCompaction, completed: Exchange, tokens: int) -> None:
    stop = completed.reply.stop
    if stop is not FinishReason.END:
        most = prepared.turn.asked.max_output
        limit = f" at {most:,} tokens" * (stop is FinishReason.LENGTH)
        raise ProviderError(
            f"the summary is not complete ({stop.value}{limit}): the discussion stays as it was"
        )
    if tokens >= prepared.tokens:
        raise ProviderError(
            f"the summary has {tokens:,} tokens, and the turns have {prepared.tokens:,}: the discussion stays as it was"
        )
