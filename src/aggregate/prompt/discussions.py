"""The discussions of a project: which turns each has, and in which file they stand."""

from pathlib import Path
from typing import Any, NamedTuple

from aggregate.base.disk import is_inside, real_path
from aggregate.base.errors import ConfigError, ScopeError
from aggregate.base.text import did_you_mean
from aggregate.base.values import Scope
from aggregate.project.configuration import Project
from aggregate.project.files import OUTSIDE
from aggregate.project.history import (
    DEFAULT,
    NO_DISCUSSION,
    find_history_file,
    named_discussions,
    read_discussion,
)


class DiscussionTurns(NamedTuple):
    """The turns of a discussion.

    Attributes:
        configured: Those that stand in the configuration, which are of the default discussion.
        written: Those of the discussion's own file.
        continues: The discussion that it goes on from, ``None`` for none; ``""`` is the default one.
        path: The discussion's own file, ``None`` where there is none.
    """

    configured: tuple[str | dict[str, Any], ...] = ()
    written: tuple[str | dict[str, Any], ...] = ()
    continues: str | None = None
    path: Path | None = None

    @property
    def all(self) -> tuple[str | dict[str, Any], ...]:
        """All turns, oldest first."""
        return (*self.configured, *self.written)


def discussion_turns(
    project: Project, name: str | None, *, scope: Scope, is_new: bool = False
) -> DiscussionTurns:
    """Return the turns of a discussion (rule S-4).

    Args:
        project: Whose discussion.
        name: Its name, ``""`` for the default one, ``"none"`` for none, ``None`` for the default one if configured.
        scope: Which files the project may read.
        is_new: Whether there need be no discussion of this name yet.

    Raises:
        ConfigError: There is none of this name, or its file cannot be used.
        ScopeError: The file is a link to elsewhere.
    """
    if name == NO_DISCUSSION:
        return DiscussionTurns()
    configured: tuple[str | dict[str, Any], ...] = ()
    if not name:
        own_turns = (*project.config.history, *project.config.discussion.history)
        configured = tuple(
            turn if isinstance(turn, str) else turn.model_dump() for turn in own_turns
        )
    file = find_history_file(project.path, name or "") if project.path else None
    if file is None:
        if name and not is_new:
            raise _unknown_discussion(project, name)
        return DiscussionTurns(configured)
    check_within(file, scope)
    discussion = read_discussion(file)
    if name is None and discussion.is_begun_by_send and not configured:
        return DiscussionTurns()
    return DiscussionTurns(configured, tuple(discussion.turns), discussion.continues, file)


def _unknown_discussion(project: Project, name: str) -> ConfigError:
    known = [DEFAULT, *(named_discussions(project.path) if project.path else ())]
    path = str(project.path) if project.path else None
    return ConfigError(f'there is no discussion "{name}": {did_you_mean(name, known)}', path=path)


def check_within(file: Path | None, scope: Scope) -> None:
    """Make sure that a file with the user's turns, or the configuration, lies in the project.

    Raises:
        ScopeError: It is a link to elsewhere.
    """
    if file and not scope.allow_outside and not is_inside(real_path(file), scope.root):
        raise ScopeError(f"{OUTSIDE}: {file}")
