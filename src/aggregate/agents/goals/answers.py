"""Choose the answer of a goal among its steps' results.

Rules D-60 to D-74, X-3 and X-5. The first existing one is chosen: a text with the requested number of lines; results of
sub-tasks; the newest text by Python code, by a model, by other tools; a number if the goal asks for a count; the last
successful result.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Final

from aggregate.agents.goals.goal_result import Neuron
from aggregate.agents.goals.quantities import counted_noun, extract_quantity
from aggregate.agents.goals.result_texts import (
    DENDRITES,
    count_of,
    envelope_content,
    is_failure,
    subtasks_text,
    value_lines,
)
from aggregate.base.json_forms import failure_text, jsonable
from aggregate.base.values import Value, isolated_copy
from aggregate.prompt.asking.results import Answer, AnswerKind, AnswerSource

logger: Final = logging.getLogger(__name__)

DETAIL_LIMIT: Final = 10_000  # bytes of JSON above which detailed results are shortened (rule D-74)
LIST_LIMIT: Final = 500  # bytes of a list before its length replaces it
# Beginnings of explanations in place of answers (rule D-73)
EXPLANATION: Final = re.compile(
    r"\s*(?:step 1:|first,|to filter|we need to|i was asked to"
    r"|(?:the|this|my|our|your) (?:\S+ )?(?:goal|task|step|aim|objective|request|question) (?:was|is) (?:to|about)\b)",
    re.IGNORECASE,
)
RANKS: Final = (AnswerKind.SUBTASKS, AnswerKind.PYTHON, AnswerKind.AI, AnswerKind.TEXT)


def select_answer(
    goal: str,
    results: Sequence[Value],
    *,
    descriptions: Sequence[str] | None = None,
    missing: str = "",
) -> Answer:
    """Choose the answer to ``goal`` among its steps' results.

    Without a usable result the answer's ``success`` is false.

    Args:
        goal: The goal in plain language.
        results: The result of each step in execution order, those of corrective steps last (D-67).
        descriptions: The text of each step, for warnings only.
        missing: The fault of an earlier answer, repeated if the answer is only a number of items.
    """
    target = extract_quantity(goal)
    if target is not None:
        logger.info("🎯 Target count from goal: %s", target)
    # Copies as JSON: a result's own methods are never called.
    copies = [jsonable(result) for result in results]
    newest = [(n, copy) for n, copy in enumerate(copies, 1) if not is_failure(copy)][::-1]
    texts = [(n, *_text(copy)) for n, copy in newest if _text(copy)[0].strip()]
    answers = [
        (n, text, kind)
        for n, text, kind in texts
        if kind is not AnswerKind.AI or not EXPLANATION.match(text)
    ]
    # Sorting is stable: of one kind, the newest stays first.
    answers.sort(key=lambda answer: RANKS.index(answer[2]))
    exact = [answer for answer in answers if line_count(answer[1]) == target]
    chosen, reason = (exact or answers)[:1], "most recent of its kind"
    if exact:
        reason = f"matches target count {target}"
    other = None if chosen else _counted(goal, newest) or _last_value(newest, missing)
    if texts and not chosen and not other:
        chosen, reason = texts[:1], "only an explanation"
    summary, source = other or ("No step gave a usable result.", _NO_SOURCE)
    warnings = _failures(copies, descriptions)
    # A blank text is not an answer (rule D-72).
    for n, copy in newest[::-1]:
        is_object = isinstance(copy, Mapping)
        texts_of_step = [copy.get("answer"), copy.get("result")] if is_object else [copy]
        if any(isinstance(text, str) and not text.strip() for text in texts_of_step):
            warnings.append(f"Step {n} gave an empty text.")
    for n, text, kind in chosen:
        logger.info("📝 Using formatted answer from neuron %s (%s, %s)", n, kind, reason)
        summary, source = text.strip("\n"), AnswerSource(n, kind, reason)
        if target is not None and line_count(text) != target:
            warnings.append(f"The goal asks for {target}, the answer has {line_count(text)} lines.")
    is_large = len(json.dumps(copies)) > DETAIL_LIMIT
    return Answer(
        summary=summary,
        source=source,
        success=source.kind is not AnswerKind.NONE,
        warnings=tuple(warnings),
        detailed_results=tuple(
            map(_shortened, copies) if is_large else map(isolated_copy, results)
        ),
    )


def answer_of(goal: str, neurons: Sequence[Neuron], missing: str = "") -> Answer:
    results = [neuron.result for neuron in neurons]
    descriptions = [neuron.description for neuron in neurons]
    return select_answer(goal, results, descriptions=descriptions, missing=missing)


_NO_SOURCE: Final = AnswerSource(0, AnswerKind.NONE, "no usable result")


def line_count(text: str) -> int:
    return len([line for line in text.strip().split("\n") if line.strip()])


def _text(result: Value) -> tuple[str, AnswerKind]:
    if type(result) is str:
        return result, AnswerKind.TEXT
    if not isinstance(result, Mapping):
        return "", AnswerKind.NONE
    if isinstance(result.get(DENDRITES), list):
        return subtasks_text(result), AnswerKind.SUBTASKS
    answer, value = result.get("answer"), result.get("result")
    if result.get("type") == "ai_response" and type(answer) is str:
        return answer, AnswerKind.AI
    if type(value) is str:
        return value, AnswerKind.PYTHON if result.get("success") else AnswerKind.TEXT
    return "", AnswerKind.NONE


def _counted(goal: str, newest: Sequence[tuple[int, Value]]) -> tuple[str, AnswerSource] | None:
    """Return the newest whole number, if the goal asks for a count (D-71)."""
    noun = counted_noun(goal)
    for number, result in newest if noun else ():
        if (count := count_of(result)) is not None:
            reason = "the goal asks for a count, and this is a number"
            return f"{count} {noun}", AnswerSource(number, AnswerKind.COUNT, reason)
    return None


def _last_value(
    newest: Sequence[tuple[int, Value]], missing: str
) -> tuple[str, AnswerSource] | None:
    """Return the last successful result as text (D-68, X-7, X-8)."""
    for number, result in newest:
        count, value = count_of(result), envelope_content(result)
        if count is not None and (
            not isinstance(value, Mapping | list) or value == {"count": count}
        ):
            text = f"Success: {count} items"
            if missing:
                text = f"{count} items, not complete: {missing}"
        else:
            text = "" if value is None or value in ([], {}) else value_lines(value)
        if text.strip() and not _text(result)[0].strip():
            return text, AnswerSource(number, AnswerKind.VALUE, "last successful result")
    return None


def _failures(results: Sequence[Value], descriptions: Sequence[str] | None) -> list[str]:
    failures = [(number, result) for number, result in enumerate(results, 1) if is_failure(result)]
    if not failures:
        return []
    names = ", ".join(str(number) for number, _ in failures)
    warnings = [
        f"⚠️  Warning: Some processing steps failed (steps {names}). Results may be incomplete or inaccurate."
    ]
    for number, result in failures:
        description = "".join(f" ({text})" for text in (descriptions or ())[number - 1 : number])
        warnings.append(
            f"Step {number}{description} failed: {failure_text(result.get('error') or None)}"
        )
    return warnings


def _shortened(value: Value) -> Value:
    if isinstance(value, list) and len(json.dumps(value)) > LIST_LIMIT:
        return f"[{len(value)} items, truncated for brevity]"
    if type(value) is dict:
        return {key: _shortened(item) for key, item in value.items()}
    return value
