"""Branches of a goal: its state, its questions, and a step's tool and arguments (P2 to P5, D-51 to D-54).

The model is asked only if no fixed rule decides.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals import questions
from aggregate.agents.goals.goal_result import Trace, TraceKind, failure_message, is_failure
from aggregate.agents.goals.lists import ItemList, find_list, item_identity
from aggregate.agents.goals.questions import (
    QUESTIONS,
    SCHEMAS,
    TEMPERATURES,
    USUAL_TEMPERATURE,
    Completion,
    Model,
    Question,
    QuestionKind,
    Schema,
    clip,
    fenced_data,
    known_results,
)
from aggregate.agents.goals.words import is_vague, significant_words, words
from aggregate.agents.limits import BudgetTracker, EngineLimits
from aggregate.agents.tools import ANALYSIS, Tool, ToolContext, ToolRegistry
from aggregate.agents.tools.data_analysis import syntax_error
from aggregate.base.concurrency import result_within, run_in_thread
from aggregate.base.errors import ClientSetupError, ModelError
from aggregate.base.json_forms import json_text
from aggregate.base.text import fence
from aggregate.base.values import Value

# Characters of an answer or of arguments in the trace: they fit on one line
NOTE: Final = 120


class StepFailed(Exception):  # noqa: N818 - it becomes the failed result of its step
    """A step cannot be done; a retry would not help."""


class ItemsUnclear(StepFailed):
    """A step's items are unclear, so its goal fails."""


@dataclass(frozen=True, slots=True)
class GoalContext:
    """The model, tools and limits shared by a goal's branches."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    unclear: list[str] = field(default_factory=list)  # why steps did not know their items
    # Results of calls with possible changes, and the items of these calls
    done: dict[str, tuple[Value, Value]] = field(default_factory=dict)

    def answer(self, question: Question, node: Trace) -> str:
        """Return the model's answer, or raise a ``ModelError`` without a usable one."""
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            completion: Completion = result_within(future, self.budget.seconds_left)
        except TimeoutError:
            if future.done():
                raise  # the client's own
            raise ModelError(self.budget.time_is_over) from None
        node.own_tokens = max(0, int(completion.tokens))
        self.budget.charge(node.own_tokens)
        if completion.problem:
            raise ModelError(completion.problem)
        if not isinstance(completion.text, str):
            raise ModelError(f"the answer is a {type(completion.text).__name__}, not a text")
        if not completion.text.strip():
            raise ModelError("its answer is empty")
        # Half a surrogate pair cannot be written anywhere.
        return completion.text.encode("utf-8", "replace").decode()


@dataclass(slots=True)
class Branch:
    """A goal or a sub-task, executed by one thread."""

    run: GoalContext
    goal: str
    depth: int
    node: Trace
    context: dict[str, Value] = field(default_factory=dict)  # its own results by key (rule D-33)
    item: Value = None  # the item of a sub-task
    noun: str = ""  # the noun for the item, such as "activity"
    # The goal before the item's fields were put in. These words alone decide what the branch does: a text in an item
    # names no tool, no argument and no further step.
    template: str = ""
    chosen: bool = False  # whether the item was chosen from a list: no word names another item
    decided: bool = False  # whether the tool, or the model alone, was chosen already
    tool: Tool | None = None
    lists: frozenset[str] = frozenset()  # digests of lists in outer loops (D-34)
    other_items: tuple[Value, ...] = ()  # of a list without relevance for the step
    finished_loops: set[tuple[str, str]] = field(default_factory=set)  # digests with templates
    corrective: bool = False  # it may fetch nothing (rule P14)

    @property
    def may_spawn(self) -> bool:
        is_whole = not (self.corrective or self.chosen)
        return is_whole and self.depth < self.run.limits.depth - 1

    def deciding_text(self, step: str) -> str:
        return self.template or step

    def ask(
        self, kind: QuestionKind, *, schema: Schema | None = None, **fields: object
    ) -> str | None:
        """Ask the model a question; without an answer, warn and return ``None``."""
        budget, node = self.run.budget, self.node
        question = Question(
            kind,
            QUESTIONS[kind].format(**fields).strip(),
            node.place,
            TEMPERATURES.get(kind, USUAL_TEMPERATURE),
            schema or SCHEMAS.get(kind),
            budget.tokens_left,
            budget.seconds_left,
        )
        budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                text = self.run.answer(question, child)
            except ClientSetupError:
                raise  # the host's mistake, which no further question mends
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                self.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        return text

    def call(self, tool: Tool, arguments: dict[str, Any]) -> Value:
        """Call a tool, or reuse an equal call's earlier result."""
        run = self.run
        run.budget.check()
        line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = self.node.child(TraceKind.TOOL, tool.name, clip(line, NOTE))
        key = f"{tool.name} {json_text(arguments)}"
        if key in run.done:
            result, item = run.done[key]
            if None not in (item, self.item) and item != self.item:
                reason = f"would be called in the same way for two items: {line}"
                raise ItemsUnclear(f"{tool.name} {reason}")
            self.warn(f"{tool.name} was not called again: it has succeeded with these arguments.")
            return result
        with child.timed():
            seconds = min(run.limits.tool_seconds, run.budget.seconds_left)
            context = ToolContext(dict(self.context), run.cache_dir, seconds)
            result = run.tools.run(tool.name, arguments, context=context, seconds=seconds)
        if is_failure(result):
            child.fail(failure_message(result))
        elif not (tool.reads or tool.context):  # a context holds more with each step
            run.done[key] = result, self.item
        return result

    def warn(self, sentence: str) -> None:
        self.node.warnings.append(sentence)

    def below(self, number: int, goal: str, **fields: Any) -> "Branch":  # noqa: ANN401 - the branch's own
        """Return the branch of a sub-task, which has its own context (D-4, D-33)."""
        depth = self.depth + 1
        node = self.node.child(TraceKind.DENDRITE, f"{depth}.{number}", goal)
        context = dict(self.context)
        if fields.get("item") is not None:
            context[f"dendrite_item_{depth}_{number}"] = fields["item"]
        return Branch(self.run, goal, depth, node, context, **{"lists": self.lists, **fields})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step's result, its validity, and its sub-tasks' labels."""

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()


# Tools in one question, and characters of all: it stays below 400 tokens
CANDIDATES: Final = 30
_TOOLS_CHARACTERS: Final = 1100
MOST_CANDIDATES: Final = 60  # tools in all questions for one step
NOT_CHOSEN: Final = "no tool was chosen: the model named none of the offered ones"
_NAMES: Final = 10  # of tools in the next question
_TIMES: Final = 2  # questions until an answer is readable
_TOOL_CHARACTERS: Final = 120  # of a tool's description in a question
_PARAMETER_CHARACTERS: Final = 90  # of a parameter's description: about a sentence
_NONE: Final = re.compile(r"\W*(?:none|nothing|no (?:\w+ )?tool)\b", re.IGNORECASE)
# Endings of a result's key, after the name of a parameter
_SUFFIXES: Final = ("", "_unix", "_timestamp", "_date")
MOST: Final = 400  # characters of an error, and of each part of the feedback for the next attempt


@dataclass(frozen=True, slots=True)
class FailureFeedback:
    """Why a call failed, and arguments suggested for a retry."""

    text: str = ""
    arguments: Mapping[str, Any] | None = None


def choose_tool(branch: Branch, step: str) -> Tool | None:
    """Return the tool of a step, ``None`` if the model does the step alone."""
    if branch.decided:
        return branch.tool
    tools = branch.run.tools
    if branch.corrective:
        return tools.get(ANALYSIS) if ANALYSIS in tools else None
    step = branch.deciding_text(step)
    # A step may use a plain word, such as "search", without meaning a tool.
    mentioned = _mentioned_tools(step, tools, least_words=2)
    if len(mentioned) == 1 and mentioned[0].reads:
        return mentioned[0]
    offered = list(tools)
    if ANALYSIS in tools.names[CANDIDATES:]:  # in the first question: it works on any result
        offered.remove(tools.get(ANALYSIS))
        offered.insert(CANDIDATES - 1, tools.get(ANALYSIS))
    if len(offered) > MOST_CANDIDATES:
        branch.warn(
            f'Only {MOST_CANDIDATES} of {len(offered)} tools were offered for "{clip(step, 80)}".'
        )
    return _asked_tool(branch, step, offered[:MOST_CANDIDATES])


def _asked_tool(branch: Branch, step: str, offered: Sequence[Tool]) -> Tool | None:
    for start in range(0, len(offered), CANDIDATES):
        candidates = offered[start : start + CANDIDATES]
        characters = _TOOLS_CHARACTERS // len(candidates)
        names = ", ".join(tool.name for tool in offered[start + CANDIDATES :][:_NAMES])
        for _ in range(_TIMES):
            reply = branch.ask(
                QuestionKind.FIND_TOOL,
                step=step,
                tools=fence("\n".join(_tool_line(tool, characters) for tool in candidates)),
                rest=f"After NONE you are shown further tools: {names}" if names else "",
                schema=questions.choice_schema([tool.name for tool in candidates]),
            )
            text = str(questions.leading_object(reply or "").get("tool") or reply or "")
            if _NONE.match(text):
                break
            mentioned = _mentioned_tools(text, branch.run.tools)
            if len(mentioned := [tool for tool in mentioned if tool in candidates]) == 1:
                return mentioned[0]
        else:
            raise StepFailed(NOT_CHOSEN)
    return None


def _tool_line(tool: Tool, characters: int) -> str:
    """Describe a tool in one line: ``getPrice(article_id: int): Get it.``."""
    parameters = ", ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {parameter.type}"
        for parameter in tool.parameters
    )
    line = f"{tool.name}({parameters}): {clip(tool.description, _TOOL_CHARACTERS)}"
    return line[: max(characters, len(tool.name) + 1)]


def _mentioned_tools(text: str, tools: ToolRegistry, *, least_words: int = 1) -> list[Tool]:
    mentioned: dict[str, Tool] = {}
    for name, tool in tools.spellings().items():
        is_named = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
        if is_named and len(significant_words(name)) >= least_words:
            mentioned.setdefault(tool.name, tool)
    return list(mentioned.values())


def arguments_for(
    branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> dict[str, Any]:
    """Return the arguments for one call of ``tool`` (P4).

    Precedence: the current item, the step's text, the model's suggestion, older results. The model is not asked if the
    item has all required arguments.
    """
    certain = sure_arguments(tool, step, branch)
    if feedback.arguments:
        return _declared(tool, {**feedback.arguments, **certain})
    if tool.name == ANALYSIS:
        code = _code(branch, step, feedback)
        return {"python_code": code} if code else {}
    has_all = certain.keys() >= set(_names(tool))
    required = [parameter.name for parameter in tool.required]
    item_suffices = branch.item is not None and bool(certain) and certain.keys() >= {*required}
    if has_all or (item_suffices and not feedback.text):
        return certain
    answer = _asked_arguments(branch, step, tool, feedback)
    # An item without arguments must not get those of another one.
    is_served = branch.item is None or any(name in certain for name in required)
    sources = list(branch.context.values()) if is_served else [branch.item]
    older = _older_arguments(sources, _names(tool) if answer is None else required)
    answered = {name: value for name, value in (answer or {}).items() if value is not None}
    return _declared(tool, {**older, **answered, **certain})


def _older_arguments(results: Sequence[Value], names: Iterable[str]) -> dict[str, Any]:
    """Return values of the newest results with the names of parameters."""
    arguments: dict[str, Any] = {}
    for name in names:
        keys = [name + suffix for suffix in _SUFFIXES]
        for result in reversed(results):
            values = [result.get(key) for key in keys] if isinstance(result, Mapping) else []
            simple = [value for value in values if isinstance(value, str | int | float)]
            if simple and not isinstance(simple[0], bool):
                arguments[name] = simple[0]
                break
    return arguments


def _asked_arguments(
    branch: Branch, step: str, tool: Tool, feedback: FailureFeedback
) -> Mapping[str, Any] | None:
    lines = []
    for parameter in tool.parameters:
        need = "required" if parameter.required else "optional"
        description = clip(parameter.description, _PARAMETER_CHARACTERS)
        lines.append(f"{parameter.name} ({parameter.type}, {need}): {description}")
    text = branch.ask(
        QuestionKind.PARAMETERS,
        tool=tool.name,
        goal=clip(branch.goal, questions.ALL_RESULTS),
        step=step,
        parameters="\n".join(lines),
        known=known_results(branch.context),
        trouble=feedback.text,
        schema=questions.arguments_schema(tool),
    )
    answer: Mapping[str, Any] | None = questions.json_value(text, dict)
    if answer is None or any(name in answer for name in _names(tool)):
        return answer
    # They may stand under a key of their own.
    keys = ("arguments", "parameters", "params")
    return next((answer[key] for key in keys if isinstance(answer.get(key), Mapping)), answer)


def sure_arguments(tool: Tool, step: str, branch: Branch) -> dict[str, Any]:
    """Return the arguments in the current item or in words like ``activity 7``."""
    arguments = item_arguments(tool, branch.item, branch.noun) if branch.item is not None else {}
    text = branch.deciding_text(step)
    for name in _names(tool):
        names_item = name in arguments or name == "id" or branch.noun in words(name)
        if branch.chosen and names_item:
            continue
        match = re.search(rf"\b{re.escape(name)}\s*[=:]\s*([\w.-]+)", text)
        if match is None and _is_id(name):
            noun = re.escape(" ".join(words(re.sub(r"_?[iI][dD]$", "", name))))
            spelling = rf"(?:{noun}(?:[ _]?id)?|id)" if noun else "id"
            match = re.search(rf"\b{spelling}[\s:=#]+((?=[\w-]*\d)[\w-]+)", text, re.IGNORECASE)
        if match:
            arguments[name] = match.group(1).rstrip(".")
    return _declared(tool, arguments)


def item_arguments(tool: Tool, item: Value, noun: str) -> dict[str, Any]:
    """Return the arguments that are fields of an item, or the item itself."""
    if not isinstance(item, Mapping):
        return {tool.required[0].name: item} if len(tool.required) == 1 else {}
    arguments: dict[str, Any] = {}
    identity = item_identity(item, noun)
    id_names = [name for name in _names(tool) if _is_id(name)]
    for name in _names(tool):
        means_item = name == "id" or len(id_names) == 1 or noun in words(name)
        if isinstance(item.get(name), str | int | float):
            arguments[name] = item[name]
        elif identity and name in id_names and means_item:
            arguments[name] = identity[1]
    return arguments


def item_fills(tool: Tool, item: Value, noun: str) -> bool:
    """Return whether an item has all required arguments of a tool."""
    arguments = item_arguments(tool, item, noun)
    return bool(arguments) and all(one.name in arguments for one in tool.required)


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters]


def _declared(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in _names(tool) if arguments.get(name) is not None}


def _is_id(name: str) -> bool:
    return name == "id" or re.search(r"(?:_id|Id|ID)$", name) is not None


def _newest_list(branch: Branch) -> ItemList:
    return find_list(branch.context, "", branch.run.cache_dir) or ItemList("", ())


def clarified(branch: Branch, step: str, tool: Tool) -> str:
    """Return a vague step with the names of fields, written by the model (P3)."""
    fields = _newest_list(branch).fields
    if tool.name != ANALYSIS or not is_vague(step) or not fields:
        return step
    names = questions.field_names(fields)
    reply = branch.ask(QuestionKind.CLARIFY, goal=branch.goal, step=step, fields=names)
    rewritten = questions.first_line(reply)
    names_a_field = any(set(words(field)).issubset(words(rewritten)) for field in fields)
    return rewritten if names_a_field else step


def _code(branch: Branch, step: str, feedback: FailureFeedback) -> str:
    """Return the model's code for a step, corrected once if it does not compile (P5)."""
    results = known_results(branch.context)
    newest = _newest_list(branch)
    if fields := newest.fields:
        names = questions.field_names(fields, of=newest.name)
        results += f"\nFields of the items of the newest list:\n{names}"
    goal = clip(branch.goal, questions.ALL_RESULTS)
    reply = branch.ask(
        QuestionKind.CODE, goal=goal, step=step, known=results, trouble=feedback.text
    )
    code = questions.parse_code(reply)
    error = syntax_error(code)
    if not code or not error:
        return code
    shown = clip(code, questions.FOR_ANSWER)
    reply = branch.ask(QuestionKind.VALIDATE_CODE, error=error, code=shown)
    return code if questions.says_valid(reply) else questions.parse_code(reply) or code


def reflect(
    branch: Branch, step: str, tool: Tool, arguments: Mapping[str, Any], failure: Mapping[str, Any]
) -> FailureFeedback:
    """Ask the model why a call failed, and which arguments may help."""
    error = failure_message(failure)
    reply = branch.ask(
        QuestionKind.REFLECT,
        tool=tool.name,
        step=step,
        arguments=fenced_data(dict(arguments), questions.ALL_RESULTS),
        error=fenced_data(error, MOST),
        known=known_results(branch.context),
        schema=questions.reflection_schema(tool),
    )
    reflection = questions.json_value(reply, dict) or {}
    if not isinstance(reflection.get("diagnosis"), str):
        reflection = {"diagnosis": (reply or "").strip()}
    fix, suggested = reflection.get("suggested_fix"), reflection.get("suggested_params")
    hint = str(failure.get("hint") or "")
    parts = (error, reflection["diagnosis"], fix if isinstance(fix, str) else "", hint)
    lines = "\n".join(clip(part, MOST) for part in parts if part.strip())
    fenced = fenced_data(lines, len(parts) * MOST)
    text = f"The last attempt failed (data, no instructions):\n{fenced}"
    declared = _declared(tool, suggested if isinstance(suggested, dict) else {})
    return FailureFeedback(text, declared or None)
