"""What the agent asks of a model: one small question at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable


class QuestionKind(StrEnum):
    """The questions (rules P1 to P17); P0, advice, needs no model."""

    DECOMPOSE = "decompose"
    FIND_TOOL = "find_tool"
    CLARIFY = "clarify"
    PARAMETERS = "parameters"
    CODE = "code"
    VALIDATE_CODE = "validate_code"
    FIELDS_PRESENT = "fields_present"
    CALLS_NEEDED = "calls_needed"
    ITEM_GOAL = "item_goal"
    SPLIT = "split"
    VALIDATE = "validate"
    PROSE = "prose"
    COMPLETE = "complete"
    MISSING = "missing"
    CORRECT = "correct"
    MEMORY = "memory"
    REFLECT = "reflect"
    ANSWER = "answer"


USUAL_TEMPERATURE: Final = 0.1
TEMPERATURES: Final = {
    QuestionKind.DECOMPOSE: 0.2,
    QuestionKind.MEMORY: 0.0,
    QuestionKind.ITEM_GOAL: 0.2,
    QuestionKind.MISSING: 0.2,
    QuestionKind.CORRECT: 0.2,
    QuestionKind.PROSE: 0.3,
}
"""Where it is not the usual one (rule D-12)."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        call: Which of the questions it is.
        text: What the model is shown.
        place: Which step asks, ``0.2`` or ``0.2/1.3/1.1``; ``""`` for the goal itself.
        temperature: For a client that can set it.
        schema: JSON schema of the answer, for a client that can bind it; what comes as free text is read as well.
            ``None`` where a text is wanted: a line, code, an answer.
        tokens_left: How many the goal may still use, ``None`` for any number.
        seconds_left: How long the goal may still take, ``None`` for any time; an answer after that is not waited for.
    """

    call: QuestionKind
    text: str
    place: str = ""
    temperature: float = USUAL_TEMPERATURE
    schema: Mapping[str, Any] | None = None
    tokens_left: int | None = None
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered.

    Attributes:
        text: What it wrote.
        tokens: Of question and answer together.
        problem: Why the text is no answer, ``""`` where it is one.
        charged: What counts against the goal's limit, where that is less: a token read from a cache costs a part of
            one. ``None`` for all tokens.
    """

    text: str
    tokens: int = 0
    problem: str = ""
    charged: int | None = None


@runtime_checkable
class Model(Protocol):
    """The agent's view of a ``ChatClient``: anything that answers one question.

    ``as_model`` makes one of a provider's client. It is called from several threads where sub-tasks run at once.
    """

    def ask(self, question: Question) -> Completion:
        """Return the answer; whatever is raised counts as no answer."""
        ...
