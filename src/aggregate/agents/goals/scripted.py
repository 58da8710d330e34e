"""A model that answers by rules, the same in every run."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from aggregate.agents.goals.questions import Completion, Question, QuestionKind
from aggregate.agents.script_file import ScriptedReply, as_table, read_answers
from aggregate.base.errors import ConfigError, ModelError


@dataclass(slots=True)
class ScriptedModel:
    """Answers by the rule that fits with the longest text, the first of equals, counting for each step by itself.

    A rule has the question's kind and a text that it must hold; its answers are given one after the other, and the last
    one stays.
    """

    rules: dict[tuple[QuestionKind, str], list[ScriptedReply]]
    questions: list[Question] = field(default_factory=list)
    _times: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: Question) -> Completion:
        fitting = [
            rule for rule in self.rules if rule[0] is question.call and rule[1] in question.text
        ]
        with self._lock:
            self.questions.append(question)
            if not fitting:
                step = question.place or "goal"
                raise ModelError(
                    f"the script has no answer to {question.call} at step {step}: add a rule"
                )
            rule = max(fitting, key=lambda rule: len(rule[1]))
            self._times[*rule, question.place] += 1
            attempt = self._times[*rule, question.place]
        answer = self.rules[rule][:attempt][-1]
        time.sleep(answer.seconds)
        if error := answer.failure(attempt):
            raise ModelError(error)
        return Completion(answer.text, (len(question.text) + len(answer.text)) // 4)


def scripted_model(script: Mapping[str, Any]) -> ScriptedModel:
    """Return a model that answers by ``script``, by ``call`` or ``call: text that the question holds``.

    An answer is a text, a table of ``ScriptedReply`` or a list of these.
    """
    rules: dict[tuple[QuestionKind, str], list[ScriptedReply]] = {}
    for name, answers in script.items():
        kind, _, contains = name.partition(":")
        several = answers if isinstance(answers, list | tuple) else [answers]
        try:
            replies = [ScriptedReply.model_validate(as_table(each)) for each in several]
        except ValueError:
            replies = []
        if not replies:
            raise ModelError(f'the script\'s "{name}" needs a text or a list of texts')
        if kind.strip() not in list(QuestionKind):
            kinds = ", ".join(QuestionKind)
            raise ModelError(f'the script\'s "{name}" is no question: questions are {kinds}')
        rules[QuestionKind(kind.strip()), contains.strip()] = replies
    return ScriptedModel(rules)


def read_script(path: Path) -> ScriptedModel:
    """Return a model that answers by a file: ``{"answers": {"decompose": "1. ...", "code: Count": ["...", "..."]}}``.

    It is JSON, or TOML of the same form; an object without ``answers`` is the answers themselves.

    Raises:
        ConfigError: The file cannot be read, or holds something else.
    """
    script = read_answers(path)[0]
    answers = script.get("answers", script)
    if not isinstance(answers, dict):
        raise ConfigError("must be an object of answers by question", path=str(path))
    return scripted_model(answers)
