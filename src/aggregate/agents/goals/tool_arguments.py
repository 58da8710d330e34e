"""With which arguments a tool is called: by rules where they decide, else by the model (rules P4, P5)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aggregate.agents.goals import formatting, replies
from aggregate.agents.goals.goal_context import Branch, GoalContext
from aggregate.agents.goals.heuristics import words
from aggregate.agents.goals.item_lists import fields_of, find_list, item_identity
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.replies import arguments_schema
from aggregate.agents.tools import ANALYSIS, Parameter, Tool
from aggregate.base.values import Value

CODE: Final = "python_code"
_DESCRIPTION_CHARACTERS: Final = 90
"""Of a parameter's description in a question: about a sentence."""
_SUFFIXES: Final = ("", "_unix", "_timestamp", "_date")
"""What a result's key may have after the name of the parameter that it fills."""


@dataclass(frozen=True, slots=True)
class FailureFeedback:
    """What the next attempt is told of the last one: a text for the model, and arguments to call with."""

    text: str = ""
    arguments: Mapping[str, Any] | None = None


def arguments_for(
    run: GoalContext, branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> dict[str, Any]:
    """Return the arguments of one call.

    What the current item and the step itself name beats the model's answer, and that beats older results; undeclared
    arguments and ``None`` are dropped. No model is asked where the item gives all that the tool requires.
    """
    certain = sure_arguments(tool, step, branch)
    if feedback.arguments:
        return declared_arguments(tool, {**feedback.arguments, **certain})
    if tool.name == ANALYSIS:
        code = _code(run, branch, step, feedback)
        return {CODE: code} if code else {}
    all_certain = all(parameter.name in certain for parameter in tool.parameters)
    item_suffices = branch.item is not None and _gives_required(tool, certain)
    if all_certain or (item_suffices and not feedback.text):
        return certain
    answer = _asked_arguments(run, branch, step, tool, feedback)
    older = _older_arguments(tool, branch.context)
    if answer is None:
        return declared_arguments(tool, {**older, **certain})
    required = {name: older[name] for name in _names(tool.required) if name in older}
    answered = {name: value for name, value in answer.items() if value is not None}
    return declared_arguments(tool, {**required, **answered, **certain})


def _asked_arguments(
    run: GoalContext, branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> Mapping[str, Any] | None:
    text = run.ask(
        branch.node,
        QuestionKind.PARAMETERS,
        tool=tool.name,
        goal=formatting.clip(branch.goal, formatting.ALL),
        step=step,
        parameters="\n".join(
            f"{parameter.name} ({parameter.type}, {'required' if parameter.required else 'optional'}): "
            + formatting.clip(parameter.description, _DESCRIPTION_CHARACTERS)
            for parameter in tool.parameters
        ),
        known=formatting.known_results(branch.context),
        trouble=feedback.text,
        schema=arguments_schema(tool),
    )
    answer: Mapping[str, Any] | None = replies.json_value(text, dict)
    if answer is None or any(name in answer for name in _names(tool.parameters)):
        return answer
    # It may hold them under a key of its own.
    inner = next(
        (answer[key] for key in ("arguments", "parameters", "params") if key in answer), None
    )
    return inner if isinstance(inner, Mapping) else answer


def declared_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``tool`` declares and that are not ``None``, in its order."""
    return {
        name: arguments[name] for name in _names(tool.parameters) if arguments.get(name) is not None
    }


def sure_arguments(tool: Tool, step: str, branch: Branch) -> dict[str, Any]:
    """Return what the current item and the words of the step give."""
    arguments = item_arguments(tool, branch.item, branch.noun) if branch.item is not None else {}
    for parameter in tool.parameters:
        stated = _stated_value(parameter, branch.deciding_text(step))
        if stated is not None:
            arguments[parameter.name] = stated
    return declared_arguments(tool, arguments)


def item_arguments(tool: Tool, item: Value, noun: str) -> dict[str, Any]:
    """Return the arguments that an item holds: fields of the same name, and its id for the parameter that means it."""
    if not isinstance(item, Mapping):
        return {tool.required[0].name: item} if len(tool.required) == 1 else {}
    arguments: dict[str, Any] = {}
    identity = item_identity(item, noun)
    id_names = [name for name in _names(tool.parameters) if _is_id(name)]
    for name in _names(tool.parameters):
        if isinstance(item.get(name), str | int | float):
            arguments[name] = item[name]
        elif identity and name in id_names:
            means_item = name == "id" or len(id_names) == 1 or noun in words(name)
            if means_item:
                arguments[name] = identity[1]
    return arguments


def item_fills(tool: Tool, item: Value, noun: str) -> bool:
    """Return whether an item gives a call all that the tool requires, and something at all."""
    return bool(tool.required) and _gives_required(tool, item_arguments(tool, item, noun))


def _older_arguments(tool: Tool, context: Mapping[str, Value]) -> dict[str, Any]:
    """Return what earlier results hold under the names of the parameters, the newest first."""
    arguments: dict[str, Any] = {}
    for result in reversed(list(context.values())):
        if not isinstance(result, Mapping):
            continue
        for name in _names(tool.parameters):
            for value in (result.get(name + suffix) for suffix in _SUFFIXES):
                if isinstance(value, str | int | float):
                    if not isinstance(value, bool):
                        arguments.setdefault(name, value)
                    break
    return arguments


def _names(parameters: Sequence[Parameter]) -> list[str]:
    return [parameter.name for parameter in parameters]


def _gives_required(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    return all(name in arguments for name in _names(tool.required))


def _is_id(name: str) -> bool:
    return name == "id" or re.search(r"(?:_id|Id|ID)$", name) is not None


def _stated_value(parameter: Parameter, step: str) -> str | None:
    """Return what the step says of a parameter: ``activity 7``, ``activity_id=7``, ``id 7``."""
    match = re.search(rf"\b{re.escape(parameter.name)}\s*[=:]\s*([\w.-]+)", step)
    if match is None and _is_id(parameter.name):
        noun = re.escape(" ".join(words(re.sub(r"_?[iI][dD]$", "", parameter.name))))
        spelling = rf"(?:{noun}(?:[ _]?id)?|id)" if noun else "id"
        match = re.search(rf"\b{spelling}[\s:=#]+((?=[\w-]*\d)[\w-]+)", step, re.IGNORECASE)
    return match.group(1).rstrip(".") if match else None


def _code(run: GoalContext, branch: Branch, step: str, feedback: FailureFeedback) -> str:
    """Return code for a step; what does not compile is given back once (rule P5)."""
    item_list = find_list(branch.context, "", run.cache_dir)
    fields = fields_of(item_list.items) if item_list else []
    known = formatting.known_results(branch.context)
    if item_list and fields:
        names = formatting.field_names(fields, of=item_list.name)
        known += f"\nFields of the items of the newest list:\n{names}"
    goal = formatting.clip(branch.goal, formatting.ALL)
    reply = run.ask(
        branch.node, QuestionKind.CODE, goal=goal, step=step, known=known, trouble=feedback.text
    )
    code = replies.parse_code(reply)
    error = replies.syntax_error(code)
    if not code or not error:
        return code
    clipped = formatting.clip(code, formatting.ANSWER)
    reply = run.ask(branch.node, QuestionKind.VALIDATE_CODE, error=error, code=clipped)
    if replies.says_valid(reply):
        return code
    return replies.parse_code(reply) or code
