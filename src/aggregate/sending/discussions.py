"""Fork, delete and compact discussions, and undo their last turn.

To compact a discussion the model summarises its oldest turns. A copy keeps all turns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import chain, count as count_from
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.writing import confined
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
from aggregate.prompt.asking import DiscussionTurns, Request, discussion_turns, scope_of
from aggregate.prompt.sections.discussion_section import build_discussion_section
from aggregate.sending.model_selection import ModelSelection, select_model
from aggregate.sending.models import FinishReason
from aggregate.sending.prepared_turn import prepare_turn
from aggregate.sending.turn import ASSISTANT, USER, Exchange, send_turn


@dataclass(frozen=True, slots=True)
class Discussion:
    """A discussion of a project, with operations on its file.

    Attributes:
        name: ``""`` and ``"default"`` name the default discussion.
    """

    project: Project
    name: str = ""

    def turns(self, *, is_new: bool = False) -> DiscussionTurns:
        return discussion_turns(self.project, discussion_name(self.name), is_new=is_new)

    def fork(self, new: str) -> Path:
        old, new = discussion_name(self.name), discussion_name(new)
        project = self.project
        if NO_DISCUSSION in (old, new):
            raise ConfigError(f'"{NO_DISCUSSION}" means no discussion: choose another name')
        if project.path is None:
            raise ConfigError(_NO_FILE)
        turns = self.turns()
        if not turns.all:
            raise ConfigError(f'the discussion "{old or DEFAULT}" has no turns to continue')
        if not new and Discussion(project).turns().all:
            raise ConfigError('the discussion "default" already exists', path=str(project.path))
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
                f'nothing to undo: the discussion "{self.name or DEFAULT}" does not end with a question and its answer'
            )
        if question not in (None, last[0].get("content")):
            raise ConfigError(_CHANGED)
        return last[0], last[1]

    def take_back(self) -> str:
        last, path = self.last_exchange(), self.turns().path
        history = path and confined_history(self.project, path)
        if history is None or not replace_last_turns(history, last, ()):
            raise ConfigError(_CHANGED)
        return str(last[0].get("content", ""))


def confined_history(project: Project, path: Path) -> Path:
    """Return the path of a history file; raise if it leads out of the project's scope."""
    scope = scope_of(project)
    return confined(path, None if scope.allow_outside else Path(scope.root))


_NO_FILE: Final = "only a project with a configuration file has discussions"
_CHANGED: Final = "another process has changed the discussion: nothing is undone"
SUMMARY: Final = "Summary"  # role of the summary; the model receives it as user text
STAYING: Final = 4  # last turns kept word for word, since the next question refers to them
SUMMARY_WORDS: Final = 600  # upper limit, as the model is asked
_SUMMARY_TOKENS: Final = 800  # expected size of such a summary
# A summary of fewer would hardly be shorter.
_FEWEST_TOKENS: Final = 1_000
_NAME_LENGTH: Final = 40  # characters of the name repeated in the copy's name (at most 50)
_INSTRUCTIONS: Final = """\
Summarise the first {turns} turns of this discussion ("Discussion Excerpt 1" to "Discussion Excerpt {turns}") for \
somebody who goes on with it and will no longer see them. Keep what was asked, what was decided and why, what was \
tried and failed, what is still open, and the names of files, functions, values, errors and commands as they were \
written. Leave out what was taken back later, and what the files themselves show. Answer with the summary alone, in at \
most {words} words."""


@dataclass(frozen=True, slots=True)
class PreparedCompaction:
    turn: Exchange  # the request for the summary
    name: str  # of the discussion, ``""`` for the default one
    turns: tuple[Any, ...]  # to be summarised
    tokens: int  # o200k tokens of the turns
    kept_as: str  # name of the copy with all turns

    @property
    def price(self) -> Decimal | None:
        output = min(_SUMMARY_TOKENS, self.turn.asked.max_output)
        return self.turn.price(replace(self.turn.expected, output=output))

    @property
    def saved_tokens(self) -> int:
        """Tokens that each further turn is expected to save."""
        return max(self.tokens - _SUMMARY_TOKENS, 0)


def prepare_compaction(
    project: Project,
    selection: ModelSelection,
    *,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    require_key: bool = True,
) -> PreparedCompaction:
    """Plan a request to summarise a discussion's oldest turns.

    Nothing is sent or written. If all these turns exceed the model's context window, only the oldest that fit are
    summarised.
    """
    name = discussion_name(select_model(project, selection, require_key=False)[1].discussion)
    turns = Discussion(project, name).turns(is_new=True)
    if name == NO_DISCUSSION or project.path is None or turns.path is None:
        raise ConfigError(f'the discussion "{name or DEFAULT}" has no file of its own to compact')
    oldest = turns.written[:-STAYING]
    tokens = count(build_discussion_section(oldest))
    if len(oldest) < 2 or tokens < _FEWEST_TOKENS:
        raise ConfigError(
            f'the discussion "{name or DEFAULT}" is short enough: its last {STAYING} turns always stay, and the '
            f"turns before them have {tokens:,} tokens"
        )
    while True:
        message = _INSTRUCTIONS.format(turns=len(oldest), words=SUMMARY_WORDS)
        try:
            turn = prepare_turn(
                project,
                message,
                selection,
                on_wait=on_wait,
                require_key=require_key,
                aside=partial(_turns_only, oldest),
            )
            break
        except PromptTooLongError:
            if len(oldest) < 4:
                raise
            oldest = oldest[: len(oldest) // 2]
    used_names = set(named_discussions(project.path, project.prompts))
    stem = f"{(name or DEFAULT)[:_NAME_LENGTH]}-full"
    names = chain([stem], (f"{stem}-{number}" for number in count_from(2)))
    kept_as = next(copy_name for copy_name in names if copy_name not in used_names)
    return PreparedCompaction(turn, name, oldest, count(build_discussion_section(oldest)), kept_as)


def _turns_only(turns: tuple[Any, ...], request: Request) -> Request:
    empty = replace(request, entries=(), screenshots=(), results=(), beads=False, doubts=())
    empty = replace(empty, budget=None, task=None)
    return replace(empty, discussion=NO_DISCUSSION, history=turns)


def compact_discussion(prepared: PreparedCompaction, project: Project) -> Exchange:
    """Replace a discussion's oldest turns by the model's summary.

    A copy of the discussion keeps all turns.
    """
    if project.path is None:
        raise ConfigError(_NO_FILE)
    history, full_copy = (
        confined_history(project, history_file(project.path, name, project.prompts))
        for name in (prepared.name, prepared.kept_as)
    )
    completed = send_turn(prepared.turn)
    summary = {"role": SUMMARY, "content": completed.reply.text}
    try:
        _check_summary(prepared, completed, count(build_discussion_section([summary])))
        copy_discussion(history, full_copy, continues=prepared.name or DEFAULT)
        if not replace_first_turns(history, prepared.turns, summary):
            full_copy.unlink(missing_ok=True)
            raise OutputError(f"another process has changed {history}: it stays unchanged")
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
            f"the summary is incomplete ({stop.value}{limit}): the discussion stays unchanged"
        )
    if tokens >= prepared.tokens:
        raise ProviderError(
            f"the summary ({tokens:,} tokens) is not shorter than the turns ({prepared.tokens:,}): "
            "the discussion stays unchanged"
        )
