"""With which arguments a tool is called: by rules where they decide, else by the model (rules P4, P5)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aggregate.agent import formatting, reply_parsing
from aggregate.agent.goal_context import Branch, GoalContext
from aggregate.agent.heuristics import words
from aggregate.agent.item_lists import fields_of, find_list, item_identity
from aggregate.agent.model import QuestionKind
from aggregate.agent.reply_schemas import arguments_schema
from aggregate.models.values import Value
from aggregate.tools import ANALYSIS, Parameter, Tool

CODE: Final = "python_code"
_SUFFIXES: Final = ("", "_unix", "_timestamp", "_date")


@dataclass(frozen=True, slots=True)
class FailureFeedback:
    """Why the last attempt failed, and what may help."""

    text: str = ""
    arguments: Mapping[str, Any] | None = None


def arguments_for(run: GoalContext, branch: Branch, step: str, tool: Tool, trouble: FailureFeedback) -> dict[str, Any]:
    """Return the arguments of one call.

    What the current item and the step itself name beats the model's answer, and that beats older results; undeclared
    arguments and ``None`` are dropped. No model is asked where the item gives all that the tool requires.
    """
    sure = sure_arguments(tool, step, branch)
    if trouble.arguments:
        return declared_arguments(tool, {**trouble.arguments, **sure})
    if tool.name == ANALYSIS:
        return {CODE: written} if (written := _code(run, branch, step, trouble)) else {}
    missing = [one for one in tool.parameters if one.name not in sure]
    decided = branch.item is not None and all(one.name in sure for one in tool.required)
    if not missing or (decided and not trouble.text):
        return sure
    text = run.ask(
        branch.node,
        QuestionKind.PARAMETERS,
        tool=tool.name,
        goal=formatting.clip(branch.goal, formatting.ALL),
        step=step,
        parameters="\n".join(map(_told, tool.parameters)),
        known=formatting.known_results(branch.context),
        trouble=trouble.text,
        schema=arguments_schema(tool),
    )
    older = older_arguments(tool, branch.context)
    answer = reply_parsing.json_value(text, dict)
    if answer is None:
        return declared_arguments(tool, {**older, **sure})
    required = {one.name: older[one.name] for one in tool.required if one.name in older}
    named = {name: value for name, value in _unwrapped(tool, answer).items() if value is not None}
    return declared_arguments(tool, {**required, **named, **sure})


def declared_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``tool`` declares and that are not ``None``, in its order."""
    return {one.name: arguments[one.name] for one in tool.parameters if arguments.get(one.name) is not None}


def sure_arguments(tool: Tool, step: str, branch: Branch) -> dict[str, Any]:
    """Return what the current item and the words of the step give."""
    given = {one.name: _stated(one, branch.wording(step)) for one in tool.parameters}
    item = item_arguments(tool, branch.item, branch.noun) if branch.item is not None else {}
    return declared_arguments(tool, {**item, **{name: value for name, value in given.items() if value is not None}})


def item_arguments(tool: Tool, item: Value, noun: str) -> dict[str, Any]:
    """Return the arguments that an item holds: fields of the same name, and its id for the parameter that means it."""
    if not isinstance(item, Mapping):
        return {tool.required[0].name: item} if len(tool.required) == 1 else {}
    given: dict[str, Any] = {}
    known = item_identity(item, noun)
    ids = [one.name for one in tool.parameters if _is_id(one.name)]
    for one in tool.parameters:
        if isinstance(item.get(one.name), str | int | float):
            given[one.name] = item[one.name]
        elif known and _is_id(one.name) and (one.name == "id" or len(ids) == 1 or noun in words(one.name)):
            given[one.name] = known[1]
    return given


def item_fills(tool: Tool, item: Value, noun: str) -> bool:
    """Return whether an item gives a call all that the tool requires, and something at all."""
    given = item_arguments(tool, item, noun)
    return bool(tool.required) and all(one.name in given for one in tool.required)


def older_arguments(tool: Tool, context: Mapping[str, Value]) -> dict[str, Any]:
    """Return what earlier results hold under the names of the parameters, the newest first."""
    found: dict[str, Any] = {}
    for value in reversed(list(context.values())):
        if isinstance(value, Mapping):
            for one in tool.parameters:
                names = (f"{one.name}{suffix}" for suffix in _SUFFIXES)
                held = next((value[name] for name in names if isinstance(value.get(name), str | int | float)), None)
                if held is not None and not isinstance(held, bool):
                    found.setdefault(one.name, held)
    return found


def _is_id(name: str) -> bool:
    return name == "id" or re.search(r"(?:_id|Id|ID)$", name) is not None


def _stated(parameter: Parameter, step: str) -> str | None:
    """Return what the step says of a parameter: ``activity 7``, ``activity_id=7``, ``id 7``."""
    stated = re.search(rf"\b{re.escape(parameter.name)}\s*[=:]\s*([\w.-]+)", step)
    if stated is None and _is_id(parameter.name):
        kind = re.escape(" ".join(words(re.sub(r"_?[iI][dD]$", "", parameter.name))))
        name = rf"(?:{kind}(?:[ _]?id)?|id)" if kind else "id"
        stated = re.search(rf"\b{name}[\s:=#]+((?=[\w-]*\d)[\w-]+)", step, re.IGNORECASE)
    return stated.group(1).rstrip(".") if stated else None


def _told(parameter: Parameter) -> str:
    needed = "required" if parameter.required else "optional"
    return f"{parameter.name} ({parameter.type}, {needed}): {formatting.clip(parameter.description, 90)}"


def _unwrapped(tool: Tool, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments in an answer that holds them under a key of its own."""
    if not any(one.name in answer for one in tool.parameters):
        inner = next((answer[key] for key in ("arguments", "parameters", "params") if key in answer), None)
        return inner if isinstance(inner, Mapping) else answer
    return answer


def _code(run: GoalContext, branch: Branch, step: str, trouble: FailureFeedback) -> str:
    """Return code for a step; what does not compile is given back once (rule P5)."""
    goal = formatting.clip(branch.goal, formatting.ALL)
    found = find_list(branch.context, "", run.cache_dir)
    fields = fields_of(found.items) if found else []
    told = formatting.known_results(branch.context)
    if found and fields:
        told += f"\nFields of the items of the newest list:\n{formatting.field_names(fields, of=found.name)}"
    written = reply_parsing.parse_code(
        run.ask(branch.node, QuestionKind.CODE, goal=goal, step=step, known=told, trouble=trouble.text)
    )
    error = reply_parsing.syntax_error(written)
    if not written or not error:
        return written
    text = run.ask(
        branch.node, QuestionKind.VALIDATE_CODE, error=error, code=formatting.clip(written, formatting.ANSWER)
    )
    return written if reply_parsing.says_valid(text) else reply_parsing.parse_code(text) or written
