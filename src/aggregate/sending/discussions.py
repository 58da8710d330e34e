"""What is done to whole discussions of a project: fork, delete, and take back the last turn."""

from pathlib import Path
from typing import Any

from aggregate.base.disk import confined
from aggregate.base.errors import ConfigError, OutputError
from aggregate.project.configuration import Project
from aggregate.project.history import (
    DEFAULT,
    NO_DISCUSSION,
    copy_discussion,
    discussion_name,
    history_file,
    replace_last_turns,
)
from aggregate.prompt import DiscussionTurns, discussion_turns, scope_of
from aggregate.sending.turn import ASSISTANT
from aggregate.sending.turn_preparation import USER


def project_discussion(project: Project, name: str, *, is_new: bool = False) -> DiscussionTurns:
    """Return the turns of a discussion, ``""`` or ``"default"`` for the default one.

    It raises a ``ConfigError`` where there is none of this name, unless it may be new, or its file cannot be used, and
    a ``ScopeError`` where that is a link to elsewhere.
    """
    scope = scope_of(project)
    return discussion_turns(project, discussion_name(name), scope=scope, is_new=is_new)


def fork_discussion(project: Project, old: str, new: str) -> Path:
    """Write the discussion ``new`` with all turns of ``old``, and return the path of its file (rule S-5)."""
    old, new = discussion_name(old), discussion_name(new)
    if NO_DISCUSSION in (old, new):
        raise ConfigError(f'"{NO_DISCUSSION}" is no discussion: take another name')
    if project.path is None:
        raise ConfigError("a project that is no file has no discussions")
    turns = project_discussion(project, old)
    if not turns.all:
        raise ConfigError(f'the discussion "{old or DEFAULT}" has no turns to go on from')
    if not new and project_discussion(project, DEFAULT).all:
        raise ConfigError('there is a discussion "default" already', path=str(project.path))
    target = confined(history_file(project.path, new), discussions_root(project))
    copy_discussion(turns.path, target, before=turns.configured, continues=old or DEFAULT)
    return target


def delete_discussion(project: Project, turns: DiscussionTurns) -> None:
    if turns.path is None:
        return
    try:
        confined(turns.path, discussions_root(project)).unlink()
    except OSError as error:
        raise OutputError(f"cannot delete {turns.path}: {error.strerror or error}") from error


def last_exchange(
    project: Project, name: str, *, question: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the last question of a discussion, which must have been ``question`` if that is given, and its answer."""
    turns = project_discussion(project, name, is_new=True)
    last = [turn for turn in turns.written[-2:] if isinstance(turn, dict)]
    if turns.path is None or [turn.get("role") for turn in last] != [USER, ASSISTANT]:
        raise ConfigError(
            f'the discussion "{name or DEFAULT}" does not end with a question and its answer: nothing is taken back'
        )
    if question not in (None, last[0].get("content")):
        raise ConfigError("somebody else has written to the discussion: nothing is taken back")
    return last[0], last[1]


def take_back(project: Project, name: str) -> str:
    last = last_exchange(project, name)
    path = project_discussion(project, name).path
    root = discussions_root(project)
    if path is None or not replace_last_turns(confined(path, root), last, ()):
        raise ConfigError("somebody else has written to the discussion: nothing is taken back")
    return str(last[0].get("content", ""))


def discussions_root(project: Project) -> Path | None:
    """Return the folder that what is written must lie in, ``None`` for anywhere."""
    scope = scope_of(project)
    return None if scope.allow_outside else Path(scope.root)
