"""Which tool a step needs: by its words where these leave no doubt, else by the model (rule P2)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from aggregate.agents.goals import reply_parsing
from aggregate.agents.goals.branch import Branch, ToolChoice
from aggregate.agents.goals.formatting import clip
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.heuristics import significant_words
from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.goals.reply_schemas import choice_schema
from aggregate.agents.goals.tool_matching import certain_tool, ranked_tools, turns
from aggregate.agents.tools import ANALYSIS, Parameter, Tool, ToolRegistry
from aggregate.base.text import fence

CANDIDATES: Final = 10
"""Tools to choose from in one question, which then stays below 400 tokens."""
MOST_CANDIDATES: Final = 60
"""Tools to choose from in all questions for one step."""
NOT_CHOSEN: Final = "no tool was chosen: the model named none of those that it was shown"
_NAMES: Final = 24
"""Names of tools that follow in the next question: as many as the question for the steps names."""
_TIMES: Final = 2
"""How often a question is asked whose answer cannot be read."""
_DESCRIPTION_CHARACTERS: Final = 120
_NONE: Final = re.compile(r"\W*(?:none|nothing|no (?:\w+ )?tool)\b", re.IGNORECASE)


def choose_tool(
    run: GoalContext, branch: Branch, step: str, *, failed: tuple[str, ...] = (), error: str = ""
) -> ToolChoice:
    """Return what does ``step``: a tool, the model alone where no tool can, or why nothing was chosen.

    A branch for which was chosen already keeps that; a corrective one may only analyse.

    Args:
        run: The goal.
        branch: The branch that the step belongs to.
        step: What is to be done.
        failed: Names of tools that have failed at it: they are not offered again, and the model is asked.
        error: How the last of these failed.
    """
    if branch.chosen is not None and not failed:
        return branch.chosen
    if branch.corrective:
        return ToolChoice(run.tools.get(ANALYSIS) if ANALYSIS in run.tools else None)
    step = branch.deciding_text(step)
    if not failed and (named := _tool_named_in_step(step, run.tools)):
        return ToolChoice(named)
    ranked = ranked_tools(step, [tool for tool in run.tools if tool.name not in failed])
    if not failed and (certain := certain_tool(ranked)):
        return ToolChoice(certain)
    tools = _analysis_early([match.tool for match in ranked])
    trouble = f"{failed[-1]} has failed at it:\n{fence(clip(error, 400))}" if failed else ""
    return _asked_choice(run, branch, step, tools, trouble)


def _asked_choice(
    run: GoalContext, branch: Branch, step: str, tools: Sequence[Tool], trouble: str
) -> ToolChoice:
    """Ask for one of ``tools``, the most likely first; the others are shown where none of these is named."""
    if len(tools) > MOST_CANDIDATES:
        branch.node.warn(
            f'Only {MOST_CANDIDATES} of {len(tools)} tools were offered for "{clip(step, 80)}".'
        )
    offered = tools[:MOST_CANDIDATES]
    for start in range(0, len(offered), CANDIDATES):
        shown = offered[start : start + CANDIDATES]
        rest = [tool.name for tool in offered[start + CANDIDATES :]]
        for reply in _replies(run, branch, step, shown, rest, trouble):
            answer = read_choice(reply, run.tools, shown)
            if answer is not None:
                break
        else:
            return ToolChoice(None, NOT_CHOSEN)
        if answer.tool is not None:
            return answer
    return ToolChoice(None)


def _replies(
    run: GoalContext,
    branch: Branch,
    step: str,
    shown: Sequence[Tool],
    rest: Sequence[str],
    trouble: str,
) -> Iterator[str | None]:
    """Yield the answers to the question for one of ``shown``, asked when the one before could not be read."""
    names = ", ".join(rest[:_NAMES])
    for _ in range(_TIMES):
        yield run.ask(
            branch.node,
            QuestionKind.FIND_TOOL,
            step=step,
            trouble=trouble,
            tools=fence("\n".join(map(tool_line, shown))),
            rest=f"You are shown these after NONE: {names}" if names else "",
            schema=choice_schema([tool.name for tool in shown]),
        )


def read_choice(reply: str | None, tools: ToolRegistry, shown: Sequence[Tool]) -> ToolChoice | None:
    """Return the choice in an answer, ``None`` where it names no tool that was shown, or several."""
    text = reply_parsing.named_text(reply or "", "tool")
    if _NONE.match(text):
        return ToolChoice(None)
    names = {tool.name for tool in shown}
    mentioned = [tool for tool in _mentioned_tools(text, tools) if tool.name in names]
    return ToolChoice(mentioned[0]) if len(mentioned) == 1 else None


def tool_line(tool: Tool) -> str:
    """Return what a model is shown of a tool: ``getPrice(article_id: int): Get its price.``."""
    parameters = ", ".join(map(_typed, tool.parameters))
    return f"{tool.name}({parameters}): {clip(tool.description, _DESCRIPTION_CHARACTERS)}"


def _typed(parameter: Parameter) -> str:
    return f"{parameter.name}{'' if parameter.required else '?'}: {parameter.type}"


def _analysis_early(tools: list[Tool]) -> list[Tool]:
    """Return the tools with analysis among those that are shown first: what is there can always be computed with."""
    early = [tool.name for tool in tools[:CANDIDATES]]
    analysis = next((tool for tool in tools if tool.name == ANALYSIS), None)
    if analysis is None or ANALYSIS in early:
        return tools
    others = [tool for tool in tools if tool is not analysis]
    return [*others[: CANDIDATES - 1], analysis, *others[CANDIDATES - 1 :]]


def _tool_named_in_step(step: str, tools: ToolRegistry) -> Tool | None:
    """Return the tool that a step calls by its name; ``None`` where it names several, or says "not".

    A name of one plain word, as ``search``, names no tool: a step may use the word.
    """
    mentioned = _mentioned_tools(step, tools, several_words=True)
    return mentioned[0] if len(mentioned) == 1 and not turns(step) else None


def _mentioned_tools(text: str, tools: ToolRegistry, *, several_words: bool = False) -> list[Tool]:
    """Return the tools whose names, or aliases of them, stand in a text as whole words, each once."""
    mentioned: dict[str, Tool] = {}
    for name, tool in tools.spellings().items():
        if several_words and len(significant_words(name)) < 2:
            continue
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
            mentioned.setdefault(tool.name, tool)
    return list(mentioned.values())
