"""A model with scripted answers, the same in every run."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from aggregate.agents.goals.questions import Completion, Question, QuestionKind
from aggregate.agents.script_file import ReplyScript, ScriptedReply, load_replies
from aggregate.base.errors import ModelError


@dataclass(slots=True)
class ScriptedModel:
    """Answers questions by rules; the longest matching text wins."""

    rules: Mapping[tuple[QuestionKind, str], ScriptedReply]
    questions: list[Question] = field(default_factory=list)
    _times: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: Question) -> Completion:
        texts = [text for kind, text in self.rules if kind is question.call]
        fitting = [text for text in texts if text in question.text]
        with self._lock:
            self.questions.append(question)
            if not fitting:
                step = question.place or "goal"
                raise ModelError(
                    f"the script has no answer to {question.call} at step {step}: add a rule"
                )
            rule = question.call, max(fitting, key=len)
            self._times[*rule, question.place] += 1
            attempt = self._times[*rule, question.place]
        reply = self.rules[rule].take(attempt)
        return Completion(reply.text, (len(question.text) + len(reply.text)) // 4)


def scripted_model(script: Mapping[str, Any]) -> ScriptedModel:
    """Return a model with the answers of ``script``.

    Args:
        script: Answers by question kind, or by ``kind: text in the question``. An answer is a text, a
            table of ``ScriptedReply``, or a list of these.
    """
    try:
        answers = ReplyScript(answers=dict(script)).answers
    except ValidationError as error:
        name = error.errors()[0]["loc"][1]
        raise ModelError(f'the script\'s "{name}" needs a text or a list of texts') from None
    rules: dict[tuple[QuestionKind, str], ScriptedReply] = {}
    for name, reply in answers.items():
        kind, _, text = name.partition(":")
        if kind.strip() not in list(QuestionKind):
            kinds = ", ".join(QuestionKind)
            raise ModelError(f'the script\'s "{name}" is not a question: questions are {kinds}')
        rules[QuestionKind(kind.strip()), text.strip()] = reply
    return ScriptedModel(rules)


def read_script(path: Path) -> ScriptedModel:
    """Return a model with the answers of a script file."""
    return scripted_model(load_replies(path))
