"""What the engine asks of a model: one small question at a time."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable


class Call(StrEnum):
    """The questions (rule 1.3); the first of the list, advice, needs no model."""

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


class Shape(StrEnum):
    """What an answer is to be; a client that can have typed answers asks for it, and plain text is read as well."""

    STEPS = "steps"
    """``["...", "..."]`` or ``{"steps": [...]}``, or a list with marks."""
    VERDICT = "verdict"
    """``true`` or ``false``, or yes or no."""
    OBJECT = "object"
    """A JSON object."""
    TEXT = "text"
    """Anything else: a name, a line, code, an answer."""


SHAPES: Final = {
    Call.DECOMPOSE: Shape.STEPS,
    Call.SPLIT: Shape.STEPS,
    Call.FIELDS_PRESENT: Shape.VERDICT,
    Call.CALLS_NEEDED: Shape.VERDICT,
    Call.VALIDATE: Shape.VERDICT,
    Call.COMPLETE: Shape.VERDICT,
    Call.PARAMETERS: Shape.OBJECT,
    Call.MEMORY: Shape.OBJECT,
    Call.REFLECT: Shape.OBJECT,
}
"""Where it is not text."""
TEMPERATURES: Final = {
    Call.DECOMPOSE: 0.2,
    Call.MEMORY: 0.0,
    Call.ITEM_GOAL: 0.2,
    Call.MISSING: 0.2,
    Call.CORRECT: 0.2,
    Call.PROSE: 0.3,
}
"""Where it is not 0.1 (rule D-12)."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        call: Which of the questions it is.
        text: What the model is shown.
        place: Which step asks, ``0.2`` or ``0.2/1.3/1.1``; ``""`` for the goal itself.
        temperature: For a client that can set it.
    """

    call: Call
    text: str
    place: str = ""
    temperature: float = 0.1

    @property
    def shape(self) -> Shape:
        """What the answer is to be."""
        return SHAPES.get(self.call, Shape.TEXT)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model answered: the text, and the tokens of question and answer together."""

    text: str
    tokens: int = 0


@runtime_checkable
class Model(Protocol):
    """Anything that answers questions; called from several threads where sub-tasks run at once."""

    def ask(self, question: Question) -> Answered:
        """Return the answer; whatever is raised counts as no answer."""
        ...
