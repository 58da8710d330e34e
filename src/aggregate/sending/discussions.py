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
from aggregate.sending.turn_composition import USER


def project_discussion(project: Project, name: str, *, is_new: bool = False) -> DiscussionTurns:
    """Return the turns of a discussion.

    Args:
        project: Whose discussion.
        name: Its name, ``""`` or ``"default"`` for the default one.
        is_new: Whether there need be no discussion of this name yet.

    Raises:
        ConfigError: There is none of this name, or its file cannot be used.
        ScopeError: The file is a link to elsewhere.
    """
    scope = scope_of(project)
    return discussion_turns(project, discussion_name(name), scope=scope, is_new=is_new)


def fork_discussion(project: Project, old: str, new: str) -> Path:
    """Write the discussion ``new`` with all turns of ``old``, and return the path of its file (rule S-5).

    Raises:
        ConfigError: There is no ``old`` with turns, or there is a ``new`` already.
        OutputError: It cannot be written, or lies outside of the project.
    """
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
    target = confined(history_file(project.path, new), _root(project))
    copy_discussion(turns.path, target, before=turns.configured, continues=old or DEFAULT)
    return target


def delete_discussion(project: Project, turns: DiscussionTurns) -> None:
    """Delete the file of a discussion, if it has one.

    Raises:
        OutputError: It cannot be deleted, or lies outside of the project.
    """
    if turns.path is None:
        return
    try:
        confined(turns.path, _root(project)).unlink()
    except OSError as error:
        raise OutputError(f"cannot delete {turns.path}: {error.strerror or error}") from error


def last_exchange(
    project: Project, name: str, *, question: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the last question of a discussion, and its answer.

    Args:
        project: Whose discussion.
        name: Its name.
        question: What must have been asked last, ``None`` for anything.

    Raises:
        ConfigError: The discussion does not end with a question and its answer in its own file, or with another one.
    """
    turns = project_discussion(project, name, is_new=True)
    last = [turn for turn in turns.written[-2:] if isinstance(turn, dict)]
    if turns.path is None or [_role(turn) for turn in last] != [USER, ASSISTANT]:
        raise ConfigError(
            f'the discussion "{name or DEFAULT}" does not end with a question and its answer: nothing is taken back'
        )
    if question not in (None, last[0].get("content")):
        raise ConfigError("somebody else has written to the discussion: nothing is taken back")
    return last[0], last[1]


def take_back(project: Project, name: str) -> str:
    """Take the last question with its answer out of a discussion, and return the question.

    Raises:
        ConfigError: The discussion does not end with a question and its answer in its own file.
        OutputError: The file cannot be written, or lies outside of the project.
    """
    last = last_exchange(project, name)
    path = project_discussion(project, name).path
    if path is None or not replace_last_turns(confined(path, _root(project)), last, ()):
        raise ConfigError("somebody else has written to the discussion: nothing is taken back")
    return str(last[0].get("content", ""))


def _role(turn: dict[str, Any]) -> str:
    return str(turn.get("role", ""))


def _root(project: Project) -> Path | None:
    """Return the folder that what is written must lie in, ``None`` for anywhere."""
    scope = scope_of(project)
    return None if scope.allow_outside else Path(scope.root)
