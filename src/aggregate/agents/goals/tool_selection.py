"""Choose a step's tool, mostly by the model (P2)."""

import re
from collections.abc import Sequence

from aggregate.agents.goals.goal_context import Branch, StepFailed
from aggregate.agents.goals.heuristics import significant_words
from aggregate.agents.goals.questions import QuestionKind, choice_schema, named_text
from aggregate.agents.goals.result_texts import clip
from aggregate.agents.tools import ANALYSIS, Tool, ToolRegistry
from aggregate.base.text import fence

# Tools in one question, and characters of all: it stays below 400 tokens
CANDIDATES = 30
_TOOLS_CHARACTERS = 1100
MOST_CANDIDATES = 60  # tools in all questions for one step
NOT_CHOSEN = "no tool was chosen: the model named none of the offered ones"
_NAMES = 10  # of tools in the next question
_TIMES = 2  # questions until an answer is readable
_DESCRIPTION_CHARACTERS = 120
_NONE = re.compile(r"\W*(?:none|nothing|no (?:\w+ )?tool)\b", re.IGNORECASE)


def choose_tool(branch: Branch, step: str) -> Tool | None:
    """Return the tool of a step, ``None`` if the model does the step alone."""
    if branch.decided:
        return branch.tool
    if branch.corrective:
        return branch.run.tools.get(ANALYSIS) if ANALYSIS in branch.run.tools else None
    step = branch.deciding_text(step)
    mentioned = _mentioned_tools(step, branch.run.tools, several_words=True)
    if len(mentioned) == 1 and mentioned[0].reads:
        return mentioned[0]
    tools = list(branch.run.tools)
    analysis = [tool for tool in tools[CANDIDATES:] if tool.name == ANALYSIS]
    if analysis:  # in the first question: it works on any result
        tools.remove(analysis[0])
        tools.insert(CANDIDATES - 1, analysis[0])
    if len(tools) > MOST_CANDIDATES:
        branch.warn(
            f'Only {MOST_CANDIDATES} of {len(tools)} tools were offered for "{clip(step, 80)}".'
        )
    return _asked_tool(branch, step, tools[:MOST_CANDIDATES])


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
                schema=choice_schema([tool.name for tool in candidates]),
            )
            text = named_text(reply or "", "tool")
            if _NONE.match(text):
                break
            mentioned = [
                tool for tool in _mentioned_tools(text, branch.run.tools) if tool in candidates
            ]
            if len(mentioned) == 1:
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
    line = f"{tool.name}({parameters}): {clip(tool.description, _DESCRIPTION_CHARACTERS)}"
    return line[: max(characters, len(tool.name) + 1)]


def _mentioned_tools(text: str, tools: ToolRegistry, *, several_words: bool = False) -> list[Tool]:
    mentioned: dict[str, Tool] = {}
    for name, tool in tools.spellings().items():
        # A step may use a plain word, such as "search", without meaning a tool.
        if several_words and len(significant_words(name)) < 2:
            continue
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
            mentioned.setdefault(tool.name, tool)
    return list(mentioned.values())
