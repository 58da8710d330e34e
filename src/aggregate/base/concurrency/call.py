"""A function call in a child process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aggregate.base.errors import DeadlineError

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")


@dataclass(slots=True, eq=False)
class Call(Generic[_About, _Answer]):
    about: _About  # the caller's own data, returned with the answer
    function: Callable[..., _Answer] | None  # None calls nothing but keeps its position
    arguments: Sequence[Any] = ()
    size: int = 0  # bytes of the message, or of the files named in it
    answer: _Answer | Exception | None = None  # a value, or the error raised
    is_answered: bool = False

    def settle(self, answer: _Answer | Exception | None) -> None:
        self.answer, self.is_answered = answer, True

    def result(self) -> _Answer | DeadlineError:
        """Return the function's value or a ``DeadlineError``; raise its other errors."""
        if isinstance(self.answer, Exception) and not isinstance(self.answer, DeadlineError):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # after ``settle``
