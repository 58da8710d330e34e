"""What a child process is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aggregate.base.errors import DeadlineError

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")


@dataclass(slots=True, eq=False)
class Call(Generic[_About, _Answer]):
    about: _About  # whatever the asker wants to find again beside the answer
    function: Callable[..., _Answer] | None  # ``None`` calls nothing, and keeps its place
    arguments: Sequence[Any] = ()
    size: int = 0  # about how many bytes wait with it
    is_parsed: bool = True  # whether a grammar reads these, which wears a process out
    answer: _Answer | Exception | None = None  # also what was raised, or why it was given up
    is_answered: bool = False

    def settle(self, answer: _Answer | Exception | None) -> None:
        self.answer, self.is_answered = answer, True

    def result(self) -> _Answer | DeadlineError:
        """Return the answer of a call that is answered; what the function raised is raised, but for deadlines."""
        if isinstance(self.answer, Exception) and not isinstance(self.answer, DeadlineError):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # it is answered
