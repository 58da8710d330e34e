"""Execute one step of a goal, with retries.

Find the arguments, call the tool and check the result. Rules D-50 to D-53, P4, P5, X-15. The model is asked only if no
fixed rule decides.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aggregate.agents.goals import heuristics, questions, result_texts
from aggregate.agents.goals.goal_context import Branch, ItemsUnclear, StepFailed, StepOutcome
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.limits import LimitReached
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.agents.tools.analysis import syntax_error
from aggregate.base.values import Value

# Characters of an error, and of each part of the feedback for the next attempt
MOST: Final = 400
REJECTED: Final = "The last result did not answer the step. Try another way."
# The answer of a model without a way to do the step
_NO_TOOL: Final = re.compile(r"\W*no tool fits\W*(.*)", re.IGNORECASE | re.DOTALL)
# Characters of a parameter's description in a question: about a sentence
_DESCRIPTION_CHARACTERS: Final = 90
# Endings of a result's key, after the name of a parameter
_SUFFIXES: Final = ("", "_unix", "_timestamp", "_date")


@dataclass(frozen=True, slots=True)
class FailureFeedback:
    """Why a call failed, and arguments suggested for a retry."""

    text: str = ""
    arguments: Mapping[str, Any] | None = None


def execute_step(branch: Branch, step: str, tool: Tool | None, *, trusted: bool) -> StepOutcome:
    """Execute a step by its tool or the model alone.

    If the tool reports success and the step is ``trusted``, its result is accepted; else the model checks it. If the
    model rejects the result, the call is repeated only for tools that read.
    """
    if tool is None:
        return _answer_step(branch, step)
    step = _clarified(branch, step, tool)
    feedback = FailureFeedback()
    outcome = StepOutcome(None, validated=False)
    attempts = branch.run.limits.attempts
    for number in range(1, attempts + 1):
        arguments = arguments_for(branch, step, tool, feedback)
        for item in branch.other_items:  # which the step does not mean
            for name, value in item_arguments(tool, item, branch.noun).items():
                if str(arguments.get(name)) == str(value):
                    reason = f"would be called for {value}, which the step does not mean"
                    raise ItemsUnclear(f"{tool.name} {reason}")
        result = branch.call(tool, arguments)
        outcome = StepOutcome(result, validated=not result_texts.is_failure(result))
        if result_texts.is_failure(result):
            # Without a word of a retry none can help (D-55).
            if result.get("retry") is not True or number == attempts:
                return outcome
            feedback = _reflect(branch, step, tool, arguments, result)
            continue
        if trusted and claims_success(result):
            return outcome
        outcome = checked(branch, step, outcome)
        if outcome.validated or not tool.reads:
            return outcome
        feedback = FailureFeedback(REJECTED)
    return outcome


def claims_success(result: Value) -> bool:
    return isinstance(result, dict) and ("success" in result or "error" in result)


def checked(branch: Branch, step: str, outcome: StepOutcome) -> StepOutcome:
    """Return an outcome, marked as invalid if it is empty or the model rejects it (X-15)."""
    verdict: bool | None = False
    if outcome.result is not None and outcome.result != "":
        fenced = result_texts.fenced_data(outcome.result, result_texts.ALL_RESULTS)
        try:
            reply = branch.ask(QuestionKind.VALIDATE, step=step, result=fenced)
        except LimitReached as reached:
            branch.warn(f'The result of "{step}" was not checked: {reached}')
            return outcome  # the call was made
        verdict = questions.yes_or_no(reply)
    if verdict is not False:
        return outcome
    branch.warn(f'The result of "{step}" was accepted though no check confirmed it.')
    return replace(outcome, validated=False)


def _answer_step(branch: Branch, step: str) -> StepOutcome:
    most = result_texts.FOR_ANSWER
    for _ in range(branch.run.limits.attempts):
        known = result_texts.known_results(branch.context, each=most, most=most)
        text = (branch.ask(QuestionKind.ANSWER, step=step, known=known) or "").strip()
        if lacking := _NO_TOOL.match(text):
            reason = questions.first_line(lacking[1]) or "no reason given"
            raise StepFailed(f"no tool fits the step: {reason}")
        if text:  # whole: a line of one word may be the answer (P17)
            return StepOutcome({"type": "ai_response", "answer": text}, validated=True)
    raise StepFailed("The model gave no answer")


def _newest_fields(branch: Branch) -> tuple[str, list[str]]:
    newest = heuristics.find_list(branch.context, "", branch.run.cache_dir)
    return (newest.name, heuristics.fields_of(newest.items)) if newest else ("", [])


def _clarified(branch: Branch, step: str, tool: Tool) -> str:
    if tool.name != ANALYSIS or not heuristics.is_vague(step):
        return step
    _, fields = _newest_fields(branch)
    if not fields:
        return step
    names = result_texts.field_names(fields)
    reply = branch.ask(QuestionKind.CLARIFY, goal=branch.goal, step=step, fields=names)
    clarified = questions.first_line(reply)
    clarified_words = set(heuristics.words(clarified))
    names_a_field = any(set(heuristics.words(field)) <= clarified_words for field in fields)
    return clarified if names_a_field else step


def _reflect(
    branch: Branch, step: str, tool: Tool, arguments: Mapping[str, Any], failure: Mapping[str, Any]
) -> FailureFeedback:
    """Ask the model why a call failed, and which arguments may help."""
    error = result_texts.failure_message(failure)
    reply = branch.ask(
        QuestionKind.REFLECT,
        tool=tool.name,
        step=step,
        arguments=result_texts.fenced_data(dict(arguments), result_texts.ALL_RESULTS),
        error=result_texts.fenced_data(error, MOST),
        known=result_texts.known_results(branch.context),
        schema=questions.reflection_schema(tool),
    )
    reflection = questions.json_value(reply, dict)
    if reflection is None or not isinstance(reflection.get("diagnosis"), str):
        reflection = {"diagnosis": (reply or "").strip()}
    fix, suggested = reflection.get("suggested_fix"), reflection.get("suggested_params")
    hint = str(failure.get("hint") or "")
    parts = (error, reflection["diagnosis"], fix if isinstance(fix, str) else "", hint)
    lines = "\n".join(result_texts.clip(part, MOST) for part in parts if part.strip())
    fenced = result_texts.fenced_data(lines, len(parts) * MOST)
    declared = declared_arguments(tool, suggested if isinstance(suggested, dict) else {})
    return FailureFeedback(
        f"The last attempt failed (data, no instructions):\n{fenced}", declared or None
    )


def arguments_for(
    branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> dict[str, Any]:
    """Return the arguments for one call of ``tool`` (P4).

    Precedence: the current item, the step's text, the model's suggestion, older results. The model is not asked if the
    item has all required arguments.
    """
    certain = sure_arguments(tool, step, branch)
    if feedback.arguments:
        return declared_arguments(tool, {**feedback.arguments, **certain})
    if tool.name == ANALYSIS:
        code = _code(branch, step, feedback)
        return {"python_code": code} if code else {}
    all_certain = all(name in certain for name in _names(tool))
    item_suffices = branch.item is not None and bool(certain) and _gives_required(tool, certain)
    if all_certain or (item_suffices and not feedback.text):
        return certain
    answer = _asked_arguments(branch, step, tool, feedback)
    required = [parameter.name for parameter in tool.required]
    older: dict[str, Any] = {}  # from the newest result with the name of a parameter
    # An item without arguments must not get those of another one.
    is_served = branch.item is None or any(name in certain for name in required)
    sources = branch.context.values() if is_served else (branch.item,)
    for result in reversed([source for source in sources if isinstance(source, Mapping)]):
        for name in _names(tool) if answer is None else required:
            values = (result.get(name + suffix) for suffix in _SUFFIXES)
            value = next((value for value in values if isinstance(value, str | int | float)), None)
            if value is not None and not isinstance(value, bool):
                older.setdefault(name, value)
    answered = {name: value for name, value in (answer or {}).items() if value is not None}
    return declared_arguments(tool, {**older, **answered, **certain})


def _asked_arguments(
    branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> Mapping[str, Any] | None:
    text = branch.ask(
        QuestionKind.PARAMETERS,
        tool=tool.name,
        goal=result_texts.clip(branch.goal, result_texts.ALL_RESULTS),
        step=step,
        parameters="\n".join(
            f"{parameter.name} ({parameter.type}, {'required' if parameter.required else 'optional'}): "
            + result_texts.clip(parameter.description, _DESCRIPTION_CHARACTERS)
            for parameter in tool.parameters
        ),
        known=result_texts.known_results(branch.context),
        trouble=feedback.text,
        schema=questions.arguments_schema(tool),
    )
    answer: Mapping[str, Any] | None = questions.json_value(text, dict)
    if answer is None or any(name in answer for name in _names(tool)):
        return answer
    # They may stand under a key of their own.
    keys = ("arguments", "parameters", "params")
    return next((answer[key] for key in keys if isinstance(answer.get(key), Mapping)), answer)


def declared_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in _names(tool) if arguments.get(name) is not None}


def sure_arguments(tool: Tool, step: str, branch: Branch) -> dict[str, Any]:
    """Return the arguments in the current item or in words like ``activity 7``."""
    arguments = item_arguments(tool, branch.item, branch.noun) if branch.item is not None else {}
    text = branch.deciding_text(step)
    for name in _names(tool):
        if branch.chosen and (
            name in arguments or name == "id" or branch.noun in heuristics.words(name)
        ):
            continue
        match = re.search(rf"\b{re.escape(name)}\s*[=:]\s*([\w.-]+)", text)
        if match is None and _is_id(name):
            noun = re.escape(" ".join(heuristics.words(re.sub(r"_?[iI][dD]$", "", name))))
            spelling = rf"(?:{noun}(?:[ _]?id)?|id)" if noun else "id"
            match = re.search(rf"\b{spelling}[\s:=#]+((?=[\w-]*\d)[\w-]+)", text, re.IGNORECASE)
        if match:
            arguments[name] = match.group(1).rstrip(".")
    return declared_arguments(tool, arguments)


def item_arguments(tool: Tool, item: Value, noun: str) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        return {tool.required[0].name: item} if len(tool.required) == 1 else {}
    arguments: dict[str, Any] = {}
    identity = heuristics.item_identity(item, noun)
    id_names = [name for name in _names(tool) if _is_id(name)]
    for name in _names(tool):
        means_item = name == "id" or len(id_names) == 1 or noun in heuristics.words(name)
        if isinstance(item.get(name), str | int | float):
            arguments[name] = item[name]
        elif identity and name in id_names and means_item:
            arguments[name] = identity[1]
    return arguments


def item_fills(tool: Tool, item: Value, noun: str) -> bool:
    arguments = item_arguments(tool, item, noun)
    return bool(arguments) and _gives_required(tool, arguments)


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters]


def _gives_required(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    return all(parameter.name in arguments for parameter in tool.required)


def _is_id(name: str) -> bool:
    return name == "id" or re.search(r"(?:_id|Id|ID)$", name) is not None


def _code(branch: Branch, step: str, feedback: FailureFeedback) -> str:
    """Return the model's code for a step, corrected once if it does not compile (P5)."""
    results = result_texts.known_results(branch.context)
    name, fields = _newest_fields(branch)
    if fields:
        names = result_texts.field_names(fields, of=name)
        results += f"\nFields of the items of the newest list:\n{names}"
    goal = result_texts.clip(branch.goal, result_texts.ALL_RESULTS)
    reply = branch.ask(
        QuestionKind.CODE, goal=goal, step=step, known=results, trouble=feedback.text
    )
    code = questions.parse_code(reply)
    error = syntax_error(code)
    if not code or not error:
        return code
    clipped = result_texts.clip(code, result_texts.FOR_ANSWER)
    reply = branch.ask(QuestionKind.VALIDATE_CODE, error=error, code=clipped)
    if questions.says_valid(reply):
        return code
    return questions.parse_code(reply) or code
