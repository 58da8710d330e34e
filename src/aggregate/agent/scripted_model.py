"""A model without a model: it answers by rules, the same ones in every run, however many threads ask."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from aggregate.agent.model import Completion, Question, QuestionKind
from aggregate.disk.reading import read_text
from aggregate.errors import ModelError


@dataclass(frozen=True, slots=True)
class ScriptRule:
    """Answers to the questions of one kind that hold a text.

    Attributes:
        call: The kind.
        answers: The first time a step asks, the first; then the next; the last one stays.
        contains: What the question must hold.
    """

    call: QuestionKind
    answers: tuple[str, ...]
    contains: str = ""

    def fits(self, question: Question) -> bool:
        """Return whether this rule answers ``question``."""
        return question.call is self.call and self.contains in question.text


@dataclass(slots=True)
class ScriptedModel:
    """Answers by the rule that fits with the longest text, the first of equals, counting for each step by itself.

    Attributes:
        rules: What it knows.
        questions: All that was asked.
    """

    rules: tuple[ScriptRule, ...]
    questions: list[Question] = field(default_factory=list)
    _times: dict[tuple[int, str], int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: Question) -> Completion:
        """Answer by the script; a token is counted for every four characters.

        Raises:
            ModelError: No rule fits.
        """
        with self._lock:
            self.questions.append(question)
            fitting = [(-len(rule.contains), n) for n, rule in enumerate(self.rules) if rule.fits(question)]
            if fitting:
                number = min(fitting)[1]
                time = self._times.get((number, question.place), 0)
                self._times[number, question.place] = time + 1
                answers = self.rules[number].answers
                text = answers[min(time, len(answers) - 1)]
                return Completion(text, (len(question.text) + len(text)) // 4)
        raise ModelError(f"the script has no answer to {question.call} at step {question.place or 'goal'}: add a rule")


def scripted_model(script: Mapping[str, str | Iterable[str]] | Iterable[ScriptRule]) -> ScriptedModel:
    """Return a model that answers by ``script``.

    Args:
        script: Rules; or answers by ``call`` or ``call: text that the question holds``.

    Raises:
        ModelError: A name is no question of the engine, or a rule has no answer.
    """
    if isinstance(script, Mapping):
        return ScriptedModel(tuple(_rule(name, answers) for name, answers in script.items()))
    return ScriptedModel(tuple(script))


def read_script(path: Path) -> ScriptedModel:
    """Return a model that answers by a JSON file: ``{"decompose": "1. ...", "code: Count": ["...", "..."]}``.

    Raises:
        ModelError: The file cannot be read, or holds something else.
    """
    try:
        script = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: the script cannot be read: {reason}") from None
    if not isinstance(script, dict):
        raise ModelError(f"{path}: the script must be an object of answers by question")
    return scripted_model(script)


def _rule(name: str, answers: Any) -> ScriptRule:  # noqa: ANN401 - a file's content, checked here
    call, _, contains = name.partition(":")
    texts = (answers,) if isinstance(answers, str) else tuple(answers) if isinstance(answers, list | tuple) else ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ModelError(f'the script\'s "{name}" needs a text or a list of texts')
    if call.strip() not in [one.value for one in QuestionKind]:
        raise ModelError(f'the script\'s "{name}" is no question: questions are {", ".join(QuestionKind)}')
    return ScriptRule(QuestionKind(call.strip()), texts, contains.strip())
